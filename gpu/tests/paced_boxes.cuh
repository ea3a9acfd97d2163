// SPDX-License-Identifier: Apache-2.0
// Boxes that SMs ask for at a given pace, however long the ones before take: one thread of an SM asks for
// them, another one sees them come. What several recorders time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include <cuda.h>

#include "gpu/device_buffer.hpp"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/mix.cuh"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/row_boxes.cuh"

namespace l2lens::gpu::paced_boxes {

inline constexpr int kBoxesOfPage = row_boxes::kColumns / row_boxes::kBoxColumns;

inline constexpr int kMostInFlight = 8;
inline constexpr int kUntimed = kBoxesOfPage;  // before the others
inline constexpr int kTimed = 8 * kBoxesOfPage;
inline constexpr int kBoxes = kUntimed + kTimed;
inline constexpr int kPages = kBoxes / kBoxesOfPage;  // of an SM

struct Pacing {
    const int* first_cycle;  // by role: when its first box is due
    int readers;
    int boxes_across;
    bool rows_go_on;     // after boxes_across boxes there are new rows; else the same again
    int in_flight;       // no box is asked for while so many are under way
    int period;          // SM cycles from one box to the next
    int spread;          // and as many later at most, as it comes
    float* cycles;       // [role][kTimed]
    long long* each_ns;  // [role][kTimed]: when it is asked for, by the GPU's timer
    long long* ask_ns;   // by role: when its first timed box is asked for
    long long* end_ns;   // by role: when its last box is there
};

// In shared memory, between the two threads of an SM.
struct Ring {
    std::uint64_t full[kMostInFlight];
    volatile long long asked[kMostInFlight];  // the cycle
    volatile int landed;                      // boxes
};

// Of dynamic shared memory: where boxes may come.
__device__ inline std::uint32_t place_of_boxes(const std::uint8_t* raw) {
    return (hopper::shared_address(raw) + row_boxes::kAlignment - 1) / row_boxes::kAlignment *
           row_boxes::kAlignment;
}

// One thread of each participant: the cycle at which all of them begin.
__device__ inline long long begin_together(Ring& ring, Meeting* meeting, int role, int participants) {
    for (std::uint64_t& barrier : ring.full) hopper::barrier_init(hopper::shared_address(&barrier), 1);
    hopper::barrier_init_fence();
    ring.landed = 0;
    const long long start = meet(meeting, role, participants);
    while (global_timer() < start) {
    }
    return clock64();
}

// Boxes of `bytes`, into slots that begin at `to`.
__device__ inline void ask(const Pacing& pacing, const CUtensorMap* boxes, std::uint32_t bytes, int role,
                           std::uint32_t to, Ring& ring, long long begin) {
    for (int i = 0; i < kBoxes; ++i) {
        while (i - ring.landed >= pacing.in_flight) {
        }
        // The upper half of a product: a remainder takes so long that boxes of 450 ns and less came late.
        const std::uint64_t random = mix(static_cast<std::uint64_t>(role * kBoxes + i)) >> 32;
        const auto later = static_cast<long long>(random * static_cast<std::uint64_t>(pacing.spread) >> 32);
        const long long due =
            begin + pacing.first_cycle[role] + static_cast<long long>(i) * pacing.period + later;
        // Before the time is noted: it takes 0.1 us.
        const int page = pacing.rows_go_on ? i / pacing.boxes_across : 0;
        while (clock64() < due) {
        }
        if (i == kUntimed) pacing.ask_ns[role] = global_timer();
        if (i >= kUntimed) pacing.each_ns[role * kTimed + i - kUntimed] = global_timer();
        const int slot = i % kMostInFlight;
        const std::uint32_t barrier = hopper::shared_address(&ring.full[slot]);
        hopper::barrier_expect_bytes(barrier, bytes);
        ring.asked[slot] = clock64();
        hopper::load_box(boxes, to + static_cast<std::uint32_t>(slot) * row_boxes::kBoxBytes, barrier,
                         i % pacing.boxes_across * row_boxes::kBoxColumns,
                         (page * pacing.readers + role) * row_boxes::kBoxRows);
    }
}

__device__ inline void watch(const Pacing& pacing, int role, Ring& ring) {
    for (int i = 0; i < kBoxes; ++i) {
        const int slot = i % kMostInFlight;
        hopper::barrier_wait(hopper::shared_address(&ring.full[slot]),
                             static_cast<std::uint32_t>(i / kMostInFlight & 1));
        const auto cycles = static_cast<float>(clock64() - ring.asked[slot]);
        if (i >= kUntimed) pacing.cycles[role * kTimed + i - kUntimed] = cycles;
        ring.landed = i + 1;
    }
    pacing.end_ns[role] = global_timer();
}

// What readers leave in device memory: see Pacing.
struct Times {
    explicit Times(std::size_t readers)
        : cycles(readers * kTimed), each_ns(readers * kTimed), ask_ns(readers), end_ns(readers) {}

    // From the first timed box that is asked for until the last one is there.
    long long lasted_ns() const {
        const std::vector<long long> from = ask_ns.to_host(), until = end_ns.to_host();
        return *std::max_element(until.begin(), until.end()) - *std::min_element(from.begin(), from.end());
    }

    DeviceBuffer<float> cycles;
    DeviceBuffer<long long> each_ns, ask_ns, end_ns;
};

// Somewhere in a period, for each reader.
inline std::vector<int> random_first_cycles(std::size_t readers, int period) {
    std::mt19937 random(1);
    std::vector<int> first(readers);
    for (int& cycle : first) cycle = static_cast<int>(random() % static_cast<unsigned>(period));
    return first;
}

// The rest of a row: the mean and percentiles, in ns.
inline void print_times(std::vector<float> cycles, double ghz) {
    std::sort(cycles.begin(), cycles.end());
    const auto count = static_cast<double>(cycles.size());
    std::printf(",%.1f", std::accumulate(cycles.begin(), cycles.end(), 0.0) / count / ghz);
    for (const double share : {0.01, 0.1, 0.5, 0.9, 0.99})
        std::printf(",%.0f", cycles[static_cast<std::size_t>(share * (count - 1))] / ghz);
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace l2lens::gpu::paced_boxes
