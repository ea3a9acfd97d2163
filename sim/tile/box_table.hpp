// SPDX-License-Identifier: Apache-2.0
// The boxes of a kernel as dense numbers, for an engine that moves a whole box at a time. Boxes that many
// CTAs load are one number, boxes of the same size one shape, and boxes of the same lines (two half-line
// boxes side by side) one region: what the L2 holds. Made once per kernel and read by all its orders.
//
// Steps that a StepUnits takes as one make one box here: all their lines, the last step's following the first
// one's at the pace of the math between them.
//
// Approximate where boxes of different shapes cover the same lines: they are held and fetched once each.
// Boxes that follow each other in a walk and share lines (rows that are no multiple of 128 B) are not: a box
// knows how much of it the one before has brought.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/executor.hpp"
#include "machine/machine.hpp"
#include "memory/address_map.hpp"
#include "schedule/work.hpp"

#include "tile/recency.hpp"
#include "tile/step_units.hpp"

namespace l2lens {

inline constexpr int kMostHomes = 2;  // partitions that the tile engine knows
inline constexpr std::uint32_t kNoRegion = 0xFFFFFFFF;

// The lines of a box that have one home.
struct BoxPart {
    std::uint32_t requests = 0;      // of lines
    std::uint32_t sectors = 0;       // asked for, or written
    std::uint32_t partial = 0;       // of a store: not wholly written, and fetched if absent
    std::uint32_t lines = 0;         // that its region adds to the one before: what it takes of the L2
    std::uint32_t missed = 0;        // sectors asked for and missed when nothing of it is there
    std::uint32_t fetched = 0;       // and what comes for them
    std::uint32_t missed_after = 0;  // the same when the region before is there
    std::uint32_t fetched_after = 0;

    friend bool operator==(const BoxPart&, const BoxPart&) = default;
};

struct BoxShape {
    std::array<BoxPart, kMostHomes> part;
    std::uint32_t requests = 0;  // of both
    std::uint32_t sectors = 0;
    std::uint32_t steps = 1;  // that it is the boxes of
    double math_flops = 0;    // between two of them; 0 for one step
    double math_cycles = 0;
    bool shifted = false;  // most of its rows begin inside a sector: its requests are not merged
    bool stored = false;   // goes out with its data

    friend bool operator==(const BoxShape&, const BoxShape&) = default;
};

struct Box {
    std::uint32_t id = 0;
    std::uint32_t region = 0;
    std::uint32_t before = kNoRegion;  // that of the step before, when they share lines
    std::uint32_t shape = 0;
};

class BoxTable {
public:
    // Throws BadInput for a machine of more than kMostHomes partitions. Walks are expanded on all threads.
    BoxTable(const Machine& machine, const Work& work, const AddressMap& map, Executor& executor,
             const StepUnits& units = {});

    const StepUnits& units() const { return units_; }

    // The box of unit u of a walk: of its step u, when every step is a unit.
    const Box& box(std::int32_t walk, std::int64_t u) const {
        return box_of_unit_[first_unit_[static_cast<std::size_t>(walk)] + static_cast<std::size_t>(u)];
    }
    // A walk's whole demand.
    struct Totals {
        std::uint64_t requests = 0;
        std::uint64_t sectors = 0;
    };
    const Totals& totals(std::int32_t walk) const { return totals_[static_cast<std::size_t>(walk)]; }
    // Of all CTAs.
    struct Traffic {
        double read_requests = 0;
        double read_sectors = 0;
        double write_requests = 0;
    };
    const Traffic& traffic() const { return traffic_; }
    // Who receives a walk's boxes, and do they move by TMA?
    struct Cast {
        std::uint8_t receivers = 1;
        std::uint8_t axis = 0;
        bool by_tma = false;
    };
    Cast cast(std::int32_t walk) const { return casts_[static_cast<std::size_t>(walk)]; }

    const Box& at(std::uint32_t box) const { return boxes_[box]; }
    const BoxShape& shape(const Box& box) const { return shapes_[box.shape]; }
    std::span<const BoxShape> shapes() const { return shapes_; }

    std::size_t boxes() const { return boxes_.size(); }
    std::size_t regions() const { return regions_; }
    const std::array<double, kSetClasses>& set_fullness() const { return fullness_; }

private:
    void count_traffic(const Work& work, std::int32_t walk);

    StepUnits units_;
    std::vector<std::size_t> first_unit_;  // of a walk, into box_of_unit_
    std::vector<Box> box_of_unit_;  // of all walks, one after another: a copy, that a load finds it at once
    std::vector<Totals> totals_;
    Traffic traffic_;
    std::vector<Cast> casts_;
    std::vector<Box> boxes_;
    std::vector<BoxShape> shapes_;
    std::size_t regions_ = 0;
    std::array<double, kSetClasses> fullness_{};
};

}  // namespace l2lens
