#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Measuring: what is said where there is no GPU, and other profilers' files held against predictions.
fixtures=$(cd "$(dirname "$0")/../unit/fixtures" && pwd)
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"
ncu=$fixtures/ncu_raw.csv
small=(gemm m=512 n=512 k=256)
launch='gemm m=1024 n=1024 k=1024 pipeline=warp_specialized order=row_major'

# The doctor always has a report.
expect 0 doctor
check "the doctor says what works without a GPU" grep -q '^ok  *predict' out
expect 0 doctor --json -
check "as JSON too" grep -q '"l2lens/doctor"' out

# one_line_77 ARGS...: exit 77, nothing on stdout, one line with something to do about it.
one_line_77() {
    expect 77 "$@"
    check "nothing on stdout: l2lens $*" test ! -s out
    check "one line on stderr: l2lens $*" test "$(wc -l <err)" -eq 1
    check "with a remedy: l2lens $*" grep -qE '; (install|check|run|use|build)' err
}
expect 0 doctor
if ! grep -q '^ok  *validate --live' out; then
    check "the doctor says what is missing and what to do" grep -qE '^missing .*: (install|check|run|use)' out
    one_line_77 validate --live "${small[@]}"
    one_line_77 validate --live "${small[@]}" --mode grid,static --order hilbert --record new.csv
    check "nothing is recorded" test ! -e new.csv
    one_line_77 gpu probe
    one_line_77 gpu probe -o new.toml
    check "no machine file is written" test ! -e new.toml
fi

# What is wrong is said before the GPU is asked for.
refuses "did you mean 'gemm'?" validate --live gmm
refuses "did you mean 'layout'?" validate --live gemm layuot=tn
refuses "name=value" validate --live gemm 8192
refuses "unknown mode 'statik'; did you mean 'static'?" validate --live gemm --mode grid,statik
refuses "contradict" validate --live gemm mode=static --mode grid
refuses "--repeats" validate --live "${small[@]}" --repeats 0
refuses "need a place each" validate --live "${small[@]}" --record a.csv --record-schedule a.csv
refuses "three ways" validate --live gemm --recorded a.csv
refuses "unexpected argument 'm=8'" validate m=8 --recorded a.csv
refuses "belong to --live" validate --recorded a.csv --record b.csv
refuses "belong to --ncu" validate --recorded a.csv --as 'x=gemm order=row_major'
refuses "No such file or directory" gpu probe -o no/such/folder/x.toml
refuses "did you mean 'h200'?" gpu probe --base h20

# Nsight Compute's own export of this project's GEMM in two orders. Both launches have one name: the rule makes them
# repeats of one configuration. The tolerances are a check that the mapping works, not of the model.
expect 0 validate --ncu "$ncu" --as "gemm_kernel=$launch" --tolerance lrc__request_sectors_op_read_coalescable.sum=1
check "predicted beside measured" grep -q 'lts__t_sectors.sum .* % ' out
check "DRAM bytes where sectors filled were not counted" grep -q 'dram__bytes_read.sum' out
expect 1 validate --ncu "$ncu" --as "gemm_kernel=$launch" --tolerance gpu__time_duration.sum=0
expect 0 validate --ncu "$ncu" --as "gemm_kernel=$launch" --tolerance lrc__request_sectors_op_read_coalescable.sum=1 --json -
check "the validation schema" grep -q '"l2lens/validation"' out
check "two launches of one configuration" grep -q '"repeats": 2' out
check "no properties among the counters" bash -c '! grep -q device__attribute out'
tolerance=(--tolerance lrc__request_sectors_op_read_coalescable.sum=1)
expect 0 validate --ncu "$ncu" --as 'nothing=gemm order=hilbert' --as "gemm=$launch" "${tolerance[@]}"
check "an expression that matches nothing is named" grep -q "nothing.*matches no launch" err
expect 0 validate --ncu "$ncu" --as "gemm=${launch%order*}order=lua: return pid // tn, pid % tn" "${tolerance[@]}"
check "an order of Lua keeps its blanks" grep -q 'lua: return pid // tn, pid % tn' out

# The same from a file.
printf '[[launch]]\nmatch = "gemm_kernel<128"\nas = "%s"\n' "$launch" >map.toml
expect 0 validate --ncu "$ncu" --map map.toml "${tolerance[@]}"
printf '[[launch]]\nmatch = "gemm"\nas = "gemm order=row_major"\nmach = 1\n' >key.toml
refuses "key.toml:4: unknown key 'mach'; did you mean 'match'?" validate --ncu "$ncu" --map key.toml
printf '[[launch]]\nmatch = "gemm"\n' >half.toml
refuses "half.toml:1: a [[launch]] needs a text 'as'" validate --ncu "$ncu" --map half.toml
printf '[[launch]\n' >broken.toml
refuses "broken.toml:1" validate --ncu "$ncu" --map broken.toml
printf 'launch = 3\n' >other.toml
refuses "only [[launch]] tables" validate --ncu "$ncu" --map other.toml
printf '[[launch]]\nmatch = "gemm"\nas = "gmm order=row_major"\n' >kernel.toml
refuses "kernel.toml:1: unknown kernel 'gmm'" validate --ncu "$ncu" --map kernel.toml
refuses "missing.toml" validate --ncu "$ncu" --map missing.toml

# What a profiler has measured is no output.
cp "$ncu" measured.csv
refuses "both an input and an output" validate --ncu measured.csv --as "gemm=$launch" --json ./measured.csv
check "it is still there" cmp measured.csv "$ncu"

# Unmapped launches: listed, and refused when nothing is left.
refuses "none of 2 launches is mapped" validate --ncu "$ncu"
refuses "none of 2 launches is mapped" validate --ncu "$ncu" --as "conv=$launch"
awk -F'\n' '/gemm_kernel/ && seen++ { sub(/void gemm_kernel<128, 128, 1, 1, 1>[(]GemmArgs[)]/, "softmax(float*)") } { print }' "$ncu" >mixed.csv
expect 0 validate --ncu mixed.csv --as "gemm_kernel=$launch" "${tolerance[@]}"
check "launches without a rule are listed" grep -q 'no --as for 1 launch of softmax' err

# A Triton GEMM and cuBLAS on an H200 under ncu --metrics ...: what fills from DRAM is predicted within 10 %.
triton='triton_gemm=gemm m=8192 n=8192 k=8192 bm=128 bn=128 bk=64 stages=4 order=group_m:8'
expect 0 validate --ncu "$fixtures/ncu_triton_cublas.csv" --as "$triton" --tolerance lts__d_sectors_fill_device.sum=10
check "cuBLAS's launches are listed" grep -q 'no --as for 2 launches of nvjet_sm90' err
# gpu_cublas_order watched it: clusters of two 128 x 320 tiles, one above the other, walked along serpentines of 13.
cublas='nvjet=gemm m=8192 n=8192 k=8192 bm=128 bn=320 stages=3 warps=16 cluster_m=2 pipeline=warp_specialized'
cublas+=' mode=dynamic order=serpentine_n:13'
expect 0 validate --ncu "$fixtures/ncu_triton_cublas.csv" --as "$cublas" --tolerance lts__d_sectors_fill_device.sum=10
check "Triton's launches are listed" grep -q 'no --as for 2 launches of triton_gemm' err

# Rules that cannot be.
refuses "is not a regular expression" validate --ncu "$ncu" --as "gemm(=$launch"
refuses "without back-references" validate --ncu "$ncu" --as "(g)\\1=$launch"
# Read by trying one way after the other, this takes longer than the universe is old.
sed "s/void gemm_kernel<[^>]*>/$(printf 'a%.0s' {1..60})/" "$ncu" >long.csv
refuses "none of 2 launches is mapped" validate --ncu long.csv --as "(a+)+c=$launch"
refuses "no regular expression" validate --ncu "$ncu" --as "=$launch"
refuses "belongs here" validate --ncu "$ncu" --as "gemm"
refuses "which kernel?" validate --ncu "$ncu" --as "gemm="
refuses "did you mean 'gemm'?" validate --ncu "$ncu" --as "gemm=gmm order=row_major"
refuses "order is given twice" validate --ncu "$ncu" --as "gemm=gemm order=row_major order=hilbert"
refuses "mode is given twice" validate --ncu "$ncu" --as "gemm=gemm mode=grid order=hilbert mode=static"
refuses "m is given twice" validate --ncu "$ncu" --as "gemm=gemm m=1024 m=1024 order=hilbert"
refuses "in which order?" validate --ncu "$ncu" --as "gemm=gemm m=1024"
refuses "did you mean 'hilbert'?" validate --ncu "$ncu" --as "gemm=gemm order=hilbrt"
refuses "did you mean 'layout'?" validate --ncu "$ncu" --as "gemm=gemm layuot=tn order=hilbert"
refuses "not name=value" validate --ncu "$ncu" --as "gemm=gemm 1024 order=hilbert"
refuses "unknown mode" validate --ncu "$ncu" --as "gemm=gemm order=hilbert mode=gridd"

# Files that are not what a profiler writes.
refuses "missing.csv" validate --ncu missing.csv --as "gemm=$launch"
printf 'hello\n' >hello.csv
refuses "hello.csv: no table found" validate --ncu hello.csv --as "gemm=$launch"
head -c 6000 "$ncu" >cut.csv
refuses "cut.csv" validate --ncu cut.csv --as "gemm=$launch"
head -c 20000 /dev/urandom >random.csv
refuses "random.csv" validate --ncu random.csv --as "gemm=$launch"

# A value in an unknown unit is not taken as one in the base unit.
narrow() { # METRIC UNIT VALUE
    printf '"ID","Kernel Name","%s"\n"","","%s"\n"0","gemm_kernel","%s"\n' "$@"
}
narrow gpu__time_duration.sum foo 5.5 >unit.csv
refuses "unit.csv:2: column 'gpu__time_duration.sum': unknown unit 'foo'" validate --ncu unit.csv --as "gemm=$launch"
narrow lts__t_sectors.sum Misector 1.5 >unit.csv
refuses "unknown unit 'Misector' of lts__t_sectors.sum; it is sector, Ksector" validate --ncu unit.csv --as "gemm=$launch"
narrow lts__t_sectors.sum Mbyte 1.5 >unit.csv
refuses "unknown unit 'Mbyte' of lts__t_sectors.sum; it is sector, Ksector" validate --ncu unit.csv --as "gemm=$launch"
narrow dram__bytes_read.sum Msector 4 >unit.csv
refuses "unknown unit 'Msector' of dram__bytes_read.sum; it is byte, Kbyte" validate --ncu unit.csv --as "gemm=$launch"
narrow dram__bytes_read.sum ms 4 >unit.csv
refuses "unknown unit 'ms' of dram__bytes_read.sum" validate --ncu unit.csv --as "gemm=$launch"
# read_as METRIC UNIT MEASURED: what a value of 5 is taken for. How far off the prediction is does not matter.
read_as() {
    narrow "$1" "$2" 5 >unit.csv
    run validate --ncu unit.csv --as "gemm=$launch" --json -
    check "5 $2 of $1 are $3" grep -q "\"$1\": $3,\?$" out
}
for unit in ns nsecond; do read_as gpu__time_duration.sum $unit 5; done
for unit in us usecond; do read_as gpu__time_duration.sum $unit 5000; done
for unit in ms msecond; do read_as gpu__time_duration.sum $unit 5000000; done
for unit in s second; do read_as gpu__time_duration.sum $unit 5000000000; done
for unit in byte B; do read_as dram__bytes_read.sum $unit 5; done
read_as dram__bytes_read.sum Kbyte 5000
read_as dram__bytes_read.sum Mbyte 5000000
read_as dram__bytes_read.sum Gbyte 5000000000
read_as dram__bytes_read.sum KiB 5120
read_as dram__bytes_read.sum MiB 5242880
read_as dram__bytes_read.sum Mibyte 5242880
read_as dram__bytes_read.sum GiB 5368709120
read_as lts__t_sectors.sum sector 5
read_as lts__t_sectors.sum Ksector 5000
read_as lts__t_sectors.sum Msector 5000000
read_as lts__t_sectors.sum Gsector 5000000000
read_as lts__t_requests.sum Mrequest 5000000

printf '"ID","Kernel Name","dram__bytes_read.sum","lts__t_sectors.sum"\n"","","","sector"\n"0","gemm_kernel","n/a","5"\n' >na.csv
run validate --ncu na.csv --as "gemm=$launch"
check "what was not counted needs no unit" grep -q '^lts__t_sectors.sum' out

# Nor are counts that cannot be, and the second of two is not taken without a word.
narrow lts__t_sectors.sum sector -5 >negative.csv
refuses "negative.csv:3: 'lts__t_sectors.sum': -5 is negative, which no counter is" validate --ncu negative.csv --as "gemm=$launch"
printf '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n' >twice.csv
printf '"%s","gemm_kernel","lts__t_sectors.sum","sector","%s"\n' 0 7 1 8 1 9 >>twice.csv
refuses "twice.csv:4: column 'Metric Name': 'lts__t_sectors.sum' is given twice for ID 1" validate --ncu twice.csv --as "gemm=$launch"
printf '"ID","Kernel Name","lts__t_sectors.sum","lts__t_sectors.sum"\n"","","sector","sector"\n"0","gemm_kernel","1","2"\n' >twice.csv
refuses "two columns of this name" validate --ncu twice.csv --as "gemm=$launch"

# What the model does not predict is nothing to compare.
narrow smsp__inst_executed.sum inst 5 >other.csv
refuses "no counter to compare" validate --ncu other.csv --as "gemm=$launch"

# rocprofv3: the duration from the time stamps, the hit rate from the L2's hits and misses, two passes of one program.
columns='"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"'
pass() { printf '%s\n1,1,"Agent 5",1,20,20,1048576,9,"copy_kernel",256,0,0,12,4,16,"%s",%s,1000,301000\n' "$columns" "$1" "$2"; }
pass TCC_HIT_sum 75 >pass1.csv
pass TCC_MISS_sum 25 >pass2.csv
copy='copy=copy m=2048 n=2048 order=row_major'
expect 1 validate --gpu h200 --rocprof pass1.csv pass2.csv --as "$copy" --tolerance gpu__time_duration.sum=0 --json -
check "the hit rate of both passes" grep -q '"lts__t_sector_hit_rate.pct": 75' out
check "the duration" grep -q '"gpu__time_duration.sum": 300000' out
refuses "missing.csv" validate --gpu h200 --rocprof missing.csv --as "$copy"
pass TCC_HIT_sum -75 >negative.csv
refuses "'TCC_HIT_sum': -75 is negative" validate --gpu h200 --rocprof negative.csv --as "$copy"

finish
