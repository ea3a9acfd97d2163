#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Traces from the command line: a replay has the counters of the prediction, whatever is wrong ends in one line.
samples=$(cd "$(dirname "$0")/../../traces/samples" && pwd)
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"

# counters FILE: the counters of a document, less what needs the SMs' side.
counters() { sed -n '/"counters"/,/}/p' "$1" | grep -v -e 'duration' -e 'cycles_' | tr -d ','; }

kernel=(gemm m=512 n=512 k=256 --order hilbert --seed 3 --sample 1/4)
expect 0 predict "${kernel[@]}" --json predicted.json
expect 0 trace record "${kernel[@]}" -o box.l2t
expect 0 trace replay box.l2t --json replayed.json
counters predicted.json >predicted
counters replayed.json >replayed
check "counters are there" grep -q lts__t_sectors_srcunit_tex replayed
check "a replay has the prediction's counters" diff predicted replayed
expect 0 trace convert box.l2t -o lines.txt
expect 0 trace convert lines.txt --to lines -o lines.l2t
for file in lines.txt lines.l2t; do
    expect 0 trace replay "$file" --json replayed.json
    counters replayed.json >replayed
    check "$file replays to the same counters" diff predicted replayed
done
expect 0 trace record "${kernel[@]}" --lines -o direct.l2t
check "recorded lines are converted boxes" cmp direct.l2t lines.l2t
expect 0 trace info box.l2t --json -
check "info names the kernel" grep -q '"value": "gemm"' out
expect 0 trace head box.l2t -n 3 --csv -
check "three records and a title" test "$(wc -l <out)" -eq 4
expect 0 trace head box.l2t -n 7 --text
cp out seven.txt
check "seven requests" test "$(grep -c ' R ' seven.txt)" -eq 7
expect 0 trace replay seven.txt
expect 0 trace replay box.l2t --gpu gh200
expect 0 trace replay "$samples/hand.txt" --gpu tiny --csv -

# What reductions add to is read.
reducing=(gemm_split_k m=512 n=512 k=2048 sum=reduce --order row_major --sample 1/4)
expect 0 predict "${reducing[@]}" --json predicted.json
expect 0 trace record "${reducing[@]}" -o reducing.l2t
expect 0 trace convert reducing.l2t -o reducing.txt
check "reductions are told from stores" grep -q ' A 0x' reducing.txt
counters predicted.json >predicted
for file in reducing.l2t reducing.txt; do
    expect 0 trace replay "$file" --json replayed.json
    counters replayed.json >replayed
    check "$file replays to the counters of reductions" diff predicted replayed
done

# A cut trace: a warning, and its beginning.
head -c -10 direct.l2t >long.l2t
expect 0 trace replay long.l2t
check "a warning of the cut" grep -q 'the trace is cut' err
head -50 lines.txt >long.txt
expect 0 trace replay long.txt --json cut.json
check "a warning of the cut of text" grep -q 'long.txt: the trace is cut: it ends before line 51, after 4[0-9] records' err
check "a replay of it is not complete" grep -q '"complete": false' cut.json
expect 0 trace info long.txt
check "nor is the trace" grep -q '^complete  *no' out
head -c -3 lines.txt >long.txt
expect 0 trace info long.txt
check "a cut inside the end is one" grep -q 'the trace is cut: it ends inside line' err
{ head -50 lines.txt && tail -1 lines.txt; } >wrong.txt
refuses "wrong.txt:51: the end says" trace replay wrong.txt
expect 0 trace record "${kernel[@]}" --lines --max-size 6K -o small.l2t
check "a warning of the size" grep -q -e '--max-size 6K is reached' err
check "it is no larger" test "$(stat -c %s small.l2t)" -le 6144
expect 0 trace info small.l2t
check "its reader is told" grep -q 'largest size' err

# Other tools' traces: four lanes of one warp read a line, and again from the L1; another CTA adds to a sector of it.
printf 'cta,warp,instruction,op,address,bytes\n0,0,0,R,0,64\n0,0,0,R,64,64\n0,0,3,R,0,128\n1,0,0,A,32,4\n' >access.csv
expect 0 trace import access.csv -o access.l2t --gpu h200
check "its requests are counted" grep -q '^access.l2t  2     1            3              50.0 %  2         5' out
expect 0 trace replay access.l2t --json access.json
check "and replayed" grep -q '"lts__t_sectors_srcunit_tex.sum": 5' access.json
refuses "neither .traceg nor .csv" trace import box.l2t -o x.l2t
refuses "where to?" trace import access.csv
refuses "missing.csv: cannot be opened" trace import missing.csv -o x.l2t
printf 'cta,warp\n' >short.csv
refuses "short.csv:1: column 'instruction' is missing" trace import short.csv -o x.l2t

printf '"cta","warp","instruction","op","address","bytes"\r\n"0", "0" ,"0","R","0x0","64"\r\n' >quoted.csv
expect 0 trace import quoted.csv -o quoted.l2t --gpu h200
header=cta,warp,instruction,op,address,bytes
printf '%s\n0,0,0,R,0,4\n0,0,0,R,0xffffffffffffffff,16\n' $header >wrap.csv
refuses "wrap.csv:3: the 16 bytes at 0xffffffffffffffff reach beyond 64 bits" trace import wrap.csv -o x.l2t
printf '%s,op\n0,0,0,R,0,4,W\n' $header >twice.csv
refuses "twice.csv:1: column 'op' is there twice" trace import twice.csv -o x.l2t
printf '%s\n\n0,0,0,R,0,4\n0,64,0,R,0,4\n0,1,0,R,0,4\n' $header >warp.csv
refuses "warp.csv:4: warp 64; a CTA has warps 0 to 31" trace import warp.csv -o x.l2t

# Moments far apart: windows without a request take no time.
printf '0 0 R 0 32\n1000000000 0 R 0 32\n' >apart.txt
expect 0 trace replay apart.txt --gpu h200 --json apart.json
check "a second is passed in less" python3 -c 'import json; assert json.load(open("apart.json"))["meta"]["seconds"] < 10'

# Mistakes.
refuses "which kernel?" trace record -o x.l2t
refuses "where to?" trace record gemm
refuses "--max-size" trace record gemm m=512 n=512 k=256 --max-size 10 -o x.l2t
refuses "--max-size" trace record gemm --max-size lots -o x.l2t
refuses "did you mean 'hilbert'?" trace record gemm --order hilbrt -o x.l2t
refuses "cannot write" trace record gemm m=512 n=512 k=256 -o missing/x.l2t
refuses "did you mean 'replay'?" trace replya box.l2t
refuses "cannot be opened" trace info missing.l2t
refuses "a folder" trace info .
: >empty
refuses "empty" trace replay empty
head -c 40 box.l2t >head.l2t
refuses "cut inside the head" trace replay head.l2t
{ head -c 1500 direct.l2t; printf 'X'; tail -c +1502 direct.l2t; } >corrupt.l2t
refuses "frame 1 at byte" trace replay corrupt.l2t
refuses "frame 1 at byte" trace convert corrupt.l2t -o x.txt
head -c 100 "$L2LENS" >foreign
refuses "foreign" trace replay foreign
printf '1 0 R 0 32\n2 0 Q 0 32\n' >bad.txt
refuses "bad.txt:2:5:" trace replay bad.txt
printf '1 200 R 0 32\n' >sm.txt
refuses "sm.txt:1: SM 200" trace replay sm.txt
refuses "--to" trace convert box.l2t --to boxes -o x
refuses "-n" trace head box.l2t -n 0
check "nothing half written" test ! -e x.l2t -a ! -e x.txt -a ! -e x
finish
