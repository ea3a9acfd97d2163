// SPDX-License-Identifier: Apache-2.0
// What a trace says about itself, as JSON: at its head where it came from and what its records refer to, at
// its end what the run added up to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"

namespace l2lens {

enum class RecordKind : std::uint8_t { Box, Line };

struct TraceHeader {
    std::string version;  // of the l2lens that wrote it, "" when it was another program
    RecordKind kind = RecordKind::Line;
    std::string kernel;
    std::string title;
    std::vector<std::pair<std::string, std::string>> params;
    std::string order;
    std::string mode;
    std::string gpu;  // "" when no GPU is known
    std::uint64_t gpu_hash = 0;
    int lanes = 0;     // of the L2 that were simulated; 0 of 0: all, whatever the GPU
    int lanes_of = 0;  // that the GPU has
    std::uint64_t seed = 0;
    std::uint64_t fences = 0;     // of GPU scope, of the whole launch (schedule/fences.hpp)
    std::vector<Tensor> tensors;  // box traces
    std::uint32_t walks = 0;      // box traces

    bool sampled() const { return lanes < lanes_of; }
};

struct TraceEnd {
    bool complete = true;  // false: the recording stopped at its largest size
    std::uint64_t records = 0;
    std::uint64_t sectors = 0;  // that the SMs asked for and wrote, over all lanes
};

inline constexpr std::size_t kLargestTraceHeader = std::size_t{16} << 20;

// One line of JSON.
std::string header_json(const TraceHeader& header);
std::string end_json(const TraceEnd& end);

// Throws BadInput, beginning with `where`, for whatever is missing, of another type or out of range.
TraceHeader parse_header_json(std::string_view text, const std::string& where);
TraceEnd parse_end_json(std::string_view text, const std::string& where);

}  // namespace l2lens
