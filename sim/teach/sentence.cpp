// SPDX-License-Identifier: Apache-2.0
#include "teach/sentence.hpp"

#include <bit>

#include <fmt/format.h>

namespace l2lens {
namespace {

constexpr std::uint64_t kLine = kLineBytes;

int count(SectorMask sectors) {
    return std::popcount(static_cast<unsigned>(sectors));
}

int bytes_of(SectorMask sectors) {
    return count(sectors) * kSectorBytes;
}

// Sectors of a line that was asked for, as bytes from the first to past the last.
std::uint64_t first_byte(SectorMask sectors) {
    return static_cast<std::uint64_t>(std::countr_zero(static_cast<unsigned>(sectors))) * kSectorBytes;
}
std::uint64_t span_bytes(SectorMask sectors) {
    return static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(sectors))) * kSectorBytes -
           first_byte(sectors);
}

std::string plural(int number, const char* word) {
    return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
}

double ns(Picoseconds time) {
    return static_cast<double>(time) / kPsPerNs;
}

const Tensor* tensor_at(const std::vector<Tensor>& tensors, std::uint64_t byte) {
    for (const Tensor& tensor : tensors) {
        if (byte >= tensor.base && byte < tensor.base + static_cast<std::uint64_t>(tensor.bytes()))
            return &tensor;
    }
    return nullptr;
}

}  // namespace

std::string elements_text(const std::vector<Tensor>& tensors, std::uint64_t first_byte, std::uint64_t bytes) {
    const Tensor* tensor = tensor_at(tensors, first_byte);
    if (tensor == nullptr) return "";
    auto rest = static_cast<std::int64_t>(first_byte - tensor->base);
    std::string text = tensor->name + "[";
    for (int d = 0; d + 1 < tensor->rank; ++d) {
        const std::int64_t stride = tensor->stride_bytes[static_cast<std::size_t>(d)];
        // A dimension of one has no stride of its own to divide by.
        const std::int64_t at = tensor->shape[static_cast<std::size_t>(d)] == 1 ? 0 : rest / stride;
        rest -= at * stride;
        text += fmt::format("{},", at);
    }
    const std::int64_t columns = tensor->shape[static_cast<std::size_t>(tensor->rank - 1)];
    const std::int64_t from = rest / tensor->element_bytes;
    const std::int64_t to =
        std::min(columns, (rest + static_cast<std::int64_t>(bytes)) / tensor->element_bytes) - 1;
    if (from >= columns) return "";  // between two rows
    return text + (to > from ? fmt::format("{}..{}]", from, to) : fmt::format("{}]", from));
}

std::string sectors_text(SectorMask sectors) {
    std::vector<int> numbers;
    for (int sector = 0; sector < kSectorsPerLine; ++sector) {
        if ((sectors >> sector & 1) != 0) numbers.push_back(sector);
    }
    if (numbers.empty()) return "no sector";
    if (numbers.size() == 1) return fmt::format("sector {}", numbers[0]);
    if (numbers.size() == 2) return fmt::format("sectors {} and {}", numbers[0], numbers[1]);
    if (numbers.back() - numbers.front() + 1 == std::ssize(numbers))
        return fmt::format("sectors {} to {}", numbers.front(), numbers.back());
    return fmt::format("sectors {}, {} and {}", numbers[0], numbers[1], numbers[2]);
}

Narrator::Narrator(const Machine& machine, const Kernel& kernel, std::uint64_t seed)
    : machine_(machine), kernel_(kernel), map_(machine, seed) {}

int Narrator::slice_of(const LaneStep& step) const {
    return step.partition * machine_.l2.slices_per_partition + step.lane;
}

std::string Narrator::line_text(const LaneStep& step) const {
    const std::string elements =
        elements_text(kernel_.tensors, step.line * kLine + first_byte(step.asked), span_bytes(step.asked));
    return fmt::format("line {:#x}{}", step.line, elements.empty() ? "" : " (" + elements + ")");
}

std::string Narrator::who(const Access& access) const {
    if (access.sm >= 0) return fmt::format("SM {}", access.sm);
    return fmt::format("an SM of GPC {}", access.step.gpc);
}

std::string Narrator::where(const LaneStep& step) const {
    return fmt::format("set {} of slice {}", map_.set(step.line), slice_of(step));
}

// What a lookup met.
std::string Narrator::found(const LaneStep& step) const {
    const auto missing = static_cast<SectorMask>(step.asked & ~step.valid);
    if (!step.tag_found) return fmt::format("it is not in {}: line miss", where(step));
    if (missing == 0) {
        return fmt::format("it is in {} with {} {}: hit", where(step), sectors_text(step.asked),
                           step.pending ? "on the way" : "valid");
    }
    return fmt::format("it is in {} but {} {} not valid: sector miss", where(step), sectors_text(missing),
                       count(missing) == 1 ? "is" : "are");
}

// "fetch 64 B from DRAM (sector 1 was not asked for: a miss fills 64 B)".
std::string Narrator::fetch(const LaneStep& step, const std::string& from) const {
    std::string text = fmt::format("fetch {} B from {}", bytes_of(step.fetched), from);
    const auto promoted = static_cast<SectorMask>(step.fetched & ~step.asked);
    if (promoted != 0) {
        text += fmt::format(" ({} {} promoted: nobody asked for {})", sectors_text(promoted),
                            count(promoted) == 1 ? "is" : "are", count(promoted) == 1 ? "it" : "them");
    }
    return text;
}

// DRAM, or the cache in front of it.
std::string Narrator::from_memory(const LaneStep& step) const {
    if (step.last_level == 0) return "DRAM";
    if (step.last_level == step.fetched) return "the cache in front of the memory";
    return fmt::format("the cache in front of the memory, which has {}, and DRAM",
                       sectors_text(step.last_level));
}

// The one used longest ago, if no cache hint says otherwise and it is clean.
std::string Narrator::why_it_leaves(const LaneStep& step, const Contents& before) const {
    const std::uint64_t last = before.displaced_by(step).last;
    bool dirty = false;
    for (const HeldLine& way : before.set(step.partition, step.lane, map_.set(step.line))) {
        if (way.last >= last) continue;
        if (!way.dirty) return "whose cache hint lets it leave first";
        dirty = true;
    }
    return dirty ? "the clean one of the set unused for longest" : "the one of the set unused for longest";
}

std::string Narrator::why_it_is_cleaned(const LaneStep& step, const Contents& before) const {
    int dirty = 0;
    for (const HeldLine& way : before.set(step.partition, step.lane, map_.set(step.line))) dirty += way.dirty;
    if (dirty < machine_.l2.dirty_ways) return "dirty and unused for longest";
    return fmt::format("the oldest of {}", plural(dirty, "dirty line"));
}

// What of the set goes back to DRAM, and who leaves.
std::string Narrator::room(const LaneStep& step, const Contents& before) const {
    std::string text;
    if (step.cleaned.dirty != 0) {
        // Where all lines of the set are dirty, the one that is written back makes room as well.
        const bool stays = step.tag_found || step.cleaned.way != step.way;
        text += fmt::format("; line {:#x}, {}, is written back{}", before.at(step, step.cleaned.way).line,
                            why_it_is_cleaned(step, before), stays ? " and stays" : "");
    }
    const HeldLine displaced = before.displaced_by(step);
    if (displaced.used) {
        text += fmt::format("; line {:#x}, {}, makes room", displaced.line, why_it_leaves(step, before));
    }
    if (step.completed.dirty != 0) {
        text += fmt::format(
            "; more than {} of the set are written in part, so the oldest one is fetched and written back",
            plural(machine_.l2.incomplete_ways, "line"));
    }
    return text;
}

std::string Narrator::answer(const Access& access) const {
    if (access.answered < 0) return "";
    std::string text = fmt::format("; answered after {:g} ns", ns(access.answered - access.step.time));
    if (access.answered_with > 1) text += fmt::format(", for {}", plural(access.answered_with, "SM"));
    return text;
}

std::string Narrator::read(const Access& access, const Contents& before) const {
    const LaneStep& step = access.step;
    std::string text = fmt::format("{} reads {}: {}", who(access), line_text(step), found(step));
    const int home = home_of(step.line, step.partition);
    if (step.fetched != 0) {
        const std::string from = home == step.partition
                                     ? from_memory(step)
                                     : fmt::format("slice {} over the fabric, for partition {} is its home",
                                                   home * machine_.l2.slices_per_partition + step.lane, home);
        text += ", " + fetch(step, from);
    }
    return text + room(step, before) + answer(access);
}

std::string Narrator::home_read(const LaneStep& step, const Contents& before) const {
    std::string text = fmt::format("partition {}, the home of {}, is asked over the fabric: {}",
                                   step.partition, line_text(step), found(step));
    if (step.fetched != 0) text += ", " + fetch(step, from_memory(step));
    return text + room(step, before) + "; a copy crosses to the partition that asked";
}

std::string Narrator::write(const LaneStep& step, const Contents& before) const {
    const int home = home_of(step.line, step.partition);
    std::string text =
        fmt::format("an SM of GPC {} writes {} of {}", step.gpc, sectors_text(step.asked), line_text(step));
    if (home == step.partition) {
        text += fmt::format(": kept dirty in {}", where(step));
        if (step.fetched != 0) text += ", after a fetch of what it does not cover";
    } else {
        text += fmt::format(": {} keeps a copy, and the data goes over the fabric to partition {}, its home",
                            where(step), home);
    }
    return text + room(step, before);
}

std::string Narrator::home_write(const LaneStep& step, const Contents& before) const {
    return fmt::format(
               "partition {}, the home of {}, gets what was written over the fabric: kept dirty in {}",
               step.partition, line_text(step), where(step)) +
           room(step, before);
}

std::string Narrator::sentence(const Access& access, const Contents& before) const {
    const LaneStep& step = access.step;
    switch (step.kind) {
        case LaneStep::Kind::Merged:
            return fmt::format(
                "{} reads {}, which an SM of GPC {} is waiting for: the coalescer merges them, no slice sees "
                "it{}",
                who(access), line_text(step), step.gpc, answer(access));
        case LaneStep::Kind::Read:
            return read(access, before);
        case LaneStep::Kind::HomeRead:
            return home_read(step, before);
        case LaneStep::Kind::Write:
            return write(step, before);
        case LaneStep::Kind::HomeWrite:
            return home_write(step, before);
        case LaneStep::Kind::Answer:
            break;
    }
    return "";
}

}  // namespace l2lens
