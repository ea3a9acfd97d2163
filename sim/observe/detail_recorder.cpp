// SPDX-License-Identifier: Apache-2.0
#include "observe/detail_recorder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.hpp"
#include "memory/lane.hpp"
#include "memory/promotion.hpp"

namespace l2lens {
namespace {

// Lines whose reuse is followed, at most: spatially hashed sampling keeps miss-ratio curves of thousands of
// lines within a percent (SHARDS: Waldspurger et al., FAST '15).
constexpr double kWatchedLines = 16384;

double count(SectorMask sectors) {
    return std::popcount(static_cast<unsigned>(sectors));
}

}  // namespace

DetailRecorder::DetailRecorder(const Machine& machine, const KernelLines& lines, std::uint64_t seed,
                               bool cold)
    : machine_(machine),
      lines_(lines),
      cold_(cold),
      map_(machine, seed),
      timeline_([this] { return residency(); }),
      bins_(machine) {}

void DetailRecorder::begin(const Work& work, const LaneSample& sample) {
    work_ = &work;
    sample_.emplace(sample);
    count_panels();
    const std::vector<Tensor>& tensors = work.kernel().tensors;
    double simulated_lines = 0;
    for (const Tensor& tensor : tensors)
        simulated_lines += static_cast<double>(tensor.bytes()) / kLineBytes / sample.factor();
    std::uint64_t every = 1;
    while (simulated_lines / static_cast<double>(every) > kWatchedLines) every *= 2;
    watch_mask_ = every - 1;
    bytes_per_watched_line_ = kLineBytes * sample.factor() * static_cast<double>(every);
    for (std::size_t t = 0; t < tensors.size(); ++t)
        reuse_.push_back({static_cast<int>(t), 0, std::vector<double>(bins_.count(), 0.0)});
}

bool DetailRecorder::simulated(LineNumber line) const {
    return !sample_ || sample_->index(map_.lane(line)) >= 0;
}

void DetailRecorder::count_panels() {
    group_sectors_.assign(static_cast<std::size_t>(lines_.groups()), 0.0);
    for (std::size_t i = 0; i < lines_.lines(); ++i) {
        const auto line = static_cast<LineNumber>(i);
        const int group = lines_.group_of(line);
        if (group >= 0 && simulated(line))
            group_sectors_[static_cast<std::size_t>(group)] += count(lines_.read_sectors(line));
    }
}

void DetailRecorder::issued(Picoseconds, double, std::span<const BoxIssue> boxes) {
    for (const BoxIssue& box : boxes) {
        const int tensor = work_->walk(box.walk).tensor;
        for (const PlacedLine& line : work_->lines(box.walk).step(box.step)) {
            if ((mix64(line.line) & watch_mask_) == 0) use(line.line, tensor);
        }
    }
}

void DetailRecorder::use(LineNumber line, int tensor) {
    TensorReuse& reuse = reuse_[static_cast<std::size_t>(tensor)];
    if (const auto distance = distances_.use(line)) {
        reuse.requests[bins_.bin_of(static_cast<double>(*distance) * bytes_per_watched_line_)] += 1;
    } else {
        reuse.first_uses += 1;
    }
}

// How much of each panel lies in each partition now.
std::vector<std::uint8_t> DetailRecorder::residency() const {
    if (lanes_.empty() || group_sectors_.empty()) return {};
    std::vector<std::uint8_t> state;
    std::vector<double> held(group_sectors_.size());
    for (int partition = 0; partition < machine_.partitions; ++partition) {
        std::fill(held.begin(), held.end(), 0.0);
        for (const auto& lane : lanes_) {
            lane->for_each_resident(partition, [&](LineNumber line, SectorMask valid) {
                const int group = lines_.group_of(line);
                if (group >= 0) held[static_cast<std::size_t>(group)] += count(valid);
            });
        }
        for (std::size_t g = 0; g < held.size(); ++g) {
            const double share = group_sectors_[g] > 0 ? std::min(held[g] / group_sectors_[g], 1.0) : 0.0;
            state.push_back(static_cast<std::uint8_t>(std::lround(share * RunDetails::kWholePanel)));
        }
    }
    return state;
}

// What crossed the fabric and was there is a copy. Of what came from DRAM, each sector that is read comes
// once at least; the promotion fetches sectors that nobody reads in proportion to those around them; the rest
// came again.
MissClasses DetailRecorder::miss_classes(const SimulationResult& result) const {
    double read = 0;
    double fetched = 0;  // with what the fetch granularity adds
    for (std::size_t i = 0; i < lines_.lines(); ++i) {
        const auto line = static_cast<LineNumber>(i);
        const SectorMask sectors = lines_.read_sectors(line);
        if (sectors == 0 || !simulated(line)) continue;
        read += count(sectors);
        fetched += count(promote(sectors, machine_.l2.tensor_fetch_bytes));
    }
    MissClasses misses;
    const auto fills = static_cast<double>(result.events[Event::FillSectors]);
    misses.promotion = fetched > 0 ? fills * (1 - read / fetched) : 0;
    misses.compulsory = cold_ ? std::min(read, fills - misses.promotion) : 0;
    misses.capacity = fills - misses.promotion - misses.compulsory;
    misses.copy = static_cast<double>(result.events[Event::FabricReadHits]);
    for (double* sectors : {&misses.compulsory, &misses.capacity, &misses.copy, &misses.promotion})
        *sectors *= result.scale;
    return misses;
}

RunDetails DetailRecorder::finish(const SimulationResult& result) {
    timeline_.finish();
    RunDetails details;
    details.scale = result.scale;
    details.bin_length = timeline_.bin_length();
    details.bins = timeline_.bins();
    if (lines_.known()) details.misses = miss_classes(result);
    if (!sample_) return details;

    const auto partitions = static_cast<std::size_t>(machine_.partitions);
    for (std::size_t i = 0; i < result.lane_fill_sectors.size(); ++i) {
        LaneLoad load{sample_->lane(static_cast<int>(i)), {}, result.lane_fill_sectors[i]};
        const auto first = result.slice_sectors.begin() + static_cast<std::ptrdiff_t>(i * partitions);
        load.slice_sectors.assign(first, first + static_cast<std::ptrdiff_t>(partitions));
        details.lanes.push_back(std::move(load));
    }
    details.panels = lines_.panels();
    details.reuse_lower_bytes = bins_.lower_bytes();
    const double scale = bytes_per_watched_line_ / kLineBytes;
    details.reuse_lines = 1 / scale;
    for (TensorReuse& reuse : reuse_) {
        double all = reuse.first_uses *= scale;
        for (double& requests : reuse.requests) all += requests *= scale;
        if (all > 0) details.reuse.push_back(std::move(reuse));
    }
    return details;
}

}  // namespace l2lens
