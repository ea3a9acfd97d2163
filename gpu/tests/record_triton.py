#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records who ran where and when of a GEMM that Triton compiled, the kernel of traces/h200/gemm.csv.

    record_triton.py FILE.csv MODE:ORDER:MxNxK:BMxBNxBK:WARPS:STAGES ...     MODE: grid, static or dynamic
    ncu --kernel-name gemm --metrics ... record_triton.py - grid:group_m:8:8192x8192x8192:128x128x64:4:4

writes FILE.csv in the form of traces/h200/schedules.csv, a run for each launch, and says what the launches took. -: no
file, and two launches of a kernel without stamps, to be counted; with ncu's --cache-control none the second one finds
what the first one left in the L2 (traces/h200/triton_steps.csv). A CTA (of a persistent launch: a tile) begins with its
first instruction and ends when the store of its tile has been issued and waited for; both are times of the GPU's timer,
which ticks each 32 ns. Needs PyTorch and Triton 3.6, which l2lens itself does not.
"""
import csv
import sys

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import globaltimer, smid
from triton.tools.tensor_descriptor import TensorDescriptor

SMS = 132  # of an H100 or H200: as many CTAs has a persistent launch
STAMPS = 4  # first instruction, end of the math, end of the store, SM


@triton.jit
def tile_of(pid, tiles_m, tiles_n, ORDER: tl.constexpr, G: tl.constexpr):
    if ORDER == "row_major":
        return pid // tiles_n, pid % tiles_n
    elif ORDER == "column_major":
        return pid % tiles_m, pid // tiles_m
    else:  # group_m
        of_group = G * tiles_n
        first = pid // of_group * G
        rows = min(tiles_m - first, G)
        return first + pid % of_group % rows, pid % of_group // rows


@triton.jit
def one_tile(a, b, c, stamps, pid, began, tiles_m, tiles_n, steps, BM: tl.constexpr, BN: tl.constexpr,
             BK: tl.constexpr, ORDER: tl.constexpr, G: tl.constexpr, STAGES: tl.constexpr, STAMP: tl.constexpr):
    tm, tn = tile_of(pid, tiles_m, tiles_n, ORDER, G)
    accumulator = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, steps, num_stages=STAGES):
        of_a = a.load([tm * BM, k * BK])
        of_b = b.load([tn * BN, k * BK])
        accumulator = tl.dot(of_a, of_b.T, accumulator)
    if STAMP:
        math_end = globaltimer()
    c.store([tm * BM, tn * BN], accumulator.to(tl.bfloat16))
    if STAMP:
        tl.store(stamps + pid * 4, began)
        tl.store(stamps + pid * 4 + 1, math_end)
        tl.store(stamps + pid * 4 + 2, globaltimer())
        tl.store(stamps + pid * 4 + 3, smid().to(tl.int64))


@triton.jit
def gemm(a, b, c, stamps, counter, tiles_m, tiles_n, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
         ORDER: tl.constexpr, G: tl.constexpr, STAGES: tl.constexpr, MODE: tl.constexpr, STAMP: tl.constexpr):
    began = globaltimer()
    pid = tl.program_id(0)
    if MODE == "grid":
        one_tile(a, b, c, stamps, pid, began, tiles_m, tiles_n, steps, BM, BN, BK, ORDER, G, STAGES, STAMP)
    elif MODE == "static":
        for tile in tl.range(pid, tiles_m * tiles_n, tl.num_programs(0)):
            one_tile(a, b, c, stamps, tile, globaltimer(), tiles_m, tiles_n, steps, BM, BN, BK, ORDER, G, STAGES, STAMP)
    else:
        tile = tl.atomic_add(counter, 1)
        while tile < tiles_m * tiles_n:
            one_tile(a, b, c, stamps, tile, globaltimer(), tiles_m, tiles_n, steps, BM, BN, BK, ORDER, G, STAGES, STAMP)
            tile = tl.atomic_add(counter, 1)


def mean_and_deviation(values):
    values = values.double()
    return f"{values.mean():.0f} +- {values.std(correction=0):.0f} ns"


def launch(spec, writer):
    mode, order, *group, size, tile, warps, stages = spec.split(":")
    m, n, k = (int(x) for x in size.split("x"))
    bm, bn, bk = (int(x) for x in tile.split("x"))
    a, b = (torch.randn((rows, k), device="cuda", dtype=torch.bfloat16) for rows in (m, n))
    c = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
    boxes = (TensorDescriptor(a, [m, k], [k, 1], [bm, bk]), TensorDescriptor(b, [n, k], [k, 1], [bn, bk]),
             TensorDescriptor(c, [m, n], [n, 1], [bm, bn]))
    tiles_m, tiles_n, steps = triton.cdiv(m, bm), triton.cdiv(n, bn), triton.cdiv(k, bk)
    tiles = tiles_m * tiles_n
    stamps = torch.zeros((tiles, STAMPS), device="cuda", dtype=torch.int64)
    counter = torch.zeros(1, device="cuda", dtype=torch.int32)
    flush = torch.empty(256 << 20, device="cuda", dtype=torch.uint8)
    milliseconds = []
    for _ in range(2 if writer is None else 4):  # the first one compiles; the last one's stamps stay
        if writer is not None:
            flush.zero_()
        counter.zero_()
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        kernel = gemm[(tiles if mode == "grid" else SMS,)](
            *boxes, stamps, counter, tiles_m, tiles_n, steps, bm, bn, bk, order, int(*group or "1"), int(stages),
            mode, writer is not None, num_warps=int(warps), num_stages=int(stages))
        end.record()
        torch.cuda.synchronize()
        milliseconds.append(round(begin.elapsed_time(end), 3))
    rows = slice(0, 256)
    wrong = (c[rows].float() - a[rows].float() @ b.float().T).abs().max().item()
    print(f"{spec}: ms {milliseconds}, {kernel.n_regs} registers, {kernel.metadata.shared} B shared, error {wrong:.3g}")
    if writer is None:
        return
    stamps = stamps.cpu()
    times = stamps[:, :3] - stamps[:, 0].min()
    print(f"  math {mean_and_deviation(times[:, 1] - times[:, 0])}, epilogue {mean_and_deviation(times[:, 2] - times[:, 1])}")
    name = ":".join([order, *group]) + "_" + mode
    for pid in range(tiles):
        writer.writerow([name, pid, int(stamps[pid, 3]), int(times[pid, 0]), int(times[pid, 2])])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "-":
        for spec in sys.argv[2:]:
            launch(spec, None)
        return
    with open(sys.argv[1], "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", "launch_id", "sm", "start_ns", "end_ns"])
        for spec in sys.argv[2:]:
            launch(spec, writer)


if __name__ == "__main__":
    main()
