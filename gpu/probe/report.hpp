// SPDX-License-Identifier: Apache-2.0
// What a probe found out, and the machine file it makes.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.hpp"

namespace l2lens::gpu {

// One parameter of a machine file, read off the GPU.
struct Reading {
    std::string key;    // "latency.fabric_request"
    std::string value;  // as TOML writes it, in the parameter's unit
    std::string source;
    Confidence confidence = Confidence::Measured;
    bool at_least = false;  // a lower bound: the hardware may do more than was asked of it
};

struct ProbeReport {
    std::string description;  // "NVIDIA H200"
    std::string chip;         // "GH100"
    std::vector<Reading> readings;
    std::vector<std::string> undetermined;  // "l2.ways: no counter shows it"
    std::vector<std::string> notes;         // cross-checks and what they gave
    double seconds = 0;

    const Reading* find(const std::string& key) const;
};

// A complete machine file: what the probe read, and the rest from `base`, marked as inferred from it. Where
// the probe has a lower bound only and the base is of the same chip, the base's value stands when it respects
// the bound. The key order is parameter_table()'s.
std::string machine_toml(const ProbeReport& report, const Machine& base);

}  // namespace l2lens::gpu
