#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whatever is wrong with what a user types: exit 4, one line on stderr, nothing on stdout.
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"

# Commands and options.
refuses "which command?"
refuses "did you mean 'predict'?" predct
refuses "order: which command?" order
refuses "did you mean 'check'?" order chek
refuses "did you mean '--order'?" predict gemm --ordr hilbert
refuses "did you mean '--order'?" predict gemm --ordr=hilbert
refuses "unknown option '-z'" predict gemm -z
refuses "unexpected argument 'extra'" gpu show h200 extra
refuses "--gpu" predict gemm --gpu
refuses "--json" predict gemm --json a --json b
refuses "which kernel?" predict
refuses "--recorded" validate
refuses "required" kernel show

# Kernels and their parameters.
refuses "did you mean 'gemm'?" predict gmm
refuses "did you mean 'layout'?" predict gemm layuot=tn
refuses "m=" predict gemm m=0
refuses "m=" predict gemm m=-5
refuses "m=" predict gemm m=abc
refuses "m=" predict gemm m=
refuses "m=" predict gemm m=8192.5
refuses "m=" predict gemm m=99999999999999999999
refuses "dtype" predict gemm dtype=bf17
refuses "name=value" predict gemm 8192
refuses "shared memory" predict gemm bm=128 bn=128 bk=128 stages=8
refuses "512 GiB" predict gemm m=2147483647 n=2147483647 bm=64 bn=64
refuses "512 GiB" predict gemm m=1048576 n=1048576 k=64 bm=64 bn=64
refuses "512 GiB" predict gemm m=2147483647 n=2147483647 k=2147483647
for part in prologue epilogue; do
    cat >slow.lua <<LUA
about = "nothing happens for a second, eight times"
params = {{"m", 1024, "rows"}}
function kernel(p)
    local A = tensor("A", {p.m, 64}, "bf16")
    return {grid = {{"m", 8}, {"n", 1}}, ${part}_ns = 1e9,
            program = function(m, n) return {{loads = {box(A, {m * 128, 0}, {128, 64})}}} end}
end
LUA
    refuses "slow.lua: kernel(): ${part}_ns is 1000000000.0; it must be a number from 0 to 1e6 ns (1 ms)" predict ./slow.lua
done

# Orders.
refuses "did you mean 'hilbert'?" predict gemm --order hilbrt
refuses "group_m" predict gemm --order group_m:0
refuses "group_m" predict gemm --order group_m:8:9
refuses "group_m" predict gemm --order group_m:99999999999999999999
refuses "not a bijection" predict gemm m=1024 n=1024 --order 'lua: return 0, 0'
refuses "lua" predict gemm m=1024 n=1024 --order 'lua: error("no")'
refuses "lua" predict gemm m=1024 n=1024 --order 'lua: return pid //'
refuses "lua" predict gemm m=1024 n=1024 --order 'lua: while true do end return 0, 0'
refuses "lua" predict gemm m=1024 n=1024 --order 'lua: local t = {} for i = 1, 1e9 do t[i] = {i, i} end return 0, 0'
refuses "missing.txt" predict gemm --order file:missing.txt
refuses "--order" predict gemm --order ''
refuses "--grid" order check hilbert
refuses "--grid" order check hilbert --grid 8x8 --kernel gemm
refuses "--kernel NAME" order check sharing --grid 8x8
refuses "--kernel" order check sharing --kernel ' '
refuses "--grid" order check hilbert --grid 8
refuses "--grid" order check hilbert --grid 0x8
refuses "--grid" order check hilbert --grid -1x8
refuses "--grid" order check hilbert --grid 8x8x8
refuses "--grid" order check hilbert --grid 99999999x99999999

# Machines.
refuses "did you mean 'h200'?" predict gemm --gpu h20
refuses "missing.toml" gpu check ./missing.toml
printf 'description = "x"\nnonsense = 1\n' >bad.toml
refuses "bad.toml:" gpu check ./bad.toml
printf '[topology\n' >broken.toml
refuses "broken.toml:1" gpu check ./broken.toml
refuses "did you mean" gpu diff h200 h100-sxn

# Numbers and choices.
refuses "--threads" predict gemm --threads -1
refuses "--threads" predict gemm --threads two
refuses "--threads" predict gemm --threads 100000
refuses "--seed" predict gemm --seed 1.5
refuses "--seeds" predict gemm --seeds 0
refuses "--sample" predict gemm --sample 2
refuses "--sample" predict gemm --sample 1/0
refuses "unknown mode 'statik'; did you mean 'static'?" predict gemm --mode statik
refuses "--l2" predict gemm --l2 hot
refuses "--engine" predict gemm --engine lines
refuses "--sample" predict gemm --engine tile --sample 1/4
refuses "--color" predict gemm --color red
refuses "contradict" predict gemm mode=static --mode grid

# Output that cannot be written is refused before anything is computed.
refuses "No such file or directory" predict gemm --json no/such/folder/x.json
refuses "Is a directory" predict gemm --csv .
refuses "both go to" predict gemm --json - --csv -
refuses "--json and --csv both go to" predict gemm --json same --csv same
refuses "--json and --csv both go to" predict gemm --json same --csv ./same
refuses "--json and --csv both go to" predict gemm --json same --csv "$PWD/nowhere/../same"
ln -s to_come.csv leads_there.csv
refuses "--csv and --record-schedule both go to" predict gemm --csv to_come.csv --record-schedule leads_there.csv
refuses "--csv and --record-schedule both go to" predict gemm --csv ./leads_there.csv --record-schedule to_come.csv
refuses "--json and --report both go to" predict gemm --json a.html --report ./a.html
refuses "--json and --html both go to" lab 1 --json a.html --html ./a.html
printf 'cta,warp,instruction,op,address,bytes\n0,0,0,R,0,32\n' >access.csv
for form in --json --csv; do
    refuses "$form and -o both go to" trace record gemm m=300 n=300 k=64 -o q.l2t $form q.l2t
    refuses "$form and -o both go to" trace import access.csv -o ./q.l2t $form q.l2t
done
"$L2LENS" trace import access.csv -o q.l2t --quiet >/dev/null
refuses "--csv and -o both go to" trace convert q.l2t -o q.txt --csv ./q.txt
check "none of them was begun" test ! -e same -a ! -e to_come.csv -a ! -e a.html -a ! -e q.txt

# An input is no output, also where its value is not asked for.
cp "$L2LENS_MODELS/gpus/tiny.toml" g.toml
for words in "explain sector" "explain" "trace head q.l2t" "trace convert q.l2t -o q.txt"; do
    read -ra arguments <<<"$words"
    refuses "both an input and an output" "${arguments[@]}" --gpu ./g.toml --json g.toml
done
check "the machine is still there" cmp g.toml "$L2LENS_MODELS/gpus/tiny.toml"
refuses "did you mean 'h200'?" explain sector --gpu h20

# No form is asked for in vain.
refuses "--markdown" explain --markdown --json words.json
refuses "--text" trace head q.l2t --text --csv head.csv

# Recorded counters.
head='kernel,m,n,k,order,mode,lts__t_sectors.sum'
printf '%s\n' "$head" >header.csv
refuses "no rows" validate --recorded header.csv
: >empty.csv
refuses "empty.csv: the file is empty" validate --recorded empty.csv
refuses "missing.csv" validate --recorded missing.csv
refuses "folder" validate --recorded .
printf '%s\ngemm,512,512,512,hil' "$head" >truncated.csv
refuses "truncated.csv:2: 5 fields" validate --recorded truncated.csv
printf '%s\ngemm,512,512,512,hilbert,grid,12a\n' "$head" >number.csv
refuses "number.csv:2: column 'lts__t_sectors.sum': '12a' is not a number" validate --recorded number.csv
refuses "m=4096: is no file; recorded rows have their own parameters" validate --recorded number.csv m=4096
printf 'kernel,mm,order,lts__t_sectors.sum\ngemm,512,hilbert,1\n' >column.csv
refuses "column.csv:2: column 'mm' is neither a parameter" validate --recorded column.csv
printf '%s\ngmm,512,512,512,hilbert,grid,1\n' "$head" >kernel.csv
refuses "kernel.csv:2: column 'kernel': unknown kernel 'gmm'" validate --recorded kernel.csv
printf '%s\ngemm,512,512,512,hilbrt,grid,1\n' "$head" >order.csv
refuses "order.csv:2: unknown order 'hilbrt'; did you mean 'hilbert'?" validate --recorded order.csv
printf '%s\ngemm,0,512,512,hilbert,grid,1\n' "$head" >size.csv
refuses "size.csv:2: gemm: m=" validate --recorded size.csv
printf '%s\ngemm,512,512,512,hilbert,gridd,1\n' "$head" >mode.csv
refuses "did you mean 'grid'?" validate --recorded mode.csv
printf '%s\ngemm,512,512,512,"hilbert,grid,1\n' "$head" >quote.csv
refuses "never closed" validate --recorded quote.csv
printf '%s\ngemm,512,512,512,hilbert,grid,1\n' "$head" >good.csv
refuses "--tolerance" validate --recorded good.csv --tolerance lts__t_sectors.sum
refuses "did you mean 'lts__t_sectors.sum'?" validate --recorded good.csv --tolerance lts__t_sector.sum=5
refuses "not a number of percent" validate --recorded good.csv --tolerance lts__t_sectors.sum=-5
refuses "no row has a measured" validate --recorded good.csv --tolerance dram__sectors_read.sum=5
refuses "have no column 'split'" validate --recorded good.csv --split test
printf '%s\ngemm,512,512,512,hilbert,grid,\n' "$head" >nothing.csv
refuses "no counter to compare" validate --recorded nothing.csv
refuses "--sample: slices are a matter of --engine line" validate --recorded good.csv --engine tile --sample 1/4
refuses "--repeats, --record and --record-schedule belong to --live" validate --recorded good.csv --repeats 7
head -c 100000 /dev/urandom >random.csv
refuses "random.csv" validate --recorded random.csv

# What is read is not written, by whatever name; what was there stays.
cp good.csv kept.csv
ln -s good.csv link.csv
refuses "both an input and an output" validate --recorded good.csv --csv ./good.csv
refuses "both an input and an output" validate --recorded good.csv --json link.csv
check "the recorded rows are still there" cmp good.csv kept.csv
cat >mine.lua <<'LUA'
function kernel()
    local A = tensor("A", {64, 64}, "bf16")
    return {grid = {{"m", 1}, {"n", 1}}, program = function() return {{loads = {box(A, {0, 0}, {64, 64})}}} end}
end
LUA
cp mine.lua kept.lua
expect 0 predict ./mine.lua
refuses "both an input and an output" predict ./mine.lua --json mine.lua
check "the kernel is still there" cmp mine.lua kept.lua
refuses "the file's name is empty" predict gemm m=256 n=256 k=64 --json ""
refuses "the file's name is empty" predict gemm m=256 n=256 k=64 --report ""
refuses "'-' is no file's name" predict gemm m=256 n=256 k=64 --report -

# Words.
refuses "did you mean 'lts__t_sectors.sum'?" explain lts__t_sector.sum
refuses "nothing is called" explain zzzzzzzz
refuses "nothing is called 'flat zzzzzzzz'" explain flat zzzzzzzz
refuses "is a folder, not a file" predict ./
refuses "is a folder, not a file" predict gemm --gpu ./

finish
