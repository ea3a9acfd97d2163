// SPDX-License-Identifier: Apache-2.0
#include "schedule/work.hpp"

#include <algorithm>

#include "base/dense_ids.hpp"
#include "base/random.hpp"
#include "memory/service.hpp"

namespace l2lens {
namespace {

// A polynomial of the walk's numbers, at 2^64 over the golden ratio, mixed once: every tile's boxes are
// hashed.
std::uint64_t hash_of(const BoxWalk& box, std::int64_t count, bool store) {
    std::uint64_t h = static_cast<std::uint64_t>(box.tensor) * 2 + (store ? 1u : 0u);
    const auto add = [&](std::int64_t number) {
        h = h * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(number);
    };
    add(count);
    add(static_cast<std::int64_t>(box.hint) << 8 | (box.multicast * 2 + box.multicast_axis));
    for (const Index* index : {&box.start, &box.step, &box.extent}) {
        for (const std::int64_t i : *index) add(i);
    }
    return mix64(h);
}

// A load cannot be partial but for rows that TMA has to shift.
SectorMask partial_of(const LineRequest& request, bool store) {
    if (!store) return request.shifted ? request.sectors : SectorMask{0};
    return request.partial;
}

}  // namespace

SectorCache::Priority priority_of(CacheHint hint) {
    if (hint == CacheHint::EvictFirst) return SectorCache::Priority::EvictFirst;
    if (hint == CacheHint::EvictLast) return SectorCache::Priority::EvictLast;
    return SectorCache::Priority::Normal;
}

LaneSample::LaneSample(int lanes, int count) : count_(count), index_(static_cast<std::size_t>(lanes), -1) {
    for (int i = 0; i < count; ++i) {
        const int lane = static_cast<int>((2 * i + 1) * static_cast<std::int64_t>(lanes) / (2 * count));
        index_[static_cast<std::size_t>(lane)] = static_cast<std::int16_t>(i);
        lanes_.push_back(lane);
    }
}

Work::Work(const Kernel& kernel, const AddressMap& map, const LaneSample& sample)
    : kernel_(kernel), map_(map), sample_(sample) {
    DenseIds ids;
    first_phase_.push_back(0);
    for (const Program& program : kernel.programs) {
        std::int64_t steps = 0;
        for (const l2lens::Phase& phase : program.phases) {
            Phase p{phase.count,
                    phase.math_flops,
                    phase.math_cycles,
                    static_cast<std::uint32_t>(walk_ids_.size()),
                    0,
                    0};
            for (const BoxWalk& box : phase.loads) walk_ids_.push_back(intern(ids, box, phase.count, false));
            p.first_store = static_cast<std::uint32_t>(walk_ids_.size());
            for (const BoxWalk& box : phase.stores) walk_ids_.push_back(intern(ids, box, phase.count, true));
            p.end = static_cast<std::uint32_t>(walk_ids_.size());
            phases_.push_back(p);
            steps += phase.count;
        }
        steps_.push_back(steps);
        first_phase_.push_back(static_cast<std::uint32_t>(phases_.size()));
    }
    lines_.resize(walks_.size());
}

std::span<const Work::Phase> Work::program(std::int32_t tile) const {
    const auto i = static_cast<std::size_t>(tile);
    return {phases_.data() + first_phase_[i], first_phase_[i + 1] - first_phase_[i]};
}

std::int32_t Work::intern(DenseIds& ids, const BoxWalk& box, std::int64_t count, bool store) {
    const std::uint32_t id = ids.find_or_add(hash_of(box, count, store), [&](std::uint32_t other) {
        const Walk& walk = walks_[other];
        return walk.count == count && walk.store == store && *walk.box == box;
    });
    if (id == walks_.size()) {
        Walk& walk = walks_.emplace_back(Walk{&box, count, store});
        plain_loads_ = plain_loads_ || (!store && box.path == Path::Load);
        walk.bytes = l2lens::walk_bytes(kernel_.tensors[static_cast<std::size_t>(box.tensor)], box, count);
    }
    ++walks_[id].uses;
    return static_cast<std::int32_t>(id);
}

void Work::acquire(std::int32_t tile) {
    for (const Phase& phase : program(tile)) {
        for (std::uint32_t i = phase.first_load; i < phase.end; ++i) {
            if (!walks_[static_cast<std::size_t>(walk_ids_[i])].expanded) expand(walk_ids_[i]);
        }
    }
}

void Work::release(std::int32_t tile) {
    for (const Phase& phase : program(tile)) {
        for (std::uint32_t i = phase.first_load; i < phase.end; ++i) {
            const auto id = static_cast<std::size_t>(walk_ids_[i]);
            if (++walks_[id].released == walks_[id].uses) lines_[id] = WalkLines{};
        }
    }
}

void Work::expand(std::int32_t id) {
    Walk& walk = walks_[static_cast<std::size_t>(id)];
    WalkLines& out = lines_[static_cast<std::size_t>(id)];
    const Tensor& tensor = kernel_.tensors[static_cast<std::size_t>(walk.box->tensor)];
    std::vector<LineRequest> requests;
    out.first.push_back(0);
    for (std::int64_t k = 0; k < walk.count; ++k) {
        requests.clear();
        l2lens::expand(tensor, *walk.box, k, requests);
        std::uint32_t sectors = 0;
        for (const LineRequest& request : requests) {
            sectors += static_cast<std::uint32_t>(count(request.sectors));
            const int lane = sample_.index(map_.lane(request.line));
            if (lane < 0) continue;
            PlacedLine line{request.line,
                            map_.place(request.line),
                            request.position,
                            static_cast<std::uint8_t>(lane),
                            0,
                            0};
            line.sectors = request.sectors & kWholeLine;
            line.partial = partial_of(request, walk.store) & kWholeLine;
            out.lines.push_back(line);
        }
        out.first.push_back(static_cast<std::uint32_t>(out.lines.size()));
        out.requests.push_back(static_cast<std::uint32_t>(requests.size()));
        out.sectors.push_back(sectors);
    }
    out.lines.shrink_to_fit();
    walk.expanded = true;
}

}  // namespace l2lens
