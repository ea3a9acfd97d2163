#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Schedules: written by predict, replayed by validate, refused in one line when they are not of the launch.
# shellcheck source=lib.sh disable=SC1091,SC2016
. "$(dirname "$0")/lib.sh"
small=(gemm m=1024 n=1024 k=512)

# A schedule has a line for each of the 64 tiles of each order.
expect 0 predict "${small[@]}" --order row_major,hilbert --mode static --record-schedule s.csv
check "its columns" grep -qx 'run,launch_id,sm,start_ns,end_ns' s.csv
check "64 tiles of row_major" test "$(grep -c '^row_major_static,' s.csv)" -eq 64
check "64 tiles of hilbert" test "$(grep -c '^hilbert_static,' s.csv)" -eq 64
check "the first wave takes the SMs once each" \
    test "$(grep '^hilbert_static,' s.csv | cut -d, -f3 | sort -u | wc -l)" -eq 64
refuses "Is a directory" predict "${small[@]}" --record-schedule .
refuses "need a place each" predict "${small[@]}" --record-schedule x --json x

# Under a "recorded" schedule that is the prediction's own, no error is the schedule's: whatever was measured, all
# of it is the memory's. The measured counters are made up.
columns='kernel,m,n,k,mode,order,lts__d_sectors_fill_device.sum,lts__t_sectors_srcunit_tex.sum,lts__t_sector_hit_rate.pct'
printf '%s\n' "$columns" 'gemm,1024,1024,512,static,row_major,60000,400000,90' \
    'gemm,1024,1024,512,static,hilbert,70000,300000,80' >rows.csv
loose=(--tolerance lts__d_sectors_fill_device.sum=1000)
expect 0 validate --recorded rows.csv --replay-schedule s.csv "${loose[@]}" --json own.json
check "the table names the parts" grep -q "schedule's part" out
check "the parts in JSON" grep -q '"schedule_pct": 0' own.json
check "none of the schedule's is above zero" bash -c "! grep '\"schedule_\(pct\|points\)\"' own.json | grep -qv ': 0,'"
check "the memory's is not zero" bash -c "grep '\"memory_pct\"' own.json | grep -qv ': 0,'"

# Another schedule: all tiles of row_major one after another on one SM, 1 ms each. Then nothing merges, so that all of
# the 2 * 1024 * 1024 * 512 * 2 / 128 B / 32 B sectors that are asked for and the 65536 of C are looked up.
awk -F, -v OFS=, '/^row_major/ { print $1, $2, 0, 1e6 * n, 1e6 * n + 9000; n++ } NR == 1' s.csv >serial.csv
expect 0 validate --recorded rows.csv --replay-schedule serial.csv "${loose[@]}" --json serial.json
check "every request of a lone SM is looked up" bash -c "
    grep -A40 '\"replayed\"' serial.json | grep -m1 '\"lts__t_sectors_srcunit_tex.sum\"' |
    grep -q ': $((2 * 1024 * 1024 * 512 * 2 / (128 * 32) + 1024 * 1024 * 2 / 32)),'"
check "only the row with a schedule is split" test "$(grep -c '"replayed"' serial.json)" -eq 1
predicted() { awk '/"predicted": [{]/, /[}]/' "$1"; }
predicted own.json >own.txt
predicted serial.json >serial.txt
check "there are predictions" grep -q lts__d_sectors_fill_device.sum own.txt
check "no prediction depends on the schedule" cmp own.txt serial.txt

# What is no schedule of these rows.
with() { sed "$1" s.csv >bad.csv; }
with '2s/,[0-9]*,[0-9.]*,[0-9.]*$/,132,0,1/'
refuses "bad.csv:2: SM 132, but h200 has 0 to 131" validate --recorded rows.csv --replay-schedule bad.csv
with '3s/,1,/,0,/'
refuses "bad.csv:3: launch id 0 of run 'row_major_static' is there twice, first in line 2" \
    validate --recorded rows.csv --replay-schedule bad.csv
with '3d'
refuses "run 'row_major_static' has no launch id 1; a replay needs all 64" \
    validate --recorded rows.csv --replay-schedule bad.csv
with '4s/[0-9.]*,[0-9.]*$/20,10/'
refuses "bad.csv:4: launch id 2 ends at 10 ns, before its start at 20 ns" \
    validate --recorded rows.csv --replay-schedule bad.csv
with '1s/end_ns/ends_ns/'
refuses "bad.csv:1: column 'ends_ns' is not of a schedule; did you mean 'end_ns'?" \
    validate --recorded rows.csv --replay-schedule bad.csv
with '1s/,sm,/,/;2,$s/,[0-9]*,\([0-9.]*,[0-9.]*\)$/,\1/'
refuses "bad.csv:1: no column 'sm'" validate --recorded rows.csv --replay-schedule bad.csv
with 's/^row_major_static/row_major_grid/'
refuses "run 'row_major_grid' is of no row" validate --recorded rows.csv --replay-schedule bad.csv
refuses "run 'row_major_static' is also in s.csv:2" validate --recorded rows.csv --replay-schedule s.csv s.csv
sed 's/512,static,hilbert/1024,static,row_major/' rows.csv >two.csv
refuses "run 'row_major_static' could be of two.csv:2 and of two.csv:3" \
    validate --recorded two.csv --replay-schedule serial.csv
sed 's/1024,1024/1024,512/' rows.csv >other.csv
refuses "launch id 32, but the launch has 0 to 31" validate --recorded other.csv --replay-schedule serial.csv
refuses "missing.csv" validate --recorded rows.csv --replay-schedule missing.csv
head -1 s.csv >empty.csv
refuses "empty.csv: a header but no rows" validate --recorded rows.csv --replay-schedule empty.csv

# A schedule of 250,000 CTAs, 9 MB, is read to its end; a model file may have 4 MiB.
{
    head -1 s.csv
    seq 0 249999 | sed 's/.*/row_major_static,&,0,100000.000,200000.000/'
} >long.csv
refuses "launch id 64, but the launch has 0 to 63" validate --recorded rows.csv --replay-schedule long.csv
refuses "long.csv: is larger than 4 MiB" predict gemm --gpu ./long.csv

finish
