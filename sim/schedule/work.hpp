// SPDX-License-Identifier: Apache-2.0
// A kernel made ready to run: each CTA's program as a few numbers, and each distinct box walk expanded, once,
// to the lines of the simulated lanes. Tiles of one row load the same boxes, so there are far fewer walks
// than CTAs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "kernel/box_lines.hpp"
#include "kernel/kernel.hpp"
#include "memory/address_map.hpp"
#include "memory/messages.hpp"

namespace l2lens {

class DenseIds;

// Which lanes of the L2 are simulated: `count` of them, evenly spaced.
class LaneSample {
public:
    LaneSample(int lanes, int count);

    int count() const { return count_; }
    double factor() const { return static_cast<double>(index_.size()) / count_; }  // lines per simulated line
    int index(int lane) const { return index_[static_cast<std::size_t>(lane)]; }   // -1: not simulated
    int lane(int index) const { return lanes_[static_cast<std::size_t>(index)]; }

private:
    int count_;
    std::vector<std::int16_t> index_;
    std::vector<int> lanes_;
};

// When the L2 gives up what was accessed with a hint: before other lines, with them or after them.
SectorCache::Priority priority_of(CacheHint hint);

// A line of a box that lies in a simulated lane.
struct PlacedLine {
    LineNumber line;
    LinePlace place;
    std::uint16_t position;  // in the box's issue order, all lines counted
    std::uint8_t lane;       // index in the sample
    SectorMask sectors : 4;
    SectorMask partial : 4;  // as in LineAccess; a reduction's is all of it
};
static_assert(sizeof(PlacedLine) == 12);

// The boxes of one walk.
struct WalkLines {
    std::vector<PlacedLine> lines;        // all steps, one after another
    std::vector<std::uint32_t> first;     // of step k: [first[k], first[k+1])
    std::vector<std::uint32_t> requests;  // per step, all lanes
    std::vector<std::uint32_t> sectors;   // per step, all lanes

    std::span<const PlacedLine> step(std::int64_t k) const {
        const auto i = static_cast<std::size_t>(k);
        return {lines.data() + first[i], first[i + 1] - first[i]};
    }
};

class Work {
public:
    Work(const Kernel& kernel, const AddressMap& map, const LaneSample& sample);

    struct Phase {
        std::int64_t count = 0;
        double math_flops = 0;
        double math_cycles = 0;
        std::uint32_t first_load = 0;  // into walk_ids_
        std::uint32_t first_store = 0;
        std::uint32_t end = 0;

        bool has_math() const { return math_flops > 0 || math_cycles > 0; }
        bool only_stores() const { return first_load == first_store && !has_math(); }
    };

    const Kernel& kernel() const { return kernel_; }
    bool has_plain_loads() const { return plain_loads_; }  // through the L1
    std::span<const Phase> program(std::int32_t tile) const;
    std::int64_t steps(std::int32_t tile) const { return steps_[static_cast<std::size_t>(tile)]; }

    // Ids of the walks of a phase.
    std::span<const std::int32_t> loads(const Phase& phase) const {
        return {walk_ids_.data() + phase.first_load, phase.first_store - phase.first_load};
    }
    std::span<const std::int32_t> stores(const Phase& phase) const {
        return {walk_ids_.data() + phase.first_store, phase.end - phase.first_store};
    }

    // A walk's lines are there from acquire() of a CTA that uses it until the last such CTA has released it.
    // Both are called between windows, by one thread.
    void acquire(std::int32_t tile);
    void release(std::int32_t tile);
    const WalkLines& lines(std::int32_t walk) const { return lines_[static_cast<std::size_t>(walk)]; }
    const BoxWalk& walk(std::int32_t walk) const { return *walks_[static_cast<std::size_t>(walk)].box; }

    std::size_t walks() const { return walks_.size(); }
    bool walk_stores(std::int32_t walk) const { return walks_[static_cast<std::size_t>(walk)].store; }
    std::int64_t walk_steps(std::int32_t walk) const { return walks_[static_cast<std::size_t>(walk)].count; }
    // CTAs that move the walk's boxes.
    std::int64_t walk_uses(std::int32_t walk) const { return walks_[static_cast<std::size_t>(walk)].uses; }
    // Of all steps, clipped to the tensor.
    double walk_bytes(std::int32_t walk) const { return walks_[static_cast<std::size_t>(walk)].bytes; }

private:
    struct Walk {
        const BoxWalk* box;
        std::int64_t count;
        bool store;
        double bytes = 0;           // of all steps
        std::int64_t uses = 0;      // CTAs that move these boxes
        std::int64_t released = 0;  // by how many of them
        bool expanded = false;
    };

    std::int32_t intern(DenseIds& ids, const BoxWalk& box, std::int64_t count, bool store);
    void expand(std::int32_t walk);

    const Kernel& kernel_;
    const AddressMap& map_;
    const LaneSample& sample_;
    bool plain_loads_ = false;
    std::vector<Phase> phases_;
    std::vector<std::uint32_t> first_phase_;  // of a tile
    std::vector<std::int64_t> steps_;
    std::vector<std::int32_t> walk_ids_;
    std::vector<Walk> walks_;
    std::vector<WalkLines> lines_;
};

}  // namespace l2lens
