#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records a GEMM that Triton compiled, the kernel of traces/h200/gemm.csv: who ran where and when, or its counters.

    record_triton.py schedules FILE.csv SPEC ...       SPEC: MODE:ORDER:LAYOUT:MxNxK[xW]:BMxBNxBK:WARPS:STAGES
    ncu --csv --page raw --print-units base --log-file NCU.csv --clock-control none --kernel-name gemm --metrics ...
        record_triton.py launch SPEC ...                  two launches of each, the second of which may be warm
        record_triton.py again traces/h200/gemm.csv       a launch of each row
    record_triton.py rows traces/h200/gemm.csv NCU.csv    what that has counted, as further rows of the file, on stdout

`schedules` writes FILE.csv in the form of traces/h200/schedules.csv, a run for each launch, and says what the launches
took. A CTA (of a persistent launch: a tile) begins with its first instruction and ends when the store of its tile has been
issued and waited for; both are times of the GPU's timer, which ticks each 32 ns. What is counted has no such stamps; with
ncu's --cache-control none a second launch finds what the first one left in the L2 (traces/h200/triton_steps.csv).

With W, a power of two of steps, the operands are W deep and read round and round: however many steps a launch has, they stay
in the L2.

The tiles' places are read from a table, which `l2lens order show` writes (L2LENS says where that is, else it is on the
path). Needs PyTorch and Triton 3.6, which l2lens itself does not.
"""
import csv
import io
import os
import subprocess
import sys

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import globaltimer, smid
from triton.tools.tensor_descriptor import TensorDescriptor

SMS = 132  # of an H100 or H200: as many CTAs has a persistent launch
STAMPS = 4  # first instruction, end of the math, end of the store, SM
KEYS = ["kernel", "dtype", "layout", "m", "n", "k", "bm", "bn", "bk", "stages", "warps", "mode", "order", "split"]


class Launch:
    """What is launched, from a SPEC or from the cells of a recorded row."""

    def __init__(self, mode, order, layout, size, tile, warps, stages):
        self.mode, self.order, self.layout = mode, order, layout
        self.size, self.tile = [int(x) for x in size[:3]], [int(x) for x in tile]
        self.depth = int(size[3]) if len(size) > 3 else self.size[2]  # of the operands
        self.warps, self.stages = int(warps), int(stages)

    @classmethod
    def of_spec(cls, spec):
        mode, *order, layout, size, tile, warps, stages = spec.split(":")
        return cls(mode, ":".join(order), layout, size.split("x"), tile.split("x"), warps, stages)

    @classmethod
    def of_row(cls, row):
        return cls(row["mode"], row["order"], row["layout"], [row[x] for x in ("m", "n", "k")],
                   [row[x] for x in ("bm", "bn", "bk")], row["warps"], row["stages"])

    def grid(self):
        return [-(-size // tile) for size, tile in zip(self.size, self.tile)]

    def __str__(self):
        round_and_round = [self.depth] if self.depth != self.size[2] else []
        size, tile = ("x".join(map(str, x)) for x in (self.size + round_and_round, self.tile))
        return f"{self.mode}:{self.order}:{self.layout}:{size}:{tile}:{self.warps}:{self.stages}"


def table_of(launch):
    """row << 16 | column of each launch id."""
    rows, columns, _ = launch.grid()
    show = [os.environ.get("L2LENS", "l2lens"), "order", "show", launch.order, "--grid", f"{rows}x{columns}", "--csv", "-"]
    shown = subprocess.run(show, check=True, capture_output=True, text=True).stdout
    return [int(cell["row"]) << 16 | int(cell["column"]) for cell in csv.DictReader(io.StringIO(shown))]


def recorded_rows(file):
    """The launches of a file, each once. `random` is a shuffle that is not kept."""
    seen = {}
    with open(file, newline="") as lines:
        for row in csv.DictReader(lines):
            if row["order"] != "random":
                seen.setdefault(str(Launch.of_row(row)), row)
    return list(seen.values())


def rows(file, counted):
    """What `ncu` has counted of `again`, with the columns of the file."""
    with open(file, newline="") as lines:
        columns = next(csv.reader(lines))
    with open(counted, newline="") as lines:
        readings = list(csv.DictReader(line for line in lines if not line.startswith("==")))[1:]  # the first one has units
    launches = recorded_rows(file)
    if len(readings) != len(launches):
        sys.exit(f"{counted} has {len(readings)} launches, {file} {len(launches)}")
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    for launch, reading in zip(launches, readings):
        counters = {name: reading[name].replace(",", "") for name in columns if "__" in name and name in reading}
        rate = "lts__t_sector_hit_rate.pct"
        if float(counters[rate]) > 100:  # its parts are of different replays
            counters[rate] = ""
        writer.writerow({name: launch[name] for name in KEYS if name in columns} | counters)


@triton.jit
def one_tile(a, b, c, stamps, table, tile, began, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
             A_BY_M: tl.constexpr, B_BY_N: tl.constexpr, STAGES: tl.constexpr, ROUND: tl.constexpr, STAMP: tl.constexpr):
    place = tl.load(table + tile)
    tm, tn = place >> 16, place & 0xFFFF
    accumulator = tl.zeros((BM, BN), dtype=tl.float32)
    for step in tl.range(0, steps, num_stages=STAGES):
        k = step & (ROUND - 1) if ROUND else step
        of_a = a.load([tm * BM, k * BK]) if A_BY_M else a.load([k * BK, tm * BM]).T
        of_b = b.load([tn * BN, k * BK]).T if B_BY_N else b.load([k * BK, tn * BN])
        accumulator = tl.dot(of_a, of_b, accumulator)
    if STAMP:
        math_end = globaltimer()
    c.store([tm * BM, tn * BN], accumulator.to(tl.bfloat16))
    if STAMP:
        tl.store(stamps + tile * 4, began)
        tl.store(stamps + tile * 4 + 1, math_end)
        tl.store(stamps + tile * 4 + 2, globaltimer())
        tl.store(stamps + tile * 4 + 3, smid().to(tl.int64))


@triton.jit
def gemm(a, b, c, stamps, table, counter, tiles, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
         A_BY_M: tl.constexpr, B_BY_N: tl.constexpr, STAGES: tl.constexpr, ROUND: tl.constexpr, MODE: tl.constexpr,
         STAMP: tl.constexpr):
    began = globaltimer()
    pid = tl.program_id(0)
    if MODE == "grid":
        one_tile(a, b, c, stamps, table, pid, began, steps, BM, BN, BK, A_BY_M, B_BY_N, STAGES, ROUND, STAMP)
    elif MODE == "static":
        for tile in tl.range(pid, tiles, tl.num_programs(0)):
            one_tile(a, b, c, stamps, table, tile, globaltimer(), steps, BM, BN, BK, A_BY_M, B_BY_N, STAGES, ROUND, STAMP)
    else:
        tile = tl.atomic_add(counter, 1)
        while tile < tiles:
            one_tile(a, b, c, stamps, table, tile, globaltimer(), steps, BM, BN, BK, A_BY_M, B_BY_N, STAGES, ROUND, STAMP)
            tile = tl.atomic_add(counter, 1)


def mean_and_deviation(values):
    values = values.double()
    return f"{values.mean():.0f} +- {values.std(correction=0):.0f} ns"


def run(launch, times, writer=None):
    m, n, k = launch.size
    depth = launch.depth
    bm, bn, bk = launch.tile
    by_m, by_n = launch.layout[0] == "t", launch.layout[1] == "n"

    def operand(size, tile, by_rows):
        shape, box = ([size, depth], [tile, bk]) if by_rows else ([depth, size], [bk, tile])
        tensor = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
        return tensor if by_rows else tensor.T, TensorDescriptor(tensor, shape, [shape[1], 1], box)

    a, box_of_a = operand(m, bm, by_m)
    b, box_of_b = operand(n, bn, by_n)
    c = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
    box_of_c = TensorDescriptor(c, [m, n], [n, 1], [bm, bn])
    table = torch.tensor(table_of(launch), device="cuda", dtype=torch.int32)
    tiles, steps = len(table), launch.grid()[2]
    stamps = torch.zeros((tiles, STAMPS), device="cuda", dtype=torch.int64)
    counter = torch.zeros(1, device="cuda", dtype=torch.int32)
    flush = torch.empty(256 << 20, device="cuda", dtype=torch.uint8) if writer else None
    milliseconds = []
    for _ in range(times):
        if writer:
            flush.zero_()
        counter.zero_()
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        kernel = gemm[(tiles if launch.mode == "grid" else SMS,)](
            box_of_a, box_of_b, box_of_c, stamps, table, counter, tiles, steps, bm, bn, bk, by_m, by_n, launch.stages,
            depth // bk if depth != k else 0, launch.mode, writer is not None, num_warps=launch.warps, num_stages=launch.stages)
        end.record()
        torch.cuda.synchronize()
        milliseconds.append(round(begin.elapsed_time(end), 3))
    rows = slice(0, 256)
    wrong = (c[rows].float() - k / depth * (a[rows].float() @ b.float().T)).abs().max().item()
    print(f"{launch}: ms {milliseconds}, {kernel.n_regs} registers, {kernel.metadata.shared} B shared, error {wrong:.3g}",
          file=sys.stderr)
    if not writer:
        return
    stamps = stamps.cpu()
    times = stamps[:, :3] - stamps[:, 0].min()
    print(f"  math {mean_and_deviation(times[:, 1] - times[:, 0])}, epilogue {mean_and_deviation(times[:, 2] - times[:, 1])}")
    for tile in range(tiles):
        writer.writerow([f"{launch.order}_{launch.mode}", tile, int(stamps[tile, 3]), int(times[tile, 0]), int(times[tile, 2])])


def main():
    match sys.argv[1:]:
        case ["schedules", name, *specs] if specs:
            with open(name, "w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(["run", "launch_id", "sm", "start_ns", "end_ns"])
                for spec in specs:
                    run(Launch.of_spec(spec), 4, writer)  # the first one compiles; the last one's stamps stay
        case ["launch", *specs] if specs:
            for spec in specs:
                run(Launch.of_spec(spec), 2)
        case ["again", name]:
            for row in recorded_rows(name):
                run(Launch.of_row(row), 1)
        case ["rows", name, counted]:
            rows(name, counted)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
