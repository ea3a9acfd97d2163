// SPDX-License-Identifier: Apache-2.0
#include "tile/box_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "base/dense_ids.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "memory/promotion.hpp"

#include "tile/set_fullness.hpp"

namespace l2lens {
namespace {

// One box of one walk, before it has a number.
struct Measured {
    BoxShape shape;
    LineNumber first = 0;
    LineNumber last = 0;
    std::uint8_t first_byte = 0;
    std::uint8_t end_byte = 0;
    std::uint32_t lines = 0;     // distinct ones
    std::uint64_t hash = 0;      // of the lines, where first, last and number do not tell which they are
    bool shares_before = false;  // lines with the box of the step before, but not all of them

    bool same_region(const Measured& other) const {
        return first == other.first && last == other.last && lines == other.lines && hash == other.hash;
    }
};

// A line and what of it is there.
struct HeldLine {
    LineNumber line;
    SectorMask valid;
};

// By table: without a CPU's own instruction a population count is a call.
std::uint32_t count(SectorMask sectors) {
    constexpr std::array<std::uint8_t, 16> kBits{0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return kBits[sectors & 15u];
}

// Does every request of the walk's boxes go to a line of its own? So it is with aligned rows.
bool lines_are_distinct(const Tensor& tensor, const BoxWalk& walk) {
    const auto inner = static_cast<std::size_t>(tensor.rank - 1);
    for (std::size_t d = 0; d < inner; ++d) {
        if (tensor.stride_bytes[d] % kLineBytes != 0) return false;
    }
    const std::int64_t start = walk.start[inner] * tensor.element_bytes;
    const std::int64_t step = walk.step[inner] * tensor.element_bytes;
    const std::int64_t width = walk.extent[inner] * tensor.element_bytes;
    if (walk.path != Path::Tma) return start % kLineBytes == 0 && step % kLineBytes == 0;
    if (start % kLineBytes == 0 && step % kLineBytes == 0) return true;
    // Parts of a line, none of which crosses into the next.
    return start >= 0 && kLineBytes % width == 0 && start % width == 0 && step % width == 0;
}

// Then what one box writes of a sector its neighbours complete, sooner than it is written back.
bool rows_are_dense(const Tensor& tensor) {
    return tensor.stride_bytes[static_cast<std::size_t>(tensor.rank - 1)] == tensor.element_bytes;
}

// Measures the boxes of a walk one after the other.
class WalkMeasure {
public:
    WalkMeasure(const Machine& machine, const Tensor& tensor, const BoxWalk& walk, const AddressMap& map)
        : tensor_(tensor),
          walk_(walk),
          map_(map),
          fetch_(walk.path == Path::Tma ? machine.l2.tensor_fetch_bytes : machine.l2.fetch_bytes),
          completed_(machine.l2.byte_masks || rows_are_dense(tensor)),
          distinct_(lines_are_distinct(tensor, walk)) {}

    // The boxes of steps [begin, end), which have no lines in common.
    Measured unit(std::int64_t begin, std::int64_t end) {
        Measured box;
        requests_.clear();
        shifted_ = 0;
        add_steps(begin, end, box);
        box.shape.steps = static_cast<std::uint32_t>(end - begin);
        box.shape.shifted = 2 * shifted_ > box.shape.requests;
        if (distinct_) {
            box.lines = box.shape.requests;
            for (BoxPart& part : box.shape.part) {
                part.missed = part.missed_after = part.sectors;
                part.fetched_after = part.fetched;
            }
        } else {
            measure_shared(box);
        }
        return box;
    }

private:
    void add_steps(std::int64_t begin, std::int64_t end, Measured& box) {
        if (distinct_) {
            const std::optional<BoxWalk> joined = joined_steps(tensor_, walk_, begin, end);
            if (joined && add_whole_rows(*joined, box)) return;
        }
        if (end - begin == 1) return add_step(begin, box);
        for (std::int64_t k = begin; k < end; ++k) add_steps(k, k + 1, box);
    }

    void add_step(std::int64_t k, Measured& box) {
        for_each_line(tensor_, walk_, k, [&](const LineRequest& request) {
            if (box.shape.requests++ == 0) {
                box.first = request.line;
                box.first_byte = request.first_byte;
            }
            box.last = request.line;
            box.end_byte = static_cast<std::uint8_t>(request.first_byte + request.bytes);
            shifted_ += request.shifted ? 1 : 0;
            const std::uint32_t sectors = count(request.sectors);
            box.shape.sectors += sectors;
            BoxPart& part = box.shape.part[static_cast<std::size_t>(map_.home(request.line))];
            part.requests += 1;
            part.sectors += sectors;
            part.partial += completed_ ? 0 : count(request.partial);
            if (distinct_) {
                part.lines += 1;
                part.fetched += count(promote(request.sectors, fetch_));
            } else {
                requests_.push_back(request);
            }
        });
    }

    using LinesOfHomes = std::array<std::uint32_t, kMostHomes>;

    // Counts a row's lines by home, each `times` times.
    void count_homes(LineNumber first, std::uint32_t run, std::uint32_t times, LinesOfHomes& lines) const {
        const LineNumber last = first + run - 1;
        if (first >> map_.home_run_bits() == last >> map_.home_run_bits()) {
            lines[static_cast<std::size_t>(map_.home(first))] += run * times;
            return;
        }
        for (std::uint32_t i = 0; i < run; ++i)
            lines[static_cast<std::size_t>(map_.home(first + i))] += times;
    }

    // Rows that a GEMM of powers of two has, at a power of two from each other and from where all bits of
    // their distances are 0, are counted at once; false, and nothing counted, for others.
    bool count_rows_at_once(const BoxWalk& steps, Measured& box, LinesOfHomes& lines) const {
        const std::optional<RowsAtStride> rows = rows_at_stride(tensor_, steps, 0);
        if (!rows || !std::has_single_bit(rows->rows) || !std::has_single_bit(rows->stride)) return false;
        const LineNumber last_of_row = rows->first + rows->lines - 1;
        const std::uint64_t distances = rows->stride * (rows->rows - 1);
        if (((rows->first | last_of_row) & distances) != 0 || rows->lines > rows->stride) return false;
        if (map_.homes_alternate(static_cast<LineNumber>(rows->stride), rows->rows)) {
            for (std::uint32_t& n : lines) n += rows->lines * (rows->rows / 2);
        } else {
            count_homes(rows->first, rows->lines, rows->rows, lines);
        }
        if (box.shape.requests == 0) box.first = rows->first;
        box.last = static_cast<LineNumber>(last_of_row + distances);
        return true;
    }

    // False, and nothing counted, when a request is not a whole line.
    bool count_row_by_row(const BoxWalk& steps, Measured& box, LinesOfHomes& lines) const {
        bool first_row = box.shape.requests == 0;
        return for_each_whole_row(tensor_, steps, 0, [&](LineNumber first, std::uint32_t run) {
            if (std::exchange(first_row, false)) box.first = first;
            box.last = first + run - 1;
            count_homes(first, run, 1, lines);
        });
    }

    // False, and nothing added, when a request is not a whole line.
    bool add_whole_rows(const BoxWalk& steps, Measured& box) {
        LinesOfHomes lines{};
        if (!count_rows_at_once(steps, box, lines) && !count_row_by_row(steps, box, lines)) return false;
        std::uint32_t requests = 0;
        for (const std::uint32_t n : lines) requests += n;
        if (requests == 0) return true;
        box.first_byte = 0;
        box.end_byte = static_cast<std::uint8_t>(kLineBytes);
        for (std::size_t home = 0; home < kMostHomes; ++home) {
            BoxPart& part = box.shape.part[home];
            part.requests += lines[home];
            part.lines += lines[home];
            part.sectors += lines[home] * kSectorsPerLine;
            part.fetched += lines[home] * kSectorsPerLine;
        }
        box.shape.requests += requests;
        box.shape.sectors += requests * kSectorsPerLine;
        return true;
    }

    // Lines that several requests, or the box before, ask for.
    void measure_shared(Measured& box) {
        std::stable_sort(requests_.begin(), requests_.end(),
                         [](const LineRequest& a, const LineRequest& b) { return a.line < b.line; });
        held_.clear();
        auto before = before_.begin();
        std::uint32_t added = 0;
        for (std::size_t i = 0; i < requests_.size();) {
            const LineNumber line = requests_[i].line;
            while (before != before_.end() && before->line < line) ++before;
            const bool shared = before != before_.end() && before->line == line;
            BoxPart& part = box.shape.part[static_cast<std::size_t>(map_.home(line))];
            SectorMask alone = 0, after = shared ? before->valid : SectorMask{0};
            for (; i < requests_.size() && requests_[i].line == line; ++i) {
                const SectorMask asked = requests_[i].sectors;
                fetch(asked, alone, part.missed, part.fetched);
                fetch(asked, after, part.missed_after, part.fetched_after);
            }
            held_.push_back({line, alone});
            ++box.lines;
            box.hash += mix64(line);
            if (shared) continue;
            ++part.lines;
            ++added;
        }
        box.shares_before = added < box.lines && added > 0;
        before_.swap(held_);
    }

    void fetch(SectorMask asked, SectorMask& valid, std::uint32_t& missed, std::uint32_t& fetched) const {
        const auto missing = static_cast<SectorMask>(asked & ~valid);
        const auto brought = static_cast<SectorMask>(promote(missing, fetch_) & ~valid);
        missed += count(missing);
        fetched += count(brought);
        valid |= brought;
    }

    const Tensor& tensor_;
    const BoxWalk& walk_;
    const AddressMap& map_;
    int fetch_;
    bool completed_;  // no sector that is written in part stays so
    bool distinct_;
    std::uint32_t shifted_ = 0;  // requests of this box
    std::vector<LineRequest> requests_;
    std::vector<HeldLine> held_;    // by this step's box
    std::vector<HeldLine> before_;  // by the last one's
};

std::uint64_t hash_of(const BoxShape& shape) {
    std::uint64_t h =
        mix64(shape.requests ^ std::uint64_t{shape.steps} << 32 ^ std::uint64_t{shape.stored} << 63) ^
        mix64(std::bit_cast<std::uint64_t>(shape.math_flops)) ^
        std::bit_cast<std::uint64_t>(shape.math_cycles);
    for (const BoxPart& part : shape.part) {
        for (const std::uint32_t n : {part.requests, part.sectors, part.partial, part.lines, part.missed,
                                      part.fetched, part.missed_after, part.fetched_after})
            h = mix64(h ^ n);
    }
    return h;
}

// What a CTA computes between two steps of each walk.
std::vector<const Work::Phase*> phases_of_walks(const Work& work) {
    std::vector<const Work::Phase*> phases(work.walks(), nullptr);
    for (std::size_t tile = 0; tile < work.kernel().programs.size(); ++tile) {
        for (const Work::Phase& phase : work.program(static_cast<std::int32_t>(tile))) {
            for (const std::int32_t walk : work.loads(phase)) phases[static_cast<std::size_t>(walk)] = &phase;
        }
    }
    return phases;
}

// Boxes of whole lines, or whose misses bring whole lines, are held together with others of the same lines.
bool holds_whole_lines(const Measured& box) {
    std::uint32_t fetched = 0;
    for (const BoxPart& part : box.shape.part) fetched += part.fetched;
    return fetched == box.lines * kSectorsPerLine;
}

}  // namespace

BoxTable::BoxTable(const Machine& machine, const Work& work, const AddressMap& map, Executor& executor,
                   const StepUnits& units)
    : units_(units) {
    if (machine.partitions > kMostHomes) {
        throw BadInput(machine.name + " has " + std::to_string(machine.partitions) +
                       " L2 partitions; the tile engine knows at most " + std::to_string(kMostHomes) +
                       ": take --engine line");
    }
    first_unit_.push_back(0);
    for (std::size_t w = 0; w < work.walks(); ++w) {
        first_unit_.push_back(first_unit_.back() + static_cast<std::size_t>(units.units(
                                                       work.walk_steps(static_cast<std::int32_t>(w)))));
    }
    const std::vector<const Work::Phase*> phases = phases_of_walks(work);
    std::vector<Measured> measured(first_unit_.back());
    executor.for_each(work.walks(), [&](std::size_t w) {
        const BoxWalk& walk = work.walk(static_cast<std::int32_t>(w));
        const std::int64_t steps = work.walk_steps(static_cast<std::int32_t>(w));
        WalkMeasure measure(machine, work.kernel().tensors[static_cast<std::size_t>(walk.tensor)], walk, map);
        for (std::size_t i = first_unit_[w]; i < first_unit_[w + 1]; ++i) {
            const auto unit = static_cast<std::int64_t>(i - first_unit_[w]);
            const std::int64_t begin = units.begin(unit);
            measured[i] = measure.unit(begin, begin + units.length(unit, steps));
            measured[i].shape.stored = work.walk_stores(static_cast<std::int32_t>(w));
            if (measured[i].shape.steps == 1 || phases[w] == nullptr) continue;
            measured[i].shape.math_flops = phases[w]->math_flops;
            measured[i].shape.math_cycles = phases[w]->math_cycles;
        }
    });

    DenseIds box_ids, region_ids, shape_ids;
    std::vector<std::size_t> first_of_box, first_of_region;  // where each was met first
    box_of_unit_.reserve(measured.size());
    std::uint32_t shape = 0;
    for (std::size_t w = 0; w < work.walks(); ++w) {
        const BoxWalk& walk = work.walk(static_cast<std::int32_t>(w));
        const std::uint64_t kind =
            mix64(static_cast<std::uint64_t>(walk.tensor) * 8 + static_cast<std::uint64_t>(walk.path) * 2 +
                  (work.walk_stores(static_cast<std::int32_t>(w)) ? 1u : 0u));
        casts_.push_back({static_cast<std::uint8_t>(walk.multicast),
                          static_cast<std::uint8_t>(walk.multicast_axis), walk.path == Path::Tma});
        Totals& totals = totals_.emplace_back();
        std::uint32_t region_before = kNoRegion;
        for (std::size_t i = first_unit_[w]; i < first_unit_[w + 1]; ++i) {
            const Measured& m = measured[i];
            totals.requests += m.shape.requests;
            totals.sectors += m.shape.sectors;
            // Most are of the shape of the one before.
            if (shape >= shapes_.size() || shapes_[shape] != m.shape) {
                shape = shape_ids.find_or_add(hash_of(m.shape),
                                              [&](std::uint32_t id) { return shapes_[id] == m.shape; });
                if (shape == shapes_.size()) shapes_.push_back(m.shape);
            }

            // Two boxes of one tensor that begin and end alike and ask for as much are the same box.
            const std::uint64_t place = mix64(m.first ^ mix64(m.last ^ mix64(m.lines ^ m.hash)));
            const std::uint64_t ends = static_cast<std::uint64_t>(m.first_byte) * 256 + m.end_byte;
            const std::uint32_t id = box_ids.find_or_add(
                mix64(place ^ mix64(ends ^ mix64(shape ^ kind))), [&](std::uint32_t other) {
                    const Measured& o = measured[first_of_box[other]];
                    return o.same_region(m) && o.first_byte == m.first_byte && o.end_byte == m.end_byte &&
                           boxes_[other].shape == shape;
                });
            if (id == boxes_.size()) {
                std::uint32_t region = static_cast<std::uint32_t>(first_of_region.size());
                if (holds_whole_lines(m)) {
                    region = region_ids.find_or_add(place, [&](std::uint32_t other) {
                        return measured[first_of_region[other]].same_region(m);
                    });
                } else {
                    region_ids.add();
                }
                if (region == first_of_region.size()) first_of_region.push_back(i);
                first_of_box.push_back(i);
                boxes_.push_back({id, region, m.shares_before ? region_before : kNoRegion, shape});
            }
            box_of_unit_.push_back(boxes_[id]);
            region_before = boxes_[id].region;
        }
        count_traffic(work, static_cast<std::int32_t>(w));
    }
    regions_ = first_of_region.size();
    fullness_ = l2lens::set_fullness(machine, work, map);
}

void BoxTable::count_traffic(const Work& work, std::int32_t walk) {
    const auto uses = static_cast<double>(work.walk_uses(walk));
    const double requests = uses * static_cast<double>(totals(walk).requests);
    if (work.walk_stores(walk)) {
        traffic_.write_requests += requests;
    } else {
        traffic_.read_requests += requests;
        traffic_.read_sectors += uses * static_cast<double>(totals(walk).sectors);
    }
}

}  // namespace l2lens
