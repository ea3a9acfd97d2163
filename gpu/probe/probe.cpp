// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/probe.hpp"

#include <chrono>

#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {

ProbeReport probe_gpu(const std::function<void(const std::string&)>& progress) {
    const auto start = std::chrono::steady_clock::now();
    ProbeBench bench;
    struct Part {
        const char* what;
        void (*run)(ProbeBench&);
    };
    constexpr Part kParts[] = {
        {"limits of an SM", probe_limits},        {"GPCs and dispatch order", probe_topology},
        {"partitions and home hash", probe_home}, {"slices and capacity", probe_caches},
        {"request coalescer", probe_coalescer},   {"latencies", probe_latency},
        {"bandwidths", probe_bandwidth},          {"launch gaps", probe_launch},
    };
    for (const Part& part : kParts) {
        if (progress) progress(part.what);
        part.run(bench);
    }
    bench.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(bench.report);
}

}  // namespace l2lens::gpu
