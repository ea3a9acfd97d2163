// SPDX-License-Identifier: Apache-2.0
// The size people work at: an 8192^3 GEMM on a sample of the slices.
#include "parallel/tbb_executor.hpp"
#include "support/catch.hpp"

#include "trace_support.hpp"

using namespace l2lens;
using namespace l2lens::test;

TEST_CASE("The trace of an 8192^3 GEMM is small and replays to its events") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = load_kernel("gemm", {"m=8192", "n=8192", "k=8192"}, &machine);
    TbbExecutor executor;
    RunSpec spec;
    spec.order = "group_m:8";
    spec.lanes = 3;  // 1/16
    const Recorded recorded = record_run(machine, kernel, spec, executor);
    CHECK(recorded.trace.size() < 100'000'000);
    const auto reader = reader_of(recorded.trace);
    const ReplayResult replayed = replay(*reader, machine, {}, executor);
    CHECK(replayed.records == 64 * 64 * (128 * 2 + 1));  // tiles, steps, boxes of A and B, one of C
    CHECK(replayed.events == recorded.run.events);
    CHECK(replayed.scale == recorded.run.scale);
}
