#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where results go, what is left when something goes wrong, and exit codes.
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"
small=(gemm m=1024 n=1024 k=512)

# Streams: the table on stdout, nothing on stderr that is no terminal.
expect 0 predict "${small[@]}" --order row_major,hilbert
check "the table is on stdout" grep -q '^1  ' out
check "stderr is empty" test ! -s err
check "no colour into a file" bash -c '! grep -q $'"'\\x1b'"' out'
expect 0 predict "${small[@]}" --order row_major --color always
check "colour when asked" grep -q $'\x1b' out
NO_COLOR=1 expect 0 predict "${small[@]}" --order row_major --color always
check "an explicit option beats NO_COLOR" grep -q $'\x1b' out

# --json - and --csv - take the place of the table.
expect 0 predict "${small[@]}" --order row_major,hilbert --json -
check "JSON alone on stdout" python3 -c 'import json; d = json.load(open("out")); assert d["schema"] == "l2lens/prediction" and d["meta"]["threads"] >= 1 and [r["order"] for r in d["results"]] == ["row_major", "hilbert"] and sorted(r["rank"] for r in d["results"]) == [1, 2]'
# Of many orders the first are looked at by lines, and each result says which engine it is of.
expect 0 predict gemm m=3200 n=384 k=64 --order "$(printf 'group_m:%s,' {1..24})column_major" --json search.json
check "who is by lines" grep -qE 'waves?, the first [0-9]+ by lines, the others by tiles$' out
check "the engine of each" python3 -c 'import json; r = json.load(open("search.json"))["results"]; lines = [x["rank"] for x in r if x["engine"] == "line"]; assert len(r) == 25 and sorted(lines) == list(range(1, len(lines) + 1)) and len(lines) < 25'
expect 0 predict "${small[@]}" --order row_major --csv - --json result.json
check "CSV on stdout" grep -q '^kernel,gpu,' out
check "JSON in its file" python3 -m json.tool result.json

# A regular file is replaced whole; its permissions and a link to it stay.
printf 'old' >old.json
chmod 640 old.json
ln -s old.json link.json
expect 0 predict "${small[@]}" --order row_major --json link.json
check "the link is still one" test -L link.json
check "the file was replaced" python3 -m json.tool old.json
check "its permissions are kept" test "$(stat -c %a old.json)" = 640
check "nothing is left beside it" test -z "$(find . -name '.old.json*')"

# What is no regular file is written straight.
expect 0 predict "${small[@]}" --order row_major --json /dev/null
mkfifo pipe
cat pipe >piped &
reader=$!
expect 0 predict "${small[@]}" --order row_major --json pipe
wait "$reader"
check "a pipe got the document" python3 -m json.tool piped
check "the pipe is still one" test -p pipe
if [ -w /dev/full ]; then
    expect 4 predict "${small[@]}" --order row_major --json /dev/full
    checks=$((checks + 1))
    timeout 60 "$L2LENS" order list >/dev/full 2>err
    [ $? -eq 4 ] || fail "a full stdout is an error"
fi

# Nor is a pipe of the shell's, a descriptor it has opened or /dev/stdout replaced.
expect 0 predict "${small[@]}" --order row_major --json >(cat >substituted; mv substituted whole)
for _ in $(seq 50); do [ -e whole ] && break; sleep 0.1; done
check "a process substitution got the document" python3 -m json.tool whole
has_both() { grep -q '^1  ' "$1" && grep -q '"schema"' "$1"; }
"$L2LENS" predict "${small[@]}" --order row_major --json /dev/stdout --quiet 2>err | cat >both
check "/dev/stdout, a pipe, gets document and table" has_both both
"$L2LENS" predict "${small[@]}" --order row_major --json /dev/stdout --quiet >both 2>err
check "/dev/stdout, a file, gets document and table" has_both both
"$L2LENS" predict "${small[@]}" --order row_major --csv /dev/stderr 2>&1 >out | cat >both
check "/dev/stderr, a pipe, gets the CSV" grep -q '^kernel,gpu,' both
"$L2LENS" predict "${small[@]}" --order row_major --csv /dev/fd/7 7>seven >out 2>err
check "a descriptor of the shell's gets the CSV" grep -q '^kernel,gpu,' seven
refuses "Bad file descriptor" predict gemm --csv /dev/stdin </dev/null
expect 0 trace record gemm m=300 n=300 k=64 -o >(cat >recorded; mv recorded traced)
for _ in $(seq 50); do [ -e traced ] && break; sleep 0.1; done
expect 0 trace info traced

# A failed run leaves an existing file alone.
printf 'precious' >kept.json
expect 4 predict gemm --order hilbrt --json kept.json
check "the old result is still there" grep -q precious kept.json

# Ctrl-C: exit 2, one line, nothing half written.
checks=$((checks + 1))
timeout --preserve-status -s INT 1 "$L2LENS" predict gemm m=16384 n=16384 k=16384 --sample 1 --order row_major --json kept.json >out 2>err
code=$?
[ "$code" -eq 2 ] || fail "Ctrl-C gives exit $code instead of 2"
check "an interrupted run writes nothing" grep -q precious kept.json
check "and prints no table" test ! -s out
check "and says so" grep -q interrupted err

# interrupts SIGNAL ARGS...: half a second after it a command that would run for seconds has ended as one interrupted,
# ten under sanitizers, whose program looks less often.
patience=$([ -z "${SANITIZED:-}" ] && echo 0.5 || echo 10)
interrupts() {
    local signal=$1
    shift
    checks=$((checks + 1))
    # In the foreground: else timeout signals twice, and the second one ends a command that only looks at the first.
    timeout --foreground --preserve-status -k "$patience" -s "$signal" 1 "$L2LENS" "$@" >out 2>err
    code=$?
    { [ "$code" -eq 2 ] && grep -q '^l2lens: interrupted$' err && [ ! -s out ]; } || fail "$signal, exit $code: l2lens $*"
}
interrupts INT order check hilbert --grid 4096x4096
interrupts TERM order show hilbert --grid 4096x4096 --json kept.json
interrupts INT order check sharing --kernel 'gemm m=65536 n=65536 k=64'
interrupts TERM kernel check gemm m=131072 n=131072 k=64 bm=64 bn=64 --json kept.json
check "they write nothing, either" grep -q precious kept.json

# The same result on any number of threads.
expect 0 predict "${small[@]}" --order row_major,hilbert,group_m:4 --csv one.csv --threads 1
expect 0 predict "${small[@]}" --order row_major,hilbert,group_m:4 --csv four.csv --threads 4
check "threads do not change the result" cmp one.csv four.csv
expect 0 predict "${small[@]}" --order hilbert --csv alone.csv --threads 4
check "nor does what else is predicted" python3 -c 'import csv; a = list(csv.DictReader(open("alone.csv")))[0]; b = [r for r in csv.DictReader(open("one.csv")) if r["order"] == "hilbert"][0]; a.pop("rank"); b.pop("rank"); assert a == b'

# A prediction reads back as a recording, and is exactly right about itself.
expect 0 validate --recorded one.csv --json round.json
check "all errors are zero" python3 -c 'import json; d = json.load(open("round.json")); assert len(d["rows"]) == 3; s = d["summary"]; assert all(v.get("max_abs_pct", v.get("max_abs_points")) < 0.01 for k, v in s.items() if "__" in k), s; assert s["ranking"]["groups"] == 1 and s["ranking"]["best_order_regret_pct_max"] == 0'

# Exit 1: outside the tolerance, or not a bijection.
awk -F, -v OFS=, 'NR==1 {for (i = 1; i <= NF; i++) if ($i == "lts__d_sectors_fill_device.sum") c = i} NR > 1 {$c = int($c * 1.5)} 1' one.csv >off.csv
expect 1 validate --recorded off.csv --tolerance lts__d_sectors_fill_device.sum=10
expect 0 validate --recorded off.csv --tolerance lts__d_sectors_fill_device.sum=40
expect 1 validate --recorded off.csv
check "the scoreboard names what is outside" grep -q 'lts__d_sectors_fill_device.sum .*OUTSIDE' out
expect 1 order check 'lua: return 0, 0' --grid 4x4
check "lost and doubled tiles are named" grep -q 'NOT a bijection: 15 tiles lost: (0,1)' out
expect 0 order check hilbert --grid 16x16
expect 0 order check 'lua: local first = pid // (5 * tn) * 5; local h = min(tm - first, 5); return first + pid % (5 * tn) % h, pid % (5 * tn) // h' --grid 12x9
check "an order that is another one by accident is told so" grep -q 'the same sequence of tiles as group_m:5' out
expect 0 order check sharing --kernel 'gemm m=1024 n=1024'
check "an order of a kernel is checked on its tiles" grep -q 'sharing on 8 x 8 tiles: a bijection' out
expect 0 order show sharing --kernel 'gemm m=1024 n=1024' --csv table.csv
check "it can be taken away as a table" test "$(wc -l <table.csv)" -eq 65
expect 0 predict gemm m=1024 n=1024 --order xcd_tall+sharing:32

# Every list, show and help works.
for words in "order list" "order show morton" "kernel list" "kernel show gemm" "kernel check gemm" "gpu list" "gpu show h200" \
    "gpu check h200" "gpu diff h200 v100" "explain" "explain sector" "explain flat LRU" "explain time" "explain lts__t_sectors.sum" "explain group_m:8" \
    "--help" "predict --help" "validate --help" "--version"; do
    read -ra arguments <<<"$words"
    expect 0 "${arguments[@]}"
    check "$words says something" test -s out
done
for words in "order list" "order show morton" "kernel list" "kernel check gemm" "gpu list" "gpu diff h200 v100" "explain"; do
    read -ra arguments <<<"$words"
    expect 0 "${arguments[@]}" --json -
    check "$words --json is JSON" python3 -m json.tool out
    expect 0 "${arguments[@]}" --csv -
done

finish
