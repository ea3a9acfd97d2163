// SPDX-License-Identifier: Apache-2.0
// How evenly the address hash spreads a launch's requests over the slices.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "baseline/baseline.hpp"

namespace l2lens {
namespace {

// Counts whole lines by slice. Rows that follow each other in memory are one run: of whole pages the slices
// are known at once.
class RunCounter {
public:
    RunCounter(const AddressMap& map, std::vector<std::int64_t>& sectors) : map_(map), sectors_(sectors) {}

    void add(LineNumber line, std::uint32_t lines) {
        if (line != first_ + lines_) {
            count();
            first_ = line;
        }
        lines_ += lines;
    }
    // What was added last.
    void count() {
        map_.for_each_lane(first_, std::exchange(lines_, 0), [this](int lane, std::uint32_t n) {
            sectors_[static_cast<std::size_t>(lane)] += static_cast<std::int64_t>(n) * kSectorsPerLine;
        });
    }

private:
    const AddressMap& map_;
    std::vector<std::int64_t>& sectors_;
    LineNumber first_ = 0;
    std::uint32_t lines_ = 0;
};

const Tensor& tensor_of(const Work& work, const BoxWalk& walk) {
    return work.kernel().tensors[static_cast<std::size_t>(walk.tensor)];
}

// Walks whose boxes stand side by side, as those of C do in a row of tiles: the first of them, and the width
// of all boxes together; 0 for a walk by itself.
struct Panel {
    std::int32_t walk;
    std::int64_t width;
};

// All steps of a walk as one box of whole lines, if they are one.
std::optional<BoxWalk> whole_box(const Work& work, std::int32_t id) {
    const BoxWalk& walk = work.walk(id);
    const Tensor& tensor = tensor_of(work, walk);
    std::optional<BoxWalk> all = joined_steps(tensor, walk, 0, work.walk_steps(id));
    if (all && !has_whole_rows(tensor, *all, 0)) all.reset();
    return all;
}

bool stands_right_of(const BoxWalk& box, const BoxWalk& next, std::size_t inner) {
    for (std::size_t d = 0; d < inner; ++d) {
        if (box.start[d] != next.start[d] || box.extent[d] != next.extent[d]) return false;
    }
    return box.start[inner] + box.extent[inner] == next.start[inner];
}

// Of whole rows of tiles the slices are known page by page, of a tile's rows one by one.
std::vector<Panel> panels_of(const Work& work) {
    struct Open {
        BoxWalk box;
        std::int64_t uses = 0;
        std::size_t panel = 0;
    };
    std::vector<Open> open(work.kernel().tensors.size());
    std::vector<Panel> panels;
    for (std::size_t w = 0; w < work.walks(); ++w) {
        const auto id = static_cast<std::int32_t>(w);
        const std::optional<BoxWalk> box = whole_box(work, id);
        if (!box) {
            panels.push_back({id, 0});
            continue;
        }
        const auto inner = static_cast<std::size_t>(tensor_of(work, *box).rank - 1);
        Open& last = open[static_cast<std::size_t>(box->tensor)];
        if (last.uses == work.walk_uses(id) && stands_right_of(last.box, *box, inner)) {
            panels[last.panel].width = last.box.extent[inner] += box->extent[inner];
            continue;
        }
        last = {*box, work.walk_uses(id), panels.size()};
        panels.push_back({id, box->extent[inner]});
    }
    return panels;
}

// Adds the lines of a box of whole lines; false, and nothing added, when it is none.
bool add_whole_rows(const Work& work, const AddressMap& map, const BoxWalk& box, std::int64_t step,
                    std::vector<std::int64_t>& sectors) {
    RunCounter runs(map, sectors);
    const bool whole =
        for_each_whole_row(tensor_of(work, box), box, step,
                           [&runs](LineNumber line, std::uint32_t lines) { runs.add(line, lines); });
    runs.count();
    return whole;
}

// Adds the sectors of all requests of a panel's walks, made once, to those of the slices.
void add_panel(const Work& work, const AddressMap& map, const Panel& panel,
               std::vector<std::int64_t>& sectors) {
    const BoxWalk& walk = work.walk(panel.walk);
    const Tensor& tensor = tensor_of(work, walk);
    const std::int64_t steps = work.walk_steps(panel.walk);
    if (panel.width > 0) {
        BoxWalk all = *joined_steps(tensor, walk, 0, steps);
        all.extent[static_cast<std::size_t>(tensor.rank - 1)] = panel.width;
        add_whole_rows(work, map, all, 0, sectors);
        return;
    }
    for (std::int64_t k = 0; k < steps; ++k) {
        if (add_whole_rows(work, map, walk, k, sectors)) continue;
        for_each_line(tensor, walk, k, [&](const LineRequest& request) {
            sectors[static_cast<std::size_t>(map.lane(request.line))] += __builtin_popcount(request.sectors);
        });
    }
}

}  // namespace

std::vector<double> requested_per_slice(const Work& work, const AddressMap& map, Executor& executor) {
    const auto lanes = static_cast<std::size_t>(map.lanes());
    const std::vector<Panel> panels = panels_of(work);
    // Any number of panels a thread; each share has sums of its own, and integers add up to the same in any
    // order.
    constexpr std::size_t kMostShares = 64;
    const std::size_t shares = std::min(panels.size(), kMostShares);
    std::vector<std::vector<std::int64_t>> sectors(shares);
    executor.for_each(shares, [&](std::size_t share) {
        std::vector<std::int64_t> sum(lanes, 0), once(lanes);
        for (std::size_t p = share; p < panels.size(); p += shares) {
            std::fill(once.begin(), once.end(), 0);
            add_panel(work, map, panels[p], once);
            for (std::size_t lane = 0; lane < lanes; ++lane)
                sum[lane] += once[lane] * work.walk_uses(panels[p].walk);
        }
        sectors[share] = std::move(sum);
    });
    std::vector<std::int64_t> all(lanes, 0);
    for (const std::vector<std::int64_t>& sum : sectors)
        for (std::size_t lane = 0; lane < lanes; ++lane) all[lane] += sum[lane];
    return {all.begin(), all.end()};
}

double max_over_mean(std::span<const double> loads) {
    double sum = 0;
    for (const double load : loads) sum += load;
    return sum > 0 ? *std::max_element(loads.begin(), loads.end()) * static_cast<double>(loads.size()) / sum
                   : 1.0;
}

}  // namespace l2lens
