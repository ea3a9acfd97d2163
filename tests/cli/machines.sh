#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every machine that is shipped predicts, and has only the parts that its GPU has.
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"

# counter NAME: its value in the CSV in out.
counter() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) column = i }
        NR == 2 && column { print $column }' out
}
is_zero() { [ -n "$1" ] && awk -v value="$1" 'BEGIN { exit !(value == 0) }'; }
is_positive() { [ -n "$1" ] && awk -v value="$1" 'BEGIN { exit !(value > 0) }'; }

merged=lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum
fabric=lts__t_sectors_srcunit_ltcfabric.sum
none_found=1
for file in "$L2LENS_MODELS"/gpus/*.toml; do
    none_found=0
    gpu=$(basename "$file" .toml)
    expect 0 predict gemm m=2048 n=2048 k=2048 --gpu "$gpu" --order group_m:8 --csv -
    check "$gpu takes time" is_positive "$(counter gpu__time_duration.sum)"
    check "$gpu fills its L2" is_positive "$(counter lts__d_sectors_fill_device.sum)"
    case $gpu in
        v100 | a100-*) check "$gpu has no coalescer" is_zero "$(counter $merged)" ;;
        h100-* | h200 | gh200) check "$gpu merges requests" is_positive "$(counter $merged)" ;;
    esac
    case $gpu in
        v100) check "$gpu has no fabric" is_zero "$(counter $fabric)" ;;
        a100-* | h100-* | h200 | gh200) check "$gpu uses its fabric" is_positive "$(counter $fabric)" ;;
    esac
done
check "machines are shipped" [ "$none_found" -eq 0 ]

# What tells two machines of one die apart, and nothing that does not.
expect 0 gpu diff h200 h100-sxm
check "they differ in DRAM's bandwidth" grep -q 'bandwidth.dram' out
check "they differ in slices" grep -q 'slices_per_partition' out
check "both have two partitions" bash -c '! grep -q topology.partitions out'
expect 0 gpu diff h200 h200
finish
