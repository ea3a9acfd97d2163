// SPDX-License-Identifier: Apache-2.0
// When the rows of TMA boxes land that one SM asks for one right after the other.
#pragma once

#include <cstdint>
#include <vector>

namespace l2lens::gpu {

inline constexpr int kMaxBoxes = 4;
inline constexpr int kMaxBoxRows = 256;
inline constexpr int kWatchedRows = 6;  // of each box, evenly spread from the first to the last

inline int watched_row(int box_rows, int watched) {
    return (box_rows - 1) * watched / (kWatchedRows - 1);
}

enum class BoxKind {
    Resident,  // is loaded, and the L2 has it
    Missing,   // is loaded, and only its pages are known
    Stored,    // is written, to where the L2 has it
};

// Boxes of `rows` x 128 B, rows 16 KiB apart, in the order in which they are asked for.
struct TimedBoxes {
    int rows = 0;
    std::vector<BoxKind> kinds;
    bool own_warps = false;  // each is asked for by a warp of its own, all at once; else by one thread
};

// [box][watched row][round]: SM cycles from when the boxes are asked for until the row's data is in shared
// memory; each row is watched in `rounds` of its own, those of stored boxes not at all (0). SM 0 works alone.
// The buffer holds `bytes` of zeros.
std::vector<std::vector<std::vector<double>>> time_boxes(void* buffer, std::int64_t bytes, int sms,
                                                         int rounds, const TimedBoxes& boxes);

}  // namespace l2lens::gpu
