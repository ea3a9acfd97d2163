// SPDX-License-Identifier: Apache-2.0
#include "teach/lesson.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace l2lens {
namespace {

constexpr std::uint32_t kSetsShown = 16;  // of all slices together: what fits a terminal
constexpr std::size_t kWaysShown = 8;     // of larger sets the empty ways are counted

std::uint64_t count(SectorMask sectors) {
    return static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(sectors)));
}

// "#..#": a valid sector is a #.
std::string sectors_picture(SectorMask valid) {
    std::string picture;
    for (int sector = 0; sector < kSectorsPerLine; ++sector)
        picture += (valid >> sector & 1) != 0 ? '#' : '.';
    return picture;
}

}  // namespace

Lesson::Lesson(const Machine& machine, const Kernel& kernel, std::string order, Tape tape)
    : machine_(machine),
      kernel_(kernel),
      order_(std::move(order)),
      tape_(std::move(tape)),
      narrator_(machine, kernel, tape_.seed),
      contents_(machine) {}

std::string Lesson::title() const {
    const std::string how_long =
        complete() ? fmt::format(" in {:.4g} us", static_cast<double>(tape_.time) / kPsPerNs / 1000)
                   : std::string(", where the lesson ends; the launch goes on");
    return fmt::format("{}, {} on {}: {} accesses{}", kernel_.title, order_, machine_.name, steps(),
                       how_long);
}

std::string Lesson::sentence(std::size_t step) {
    contents_.play_to(tape_.accesses, step - 1);
    return narrator_.sentence(access(step), contents_);
}

std::string Lesson::line(std::size_t step) {
    return fmt::format("step {} of {}, {:g} ns: {}", step, steps(),
                       static_cast<double>(access(step).step.time) / kPsPerNs, sentence(step));
}

// Ways from the one used longest ago, which leaves next, to the youngest.
std::string Lesson::set_row(int partition, int lane, std::uint32_t set, const LaneStep& step,
                            bool colour) const {
    const auto ways = contents_.set(partition, lane, set);
    std::vector<HeldLine> by_age(ways.begin(), ways.end());
    std::ranges::stable_sort(by_age, {}, [](const HeldLine& way) { return way.last; });
    std::string row;
    const auto empty = std::ranges::count(by_age, false, &HeldLine::used);
    const bool small = by_age.size() <= kWaysShown;
    if (!small && empty > 0) row = fmt::format("{:<14}", fmt::format(" {} empty", empty));
    for (const HeldLine& way : by_age) {
        if (!small && !way.used) continue;
        const bool touched = way.used && way.line == step.line && step.partition == partition &&
                             step.lane == lane && is_lookup(step);
        std::string cell = way.used ? fmt::format("{:#x} {}", way.line, sectors_picture(way.valid)) : "-";
        if (touched) cell = "[" + cell + "]";
        cell = fmt::format("{:<14}", touched ? cell : " " + cell);
        row += touched && colour ? "\x1b[1m" + cell + "\x1b[0m" : cell;
    }
    return row;
}

std::string Lesson::sets(std::size_t step, bool colour) {
    contents_.play_to(tape_.accesses, step);
    const LaneStep& now = access(step).step;
    const int lanes = machine_.l2.slices_per_partition;
    const bool all = contents_.sets() * static_cast<std::uint32_t>(machine_.slices()) <= kSetsShown &&
                     contents_.ways() <= static_cast<int>(kWaysShown);
    std::string text;
    for (int slice = 0; slice < machine_.slices(); ++slice) {
        const int partition = slice / lanes;
        const int lane = slice % lanes;
        if (!all && lane != now.lane) continue;  // a line never leaves its lane
        text += fmt::format("slice {} (partition {})\n", slice, partition);
        for (std::uint32_t set = 0; set < contents_.sets(); ++set) {
            if (!all && set != narrator_.set_of(now.line)) continue;
            std::string row = fmt::format("  set {}: {}", set, set_row(partition, lane, set, now, colour));
            row.erase(row.find_last_not_of(' ') + 1);
            text += row + "\n";
        }
    }
    return text;
}

Tally Lesson::tally(std::size_t step) const {
    Tally tally;
    for (std::size_t i = 0; i < step; ++i) {
        const LaneStep& s = tape_.accesses[i].step;
        const std::uint64_t asked = count(s.asked);
        const bool home_step = s.kind == LaneStep::Kind::HomeRead || s.kind == LaneStep::Kind::HomeWrite;
        if (s.kind == LaneStep::Kind::Read || s.kind == LaneStep::Kind::Merged) tally.asked += asked;
        if (s.kind == LaneStep::Kind::Merged) {
            tally.merged += asked;
            continue;
        }
        tally.looked_up += asked;
        // A write that has to fetch what it does not cover counts where it arrives first (counters.hpp).
        if (s.kind == LaneStep::Kind::Write) tally.hits += asked - count(s.fetched);
        if (s.kind == LaneStep::Kind::HomeWrite) tally.hits += asked;
        if (s.kind == LaneStep::Kind::Read || s.kind == LaneStep::Kind::HomeRead)
            tally.hits += count(static_cast<SectorMask>(s.asked & s.valid));
        if (home_step) tally.over_fabric += asked;
        if (narrator_.home_of(s.line, s.partition) == s.partition)
            tally.from_dram += count(static_cast<SectorMask>(s.fetched & ~s.last_level));
        tally.from_dram += count(s.cleaned.incomplete) + count(s.completed.incomplete);
    }
    return tally;
}

std::string Lesson::tally_text(std::size_t step) const {
    const Tally t = tally(step);
    return fmt::format(
        "sectors so far: {} asked for, {} merged, {} looked up, {} hits, {} over the fabric, {} from DRAM",
        t.asked, t.merged, t.looked_up, t.hits, t.over_fabric, t.from_dram);
}

}  // namespace l2lens
