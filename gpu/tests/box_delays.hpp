// SPDX-License-Identifier: Apache-2.0
// How long TMA boxes take that one SM asks for one right after the other.
#pragma once

#include <cstdint>
#include <vector>

namespace l2lens::gpu {

inline constexpr int kMaxBoxes = 4;
inline constexpr int kMaxBoxRows = 256;

// Boxes of `rows` x 128 B, rows 16 KiB apart, in the order in which they are asked for.
struct TimedBoxes {
    int rows = 0;
    std::vector<bool> resident;  // of each: the L2 has it; else only its pages are known
    bool own_warps = false;      // each is asked for by a warp of its own, all at once; else by one thread
};

// [round][box]: SM cycles from the beginning of the round until the box has landed. SM 0 works alone. The
// buffer holds `bytes` of zeros.
std::vector<std::vector<double>> time_boxes(void* buffer, std::int64_t bytes, int sms, int rounds,
                                            const TimedBoxes& boxes);

}  // namespace l2lens::gpu
