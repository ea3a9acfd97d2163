// SPDX-License-Identifier: Apache-2.0
// Which elements of a matrix are written when, while a kernel that tells nothing of itself computes it.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/device_buffer.hpp"

namespace l2lens::gpu {

// A row-major matrix of 16-bit elements filled with `poison`; the first of every `step` x `step` elements is
// looked at.
struct WatchedMatrix {
    const std::uint16_t* data;
    std::int64_t rows, columns;
    int step;
    std::uint16_t poison;

    std::int64_t sample_rows() const { return rows / step; }
    std::int64_t sample_columns() const { return columns / step; }
    std::int64_t samples() const { return sample_rows() * sample_columns(); }
};

// From construction to stop(), occupies every SM but `free_sms`: `watchers` of them look at the matrix, the
// others only wait. What is launched meanwhile runs on the free SMs alone, one CTA (or cluster) after the
// other.
class TileWatch {
public:
    TileWatch(const WatchedMatrix& matrix, const std::vector<int>& free_sms, int watchers);
    ~TileWatch();
    TileWatch(const TileWatch&) = delete;
    TileWatch& operator=(const TileWatch&) = delete;

    // Lets the SMs go. When each sample lost its poison, in ns by the GPU's timer and row by row; 0: never.
    std::vector<std::int64_t> stop();

private:
    void* stream_ = nullptr;
    void* control_stream_ = nullptr;
    DeviceBuffer<int> state_;  // CTAs that have begun, and the order to stop
    DeviceBuffer<int> roles_;
    DeviceBuffer<std::int64_t> seen_ns_;
    bool stopped_ = false;
};

}  // namespace l2lens::gpu
