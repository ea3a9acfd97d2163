#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Do the HIP kernels compile for gfx942 (MI300X) and gfx950 (MI355X)? 77: no compiler here knows an MI300X.
folder=$(dirname "$0")
compile() { # GPU SOURCE
    "$compiler" -x hip --offload-arch="$1" --cuda-device-only -nogpulib -nogpuinc -std=c++17 -O2 -Wall -S -o /dev/null "$2"
}
for compiler in ${HIPCC:-hipcc clang++-19 clang++-20 clang++}; do
    compile gfx942 /dev/null 2>/dev/null && break
    compiler=
done
[ -n "$compiler" ] || { echo "no compiler for gfx942 (clang 17 or later, or hipcc)"; exit 77; }
for gpu in gfx942 gfx950; do
    compile "$gpu" /dev/null 2>/dev/null || continue
    for source in "$folder"/*.hip; do
        compile "$gpu" "$source" || exit 1
        echo "$gpu $(basename "$source")"
    done
done
