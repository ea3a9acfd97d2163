#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/fidelity: its page says what the validation said, and keeps what is written by hand.
# shellcheck disable=SC2016
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"

# Made-up counters: two orders of one launch, one of them read twice, and a launch of a split of its own.
printf '%s\n' 'kernel,m,n,k,mode,order,repeat,split,lts__d_sectors_fill_device.sum,gpu__time_duration.sum' \
    'gemm,1024,1024,512,grid,row_major,0,fit,66000,20000' 'gemm,1024,1024,512,grid,row_major,1,fit,70000,22000' \
    'gemm,1024,1024,512,grid,group_m:4,0,fit,70000,20500' 'gemm,512,1024,512,grid,hilbert,0,test,90000,30000' >rows.csv
"$L2LENS" validate --recorded rows.csv --split fit --json fit.json >/dev/null 2>&1

# page CODE ARGS...: runs docs/fidelity.
page() {
    local wanted=$1
    shift
    "$root/docs/fidelity" "$@" >out 2>err
    code=$?
    checks=$((checks + 1))
    [ "$code" -eq "$wanted" ] || fail "exit $code instead of $wanted: docs/fidelity $*"
}

page 0 -o page.md fit.json
check "the file and its split" grep -qx '## `rows.csv`, split = fit' page.md
check "date, commit and machine file" grep -qE 'at commit .*, from validations of [0-9-]{10} on the machine file `h200.toml`' page.md
check "the pickers" grep -qE '^\| group_m:16, or the nearest there is \| 1 \| 0.00 % \| 0.00 % \|' page.md
check "the simpler models" grep -q '| flat LRU |' page.md
check "both kinds of rows furthest off" grep -qE '`lts__d_sectors_fill_device` \| `gemm m=1024 n=1024 k=512, grid, (row_major|group_m:4)`' page.md
# Two readings, 66000 and 70000: 2.94 % from their mean.
check "the noise" grep -qE '`lts__d_sectors_fill_device.sum` \| 2 .* 2.94 % / 2.94 % \| 1 / 6 ' page.md
run validate --recorded rows.csv --split fit --noise ./rows.csv --json twice.json
check "a file's readings count once for the noise" python3 - <<'PYTHON'
import json
once, twice = (json.load(open(name))["summary"]["lts__d_sectors_fill_device.sum"] for name in ("fit.json", "twice.json"))
assert once["noise_median_abs_pct"] == twice["noise_median_abs_pct"] > 0, (once, twice)
PYTHON
check "the figures are the validation's" python3 - <<'PYTHON'
import json
figures = json.load(open("fit.json"))["summary"]["lts__d_sectors_fill_device.sum"]
line = next(line for line in open("page.md") if line.startswith("| `lts__d_sectors_fill_device.sum` | 2 |"))
cells = [cell.strip() for cell in line.split("|")]
wanted = [figures[part + "_pct"] for part in ("median_abs", "p90_abs", "max_abs", "bias")]
assert cells[3:7] == [f"{value:.3g} %" for value in wanted], (cells, wanted)
PYTHON

# Two orders whose times differ by 5 % and whose fills by 0.3 %: the first make a pair, the second do not.
sed -e '3d' -e 's/70000,20500/66200,21000/' rows.csv >tied.csv
run validate --recorded tied.csv --split fit --json tied.json
page 0 -o tied.md tied.json
check "no tau of orders that are not told apart" grep -qE "Kendall's tau -?1.00 by time, - by DRAM fill" tied.md
check "and null in the JSON" grep -q '"kendall_tau_dram": null' tied.json

# What people write between the markers stays, whatever the rest becomes.
sed -i 's/^Nothing is written here yet.$/Half of it.\n\n* And a list./' page.md
page 0 -o page.md --sample 1/8 rows.csv:test fit.json
check "kept" bash -c "sed -n '/<!-- kept -->/,/<!-- end -->/p' page.md | tr '\n' '~' | grep -qF '<!-- kept -->~Half of it.~~* And a list.~<!-- end -->'"
check "a section for each" test "$(grep -c '^## `rows.csv`' page.md)" -eq 2
check "a sample is owned up to" grep -q -- '--sample 1/8' page.md

# The rows of split test and those of live groups make one set, too: here five.
sed 's/,fit,/,test,/' rows.csv >gemm_more.csv
printf '%s\n' 'kernel,m,n,k,mode,order,lts__d_sectors_fill_device.sum,gpu__time_duration.sum' 'gemm,1024,1024,1024,grid,row_major,150000,40000' \
    'gemm,1024,1024,1024,grid,hilbert,120000,50000' >live_groups.csv
run validate --recorded gemm_more.csv --split test --json test.json
run validate --recorded live_groups.csv --json live.json
page 0 -o pooled.md test.json live.json
check "rows of two files as one set" grep -qx '## `gemm_more.csv`, split = test and `live_groups.csv`, together' pooled.md
check "and its figures" python3 - <<'PYTHON'
import json, statistics
name = "lts__d_sectors_fill_device.sum"
rows = [row for document in ("test.json", "live.json") for row in json.load(open(document))["rows"]]
errors = [abs(row["predicted"][name] / row["measured"][name] - 1) * 100 for row in rows]
assert len(errors) == 5, errors
wanted = [statistics.median(errors), statistics.quantiles(errors, n=10, method="inclusive")[8], statistics.mean(errors)]
line = next(line for line in open("pooled.md") if line.startswith(f"| `{name}` | 5 |"))
assert [cell.strip() for cell in line.split("|")][3:6] == [f"{value:.3g} %" for value in wanted], (line, wanted)
PYTHON
page 0 -o page.md fit.json test.json
check "but no set of one file" bash -c "! grep -q ", together" page.md"

printf '{"schema": "l2lens/prediction"}\n' >other.json
page 1 -o page.md other.json
check "another document is refused" grep -q 'other.json: no l2lens/validation document' err
check "and the page left alone" grep -q 'Half of it.' page.md
page 1 -o page.md missing.csv
check "a validation that fails is named" grep -q 'exit 4: l2lens validate --recorded .*missing.csv' err

finish
