// SPDX-License-Identifier: Apache-2.0
#include "machine/check.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <limits>
#include <set>
#include <utility>

#include "base/units.hpp"
#include "machine/parameters.hpp"

namespace l2lens {
namespace {

// Collects problems; numbers and text are joined into the message.
class Problems {
public:
    template <class... Parts>
    void add(std::string_view key, const Parts&... parts) {
        std::string message;
        ((message += text(parts)), ...);
        list_.push_back({std::string(key), message});
    }
    void add_all(std::vector<Problem> more) { list_.insert(list_.end(), more.begin(), more.end()); }
    bool empty() const { return list_.empty(); }
    std::vector<Problem> take() { return std::move(list_); }

private:
    static std::string text(std::integral auto number) { return std::to_string(number); }
    static std::string text(std::string_view words) { return std::string(words); }

    std::vector<Problem> list_;
};

void check_ranges(const Machine& machine, Problems& problems) {
    for (const ParameterInfo& parameter : parameter_table())
        if (const auto value = number_of(machine, parameter))
            if (const auto text = range_problem(parameter, *value); !text.empty())
                problems.add(parameter.key, text);
}

// That each SM can be put back into a Topology, whose own check finds the rest.
void check_sms(const Machine& machine, Problems& problems) {
    const auto sms = static_cast<int>(machine.sms.size());
    std::vector<int> partition_of_gpc(static_cast<std::size_t>(std::max(machine.gpcs, 0)), -1);
    std::set<int> free_places;
    for (int place = 0; place < sms; ++place) free_places.insert(place);
    for (int id = 0; id < sms; ++id) {
        const Sm& sm = machine.sms[static_cast<std::size_t>(id)];
        if (sm.gpc < 0 || sm.gpc >= machine.gpcs) {
            problems.add("topology.sms", "puts SM ", id, " in GPC ", sm.gpc, ", but there are ",
                         machine.gpcs);
            continue;
        }
        if (sm.cpc < 0 || sm.cpc >= machine.cpcs_per_gpc)
            problems.add("topology.cpcs_per_gpc", "is ", machine.cpcs_per_gpc, ", but SM ", id, " is in CPC ",
                         sm.cpc);
        int& partition = partition_of_gpc[static_cast<std::size_t>(sm.gpc)];
        if (partition >= 0 && partition != sm.partition)
            problems.add("topology.partition_of_gpc", "spreads GPC ", sm.gpc, " over two partitions");
        partition = sm.partition;
        if (!free_places.erase(sm.first_wave_position))
            problems.add("topology.first_wave", "gives SM ", id, " the place ", sm.first_wave_position,
                         ", which is taken or not one of ", sms);
    }
    if (problems.empty()) problems.add_all(check(topology_of(machine), machine.partitions));
}

void check_occupancy(const Machine& machine, Problems& problems) {
    const Machine::SmLimits& sm = machine.sm;
    if (sm.shared_memory_per_cta + sm.shared_memory_reserved > sm.shared_memory_bytes)
        problems.add("sm.shared_memory_per_cta", "and sm.shared_memory_reserved are together ",
                     sm.shared_memory_per_cta + sm.shared_memory_reserved, " bytes, more than the SM's ",
                     sm.shared_memory_bytes);
}

bool is_fetch_size(int bytes) {
    return bytes == 32 || bytes == 64 || bytes == kLineBytes;
}

void check_l2(const Machine& machine, Problems& problems) {
    const Machine::L2& l2 = machine.l2;
    if (l2.ways > 0 && l2.slice_bytes % (std::int64_t{l2.ways} * kLineBytes) != 0)
        problems.add("l2.slice", "is ", l2.slice_bytes, " bytes, not a whole number of sets of ", l2.ways,
                     " lines of ", kLineBytes, " bytes");
    if (l2.dirty_ways > l2.ways)
        problems.add("l2.dirty_ways", "is ", l2.dirty_ways, "; a set has ", l2.ways, " lines");
    if (l2.incomplete_ways > l2.ways)
        problems.add("l2.incomplete_ways", "is ", l2.incomplete_ways, "; a set has ", l2.ways, " lines");
    if (!is_fetch_size(l2.fetch_bytes))
        problems.add("l2.fetch", "is ", l2.fetch_bytes, " B; it must be 32, 64 or 128");
    if (!is_fetch_size(l2.tensor_fetch_bytes))
        problems.add("l2.tensor_fetch", "is ", l2.tensor_fetch_bytes, " B; it must be 32, 64 or 128");
}

// Whether some of the masks XOR to zero: then some partition would be no address's home. Gaussian
// elimination.
bool are_dependent(std::vector<std::uint64_t> masks) {
    for (std::size_t i = 0; i < masks.size(); ++i) {
        if (masks[i] == 0) return true;
        const std::uint64_t pivot = masks[i] & (~masks[i] + 1);
        for (std::size_t j = i + 1; j < masks.size(); ++j)
            if (masks[j] & pivot) masks[j] ^= masks[i];
    }
    return false;
}

// A mask's bits choose among lines, all of them bits of a line number; any higher one is 0 in all.
void check_bits(const char* key, std::uint64_t mask, std::uint64_t interleave, Problems& problems) {
    constexpr int kBits = std::numeric_limits<LineNumber>::digits + kLineShift;
    if (mask & (interleave - 1))
        problems.add(key, "uses address bit ", std::countr_zero(mask), ", inside the ", interleave,
                     " B that hash.interleave keeps in one slice");
    if (mask >> kBits != 0)
        problems.add(key, "uses address bit ", std::bit_width(mask) - 1, "; addresses have the bits 0 to ",
                     kBits - 1);
}

void check_hash(const Machine& machine, Problems& problems) {
    const auto partitions = static_cast<unsigned>(std::max(machine.partitions, 0));
    const auto& masks = machine.hash.home_masks;
    if (machine.l2.private_partitions) {
        if (!masks.empty())
            problems.add("hash.home_masks", "has ", masks.size(),
                         " masks, but l2.private partitions are nobody's home");
    } else if (!std::has_single_bit(partitions)) {
        problems.add("topology.partitions", "is ", partitions,
                     "; a home is a number of parity bits, so it must be a power of two");
    } else if (const auto needed = static_cast<std::size_t>(std::countr_zero(partitions));
               masks.size() != needed) {
        problems.add("hash.home_masks", "has ", masks.size(), " masks; ", partitions, " partitions need ",
                     needed, " (one for each bit of the partition's number)");
    }
    if (are_dependent(masks))
        problems.add("hash.home_masks", "are not independent: some partition is nobody's home");
    const auto interleave = static_cast<std::uint64_t>(std::max(machine.hash.interleave_bytes, 0));
    if (!std::has_single_bit(interleave)) {
        problems.add("hash.interleave", "is ", interleave, " B; it must be a power of two");
        return;
    }
    for (const std::uint64_t mask : masks) check_bits("hash.home_masks", mask, interleave, problems);
    for (const std::uint64_t mask : machine.hash.slot_masks)
        check_bits("hash.slot_masks", mask, interleave, problems);
}

// The masks of a solved hash make it a bijection: each line has a place of its own in its slice.
void check_solved_hash(const Machine& machine, Problems& problems) {
    const Machine::Hash& hash = machine.hash;
    if (hash.slot_masks.empty()) {
        if (!hash.row_bits.empty()) problems.add("hash.row_bits", "are given without hash.slot_masks");
        if (!hash.set_masks.empty()) problems.add("hash.set_masks", "are given without hash.slot_masks");
        return;
    }
    if (machine.partitions != 2 || machine.l2.private_partitions) {
        problems.add("hash.slot_masks", "need two partitions that are each other's far side");
        return;
    }
    constexpr std::size_t kMostParities = 8;
    const std::size_t parities = hash.home_masks.size() + hash.slot_masks.size();
    if (parities > kMostParities) {
        problems.add("hash.slot_masks", "and hash.home_masks are ", parities, " masks; there can be ",
                     kMostParities);
        return;
    }
    if (hash.row_bits.size() != Machine::Hash::kRowBits ||
        !std::ranges::all_of(hash.row_bits, [](std::uint64_t mask) { return std::has_single_bit(mask); })) {
        problems.add("hash.row_bits", "must be three lists of one bit");
        return;
    }
    std::vector<std::uint64_t> low = hash.home_masks;
    low.insert(low.end(), hash.slot_masks.begin(), hash.slot_masks.end());
    low.insert(low.end(), hash.row_bits.begin(), hash.row_bits.end());
    const std::uint64_t replaced = ((std::uint64_t{1} << low.size()) - 1) << kLineShift;
    for (std::uint64_t& mask : low) mask &= replaced;
    if (are_dependent(low))
        problems.add("hash.slot_masks",
                     "with hash.home_masks and hash.row_bits do not tell the lines apart "
                     "that differ in address bits ",
                     kLineShift, " to ", kLineShift + low.size() - 1);
    std::vector<std::uint64_t> turned = hash.set_masks;
    for (std::uint64_t& mask : turned) mask &= (1 << Machine::Hash::kSetMasks) - 1;
    if (turned.size() != Machine::Hash::kSetMasks || are_dependent(turned))
        problems.add("hash.set_masks", "must be eight masks, independent in their lowest eight bits");
}

// Parts of one wait that say nothing without each other.
void check_dram_waits(const Machine& machine, Problems& problems) {
    const Machine::Latency& latency = machine.latency;
    if (latency.dram_load > 0 && !(latency.dram_queue_ns > 0))
        problems.add("latency.dram_load", "is given without latency.dram_queue, which it makes grow");
    if ((latency.dram_refresh_ns > 0) != (latency.dram_refresh_share > 0))
        problems.add("latency.dram_refresh", "and latency.dram_refresh_share need each other");
    if ((latency.dram_pause_ns > 0) != (latency.dram_pause_every_us > 0) ||
        latency.dram_pause_ns > latency.dram_pause_every_us * 1000)
        problems.add("latency.dram_pause", "needs a latency.dram_pause_every that is as long or longer");
    if ((latency.dram_turn_ns > 0) != (latency.dram_turn_lines > 0))
        problems.add("latency.dram_turn", "and latency.dram_turn_lines need each other");
    if (latency.dram_backlog_ns > 0 && !(latency.dram_refresh_ns > 0) && !(latency.dram_turn_ns > 0))
        problems.add("latency.dram_backlog",
                     "is given without latency.dram_refresh or latency.dram_turn, behind which it builds up");
}

void check_last_level(const Machine& machine, Problems& problems) {
    const Machine::LastLevel& cache = machine.last_level;
    if (cache.bytes == 0) return;
    if (cache.ways < 1) problems.add("last_level.ways", "is ", cache.ways, "; a set has at least one line");
    if (!(cache.bytes_per_ns > 0)) problems.add("last_level.bandwidth", "must be more than 0");
    const std::int64_t of_lane = cache.bytes / std::max(machine.l2.slices_per_partition, 1);
    if (cache.ways >= 1 && of_lane < std::int64_t{cache.ways} * kLineBytes)
        problems.add("last_level.size", "is ", cache.bytes, " bytes, less than a set for each slice number");
}

void check_coalescer(const Machine& machine, Problems& problems) {
    if (machine.coalescer.present && machine.coalescer.max_requesters < 2)
        problems.add("coalescer.max_requesters", "is ", machine.coalescer.max_requesters,
                     "; a coalescer that merges serves at least 2");
}

void check_latency(const Machine& machine, Problems& problems) {
    const Machine::Latency& latency = machine.latency;
    if (latency.handshake_jitter_cycles > 2 * latency.handshake_cycles)
        problems.add(
            "latency.handshake_jitter",
            "is more than twice latency.handshake: some loads would leave before their stage is free");
}

}  // namespace

std::vector<Problem> check(const Machine& machine) {
    Problems problems;
    check_sms(machine, problems);
    check_ranges(machine, problems);
    check_occupancy(machine, problems);
    check_l2(machine, problems);
    check_hash(machine, problems);
    check_solved_hash(machine, problems);
    check_last_level(machine, problems);
    check_dram_waits(machine, problems);
    check_coalescer(machine, problems);
    check_latency(machine, problems);
    return problems.take();
}

std::vector<Difference> diff(const Machine& a, const Machine& b) {
    std::vector<Difference> rows;
    for (const ParameterInfo& parameter : parameter_table()) {
        Difference row{std::string(parameter.key), value_text(a, parameter), value_text(b, parameter)};
        if (row.a != row.b) rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace l2lens
