#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# l2lens teach: steps forwards and backwards, by words, by --steps, by keys, and as JSON.
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"
small=(strided pieces=4 bytes=32 stride=32)

# --steps and --from.
expect 0 teach --steps 3
check "three steps and a title and a tally" test "$(wc -l <out)" -eq 5
expect 0 teach "${small[@]}" --steps 1 --from 3
check "the third step alone" grep -q '^step 3 of 4, .*sector 2 is not valid: sector miss, fetch 64 B' out
expect 0 teach "${small[@]}" </dev/null
check "without a command the first steps" grep -q '^step 4 of 4' out

# Words on stdin: what is walked back over reads the same again.
walk() { printf '%s\n' "$@" | timeout 60 "$L2LENS" teach "${small[@]}" >out 2>err; code=$?; }
walk next 'next 2' back 'go 1' sets quit
check "the walk ends well" test "$code" -eq 0
check "the walk goes 1 2 3 4 3 1" test "$(grep -o '^step [0-9]*' out | tr -d 'a-z \n')" = 123431
check "step 3 is told twice in the same words" test "$(grep '^step 3' out | sort -u | wc -l)" -eq 1
check "sets are drawn" grep -qF '[0x0 ##..]' out
walk next nxt
check "a misspelt word names its line and the nearest one" \
    grep -q "line 2 of stdin: unknown command 'nxt'; did you mean 'next'?" err
check "and is bad input" test "$code" -eq 4
walk 'go'
check "go without a number is refused" test "$code" -eq 4
walk 'next 0'
check "no steps are refused" test "$code" -eq 4

# A terminal: arrows and q. script(1) gives the program one.
if command -v script >/dev/null; then
    printf '\033[C\033[C\033[Dq' | timeout 60 script -qec "$L2LENS teach ${small[*]}" /dev/null >out 2>err
    check "arrow keys walk 1 2 3 2" test "$(grep -o 'step [0-9] of' out | tr -d 'a-z \n')" = 1232
fi

# JSON: as many steps as asked for, and sums that predict agrees with.
expect 0 teach gemm m=32 n=32 k=64 bm=8 bn=8 --json lesson.json
expect 0 predict gemm m=32 n=32 k=64 bm=8 bn=8 --gpu tiny --order row_major --json prediction.json
check "the lesson adds up to the prediction" python3 - <<'PYTHON'
import json
lesson, prediction = json.load(open("lesson.json")), json.load(open("prediction.json"))
counters = prediction["results"][0]["counters"]
assert lesson["schema"] == "l2lens/lesson" and lesson["complete"], lesson["schema"]
assert len(lesson["steps"]) == lesson["accesses"] > 100
sectors = lesson["sectors"]
assert sectors["looked_up"] == counters["lts__t_sectors.sum"], sectors
assert sectors["from_dram"] == counters["dram__sectors_read.sum"], sectors
assert sectors["over_fabric"] == counters["lts__t_sectors_srcunit_ltcfabric.sum"], sectors
assert sum(len(s["asked"]) for s in lesson["steps"] if s["event"] == "merged") == sectors["merged"] > 0
assert all(a["time_ns"] <= b["time_ns"] + 0.512 for a, b in zip(lesson["steps"], lesson["steps"][1:]))
PYTHON
expect 0 teach --steps 2 --csv lesson.csv
check "CSV has a row a step" test "$(wc -l <lesson.csv)" -eq 3

# What is refused.
refuses "--steps" teach --steps 0
refuses "--steps" teach --steps many
refuses "--from 99: the lesson has 4 steps" teach "${small[@]}" --from 99 --steps 1
refuses "did you mean 'strided'?" teach stridde
refuses "did you mean 'tiny'?" teach --gpu tny
refuses "did you mean '--steps'?" teach --step 3
refuses "overlap" teach strided bytes=64 stride=32

finish
