// SPDX-License-Identifier: Apache-2.0
// What the parts of a probe work with: the GPU's memory, its counters, and what earlier parts found. Private
// to gpu/probe.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/counters/counter_session.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/flush.hpp"
#include "gpu/probe/kernels.hpp"
#include "gpu/probe/parity.hpp"
#include "gpu/probe/report.hpp"

namespace l2lens::gpu {

using Counters = std::map<std::string, double>;

// "1.706", without trailing zeros.
std::string decimal(double value, int digits = 3);

class ProbeBench {
public:
    ProbeBench();

    const cudaDeviceProp& properties() const { return properties_; }
    int sms() const { return properties_.multiProcessorCount; }
    double sm_ghz() const { return sm_ghz_; }  // highest
    bool has_clusters() const { return properties_.major >= 9; }

    // Zeros, 32 MiB aligned.
    char* buffer() const { return buffer_; }
    std::int64_t buffer_bytes() const { return kBufferBytes; }
    void flush() const { flush_l2(flush_.get(), static_cast<std::int64_t>(flush_.bytes())); }

    // Counters of what launch() enqueues, after prepare(); absent ones are not in the map.
    Counters count(const std::function<void()>& launch, const std::function<void()>& prepare);

    ProbeReport report;

    // Findings that later parts need.
    std::vector<std::vector<int>> gpcs;  // SM ids
    std::vector<int> partition_of_sm;    // empty: one partition
    std::vector<bool> far_from_sm0;      // per 4 KiB chunk of the first `far_from_sm0.size()` chunks
    int slices = 0;                      // active, all partitions
    double l2_ghz = 0;
    int partitions() const { return partition_of_sm.empty() ? 1 : 2; }
    std::vector<int> sms_of_partition(int partition) const;

    // Memory that is not given back before the bench ends: the driver overwrites what it gets, 120 GB in some
    // 0.3 s, and readers of DRAM get an eighth less meanwhile.
    DeviceBuffer<char> kept;

    void found(const std::string& key, const std::string& value, const std::string& source,
               Confidence confidence = Confidence::Measured) {
        report.readings.push_back({key, value, source, confidence});
    }
    void found(const std::string& key, double value, const std::string& source,
               Confidence confidence = Confidence::Measured);
    // A lower bound.
    void at_least(const std::string& key, double value, const std::string& source) {
        report.readings.push_back({key, decimal(value), source, Confidence::Measured, true});
    }
    void missing(const std::string& what) { report.undetermined.push_back(what); }
    void note(const std::string& what) { report.notes.push_back(what); }

private:
    static constexpr std::int64_t kBufferBytes = std::int64_t{1} << 30;
    cudaDeviceProp properties_{};
    double sm_ghz_ = 0;
    DeviceBuffer<char> memory_;
    char* buffer_ = nullptr;
    DeviceBuffer<char> flush_;
    std::unique_ptr<CounterSession> session_;
};

// Requests per sector that reaches the L2 when these SMs read the same missing lines at the same time; 1 when
// the chip does not merge, or has no counters for it.
double merge_factor(ProbeBench& bench, const std::vector<int>& sms);

// The parts, in the order they must run.
void probe_limits(ProbeBench& bench);
void probe_topology(ProbeBench& bench);
void probe_home(ProbeBench& bench);
void probe_caches(ProbeBench& bench);
void probe_coalescer(ProbeBench& bench);
void probe_latency(ProbeBench& bench);
void probe_bandwidth(ProbeBench& bench);
void probe_launch(ProbeBench& bench);

// Those up to probe_home(), for who needs both sides of the L2: throws Unavailable where there is one.
void probe_sides(ProbeBench& bench);

}  // namespace l2lens::gpu
