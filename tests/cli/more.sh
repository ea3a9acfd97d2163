#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wrong files: a user's kernel or order that is broken, endless or greedy, recordings cut short, outputs out of reach.
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"
small=(gemm m=1024 n=1024 k=512)

# file NAME LINE...: writes the lines.
file() {
    local name=$1
    shift
    printf '%s\n' "$@" >"$name"
}

# Kernel files: what and where.
refuses "missing.lua: no such file" predict ./missing.lua
file nothing.lua 'params = {}'
refuses "nothing.lua: defines no function kernel" predict ./nothing.lua
file syntax.lua 'params = {}' 'function kernel(p'
refuses "syntax.lua:3: ')' expected" predict ./syntax.lua
file nil.lua 'params = {}' 'function kernel(p)' '    local x = nil + 1' 'end'
refuses "nil.lua:3: attempt to perform arithmetic on a nil value" predict ./nil.lua
file own.lua 'params = {}' 'function kernel(p) error("only on Hopper", 0) end'
refuses "own.lua: only on Hopper" predict ./own.lua
file loop.lua 'params = {}' 'function kernel(p) while true do end end'
refuses "loop.lua:2: runs too long" predict ./loop.lua
file bomb.lua 'params = {}' 'function kernel(p) local t = {} for i = 1, 1e9 do t[i] = {i} end end'
refuses "bomb.lua: needs more memory" predict ./bomb.lua
file system.lua 'params = {}' 'function kernel(p) os.execute("touch broken-out") end'
refuses "global 'os'" predict ./system.lua
check "a kernel file cannot run programs" test ! -e broken-out

# A box that misses its tensor moves nothing, which a kernel's author would not see in the sums.
file astray.lua 'params = {}' 'function kernel(p)' '    local A = tensor("A", {1024, 64}, "bf16")' \
    '    local function program(i, j) return {{loads = {box(A, {i * 128 + 1024, 0}, {128, 64})}}} end' \
    '    return {grid = {{"m", 8}, {"n", 1}}, program = program}' 'end'
check "boxes outside their tensor are named" bash -c '
    "$L2LENS" kernel check astray.lua 2>&1 | grep -q "8 of the boxes of A lie wholly outside it"'

# Sizes that fit no register file and no memory. The need is said before anything is allocated.
refuses "registers per thread" predict gemm bm=1024 bn=1024
refuses "m is given twice" predict gemm m=4096 m=2048
refuses "m='1e4'" predict gemm m=1e4
refuses "m='0x1000'" predict gemm m=0x1000
# shellcheck disable=SC2016
check "a grid beyond the memory is refused in little of it" bash -c '
    [ -n "${SANITIZED:-}" ] || ulimit -v 2000000  # a sanitizer maps terabytes before main
    "$L2LENS" predict gemm m=524288 n=524288 k=64 bm=64 bn=64 >out 2>err
    [ $? -eq 4 ] && grep -q "needs 36 GiB of memory" err'
refuses "more than 16777216 tiles" order check row_major --grid 16384x16384

# Orders of one's own.
refuses "pid 0 returns 1 value" predict "${small[@]}" --order 'lua: return 0'
refuses "pid 0: the column is a, not a whole number" predict "${small[@]}" --order 'lua: return pid // tn, "a"'
refuses "pid 1: the row is 0.125, not a whole number" predict "${small[@]}" --order 'lua: return pid / tn, pid % tn'
refuses "not a bijection" predict "${small[@]}" --order 'lua: return pid // tn + 1, pid % tn'
refuses "not a bijection" predict "${small[@]}" --order strided:2
refuses "global 'os'" predict "${small[@]}" --order 'lua: return os.time(), 0'
file short.txt '0 0' '0 1'
refuses "short.txt: lists 2 tiles; a grid of 8 x 8 has 64" predict "${small[@]}" --order file:short.txt
file word.txt '0 0' '0 x'
refuses "word.txt:2:" predict "${small[@]}" --order file:word.txt
refuses "folder" predict "${small[@]}" --order file:.

# Recordings that end in the middle of a row name the row and the first column that is missing.
file cut.csv 'kernel,m,n,k,order,mode,lts__t_sectors.sum' 'gemm,512,512,512,hilbert,grid,7' 'gemm,512,512'
refuses "cut.csv:3: 3 fields, but the header names 7 columns ('k' is the first one missing)" validate --recorded cut.csv
file other.csv 'sm,gpc,partition' '0,0,1'
refuses "other.csv:1: no column 'kernel'" validate --recorded other.csv

# What the user may not read or write. To root every file is open.
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed
    chmod 555 closed
    refuses "Permission denied" predict "${small[@]}" --json closed/x.json
    file secret.csv 'kernel'
    chmod 000 secret.csv
    refuses "secret.csv" validate --recorded secret.csv
fi
refuses "Not a directory" predict "${small[@]}" --json short.txt/x.json

# Launches in sequence, on fewer SMs.
expect 0 predict copy m=512 n=512 then copy m=512 n=512 --order row_major --json then.json
expect 0 predict copy m=512 n=512 then softmax rows=512 cols=512 --order row_major
check "the header has the tiles of each launch" grep -q '; 8 x 4, then 512 x 1 tiles$' out
expect 0 predict copy m=512 n=512 --order row_major --json one.json
check "the second copy finds what the first left" python3 - <<'END'
import json
one, two = (json.load(open(f))["results"][0]["counters"] for f in ("one.json", "then.json"))
assert one["lts__d_sectors_fill_device.sum"] == two["lts__d_sectors_fill_device.sum"] == 512 * 512 * 2 / 32
# A far read of the first left a copy, so the second crosses the fabric with its writes alone.
assert two["lrc__request_sectors_op_read_coalescable.sum"] == 2 * one["lrc__request_sectors_op_read_coalescable.sum"]
END

# One of a thing.
expect 0 predict gemm m=128 n=128 k=64 --order row_major --sms 1
check "one SM, one tile" grep -q ': 1 SM, .*; 1 x 1 tile, ' out
expect 0 kernel check copy m=128 n=128
check "what is read once" grep -q '^A .* once$' out
expect 0 order check row_major --grid 1x1
check "a tile, a row and a column" grep -q 'a wave of 1 tile touches 1 row and 1 column on average' out

refuses "'then' stands between two kernels" predict copy then
refuses "'then' stands between two kernels" predict then copy
refuses "sequence of launches" predict norm_gate fused=false --engine tile
refuses "sequence of launches" predict norm_gate fused=false --record-schedule s.csv
expect 0 predict copy m=512 n=512 --order row_major --sms 8
refuses "--sms" predict "${small[@]}" --sms 0
refuses "h200 has 1 to 132 SMs, not 500" predict "${small[@]}" --sms 500

finish
