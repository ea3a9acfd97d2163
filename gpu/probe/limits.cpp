// SPDX-License-Identifier: Apache-2.0
// What the driver says about an SM.
#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {

void probe_limits(ProbeBench& bench) {
    const cudaDeviceProp& p = bench.properties();
    const std::string source = "the driver's device properties";
    auto kib = [](std::size_t bytes) { return std::to_string(bytes / 1024); };
    bench.found("sm.shared_memory", kib(p.sharedMemPerMultiprocessor), source);
    bench.found("sm.shared_memory_per_cta", kib(p.sharedMemPerBlockOptin), source);
    bench.found("sm.shared_memory_reserved", kib(p.reservedSharedMemPerBlock), source);
    bench.found("sm.registers", std::to_string(p.regsPerMultiprocessor), source);
    bench.found("sm.threads", std::to_string(p.maxThreadsPerMultiProcessor), source);
    bench.found("sm.ctas", std::to_string(p.maxBlocksPerMultiProcessor), source);
    bench.found("clock.sm_max", bench.sm_ghz(), "the driver's device properties");
    bench.missing("sm.tensor_16bit, tensor_8bit, tensor_tf32: documented per chip");
    bench.missing("clock.power_base, power_slope: need minutes of load at several powers");
}

}  // namespace l2lens::gpu
