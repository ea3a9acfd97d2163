// SPDX-License-Identifier: Apache-2.0
// The table itself. Ranges are wide: they catch a slipped digit or unit, not an unusual GPU.
#include "machine/parameters.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "machine/topology.hpp"

namespace l2lens {
namespace {

using M = Machine;
using Sm_ = Machine::SmLimits;
using L2 = Machine::L2;
using Hash = Machine::Hash;
using Coalescer = Machine::Coalescer;
using Clock = Machine::Clock;
using Latency = Machine::Latency;
using Bandwidth = Machine::Bandwidth;
using Launch = Machine::Launch;
using LastLevel = Machine::LastLevel;

int& partitions(Machine& machine) {
    return machine.partitions;
}

int& cpcs_per_gpc(Machine& machine) {
    return machine.cpcs_per_gpc;
}

template <auto Group, auto Member>
auto& at(Machine& machine) {
    return machine.*Group.*Member;
}

constexpr std::int64_t kKiB = 1024;
constexpr bool kOptional = true;
constexpr double kBig = 1 << 20;

// clang-format off
const std::vector<ParameterInfo> kTable = {
    {"topology.partitions", "", 1, 64,
     "groups of L2 slices, each with the SMs in front of it", partitions},
    {"topology.cpcs_per_gpc", "", 1, 16,
     "groups of TPCs (pairs of SMs) of a GPC whose requests a full slice takes in turn: TPC i of a GPC is in group i mod this", cpcs_per_gpc},
    {"topology.sms", "", 0, kBig,
     "the SM ids (%smid) of each GPC", TopologyList::SmsOfGpc},
    {"topology.partition_of_gpc", "", 0, kBig,
     "the partition that the SMs of each GPC look in first", TopologyList::PartitionOfGpc},
    {"topology.first_wave", "", 0, kBig,
     "SM ids in the order in which the CTAs of a first wave reach them, at one CTA per SM", TopologyList::FirstWave},

    {"sm.shared_memory", "KiB", 1, 4096,
     "shared memory of an SM", at<&M::sm, &Sm_::shared_memory_bytes>, kKiB},
    {"sm.shared_memory_per_cta", "KiB", 1, 4096,
     "the most that one CTA may ask for", at<&M::sm, &Sm_::shared_memory_per_cta>, kKiB},
    {"sm.shared_memory_reserved", "KiB", 0, 64,
     "taken by the driver for each resident CTA", at<&M::sm, &Sm_::shared_memory_reserved>, kKiB},
    {"sm.registers", "", 1, kBig,
     "32-bit registers of an SM", at<&M::sm, &Sm_::registers>},
    {"sm.threads", "", 32, 65536,
     "threads that an SM holds", at<&M::sm, &Sm_::threads>},
    {"sm.ctas", "", 1, 1024,
     "CTAs that an SM holds", at<&M::sm, &Sm_::ctas>},
    {"sm.tensor_16bit", "flops/cycle", 1, kBig,
     "dense fp16 and bf16 with fp32 accumulation, per SM; a multiply-add is two",
     at<&M::sm, &Sm_::tensor_flops_per_cycle_16bit>},
    {"sm.tensor_8bit", "flops/cycle", 0, kBig,
     "the same for fp8 or int8; 0 when there is none", at<&M::sm, &Sm_::tensor_flops_per_cycle_8bit>},
    {"sm.tensor_tf32", "flops/cycle", 0, kBig,
     "the same for tf32; 0 when there is none", at<&M::sm, &Sm_::tensor_flops_per_cycle_tf32>},
    {"sm.mma_issue", "", 0, 1,
     "after which share of a step's math a warpgroup has handed all of it to the tensor cores", at<&M::sm, &Sm_::mma_issue>, 1, kOptional},
    {"sm.l1", "KiB", 0, 4096,
     "data cache of an SM for plain loads; 0 when none is modelled", at<&M::sm, &Sm_::l1_bytes>, kKiB, kOptional},
    {"sm.l1_holds_shared", "", 0, 1,
     "whether shared memory is taken out of that cache", at<&M::sm, &Sm_::l1_holds_shared>, 1, kOptional},

    {"l2.slices_per_partition", "", 1, 256,
     "active L2 banks (lts) of a partition", at<&M::l2, &L2::slices_per_partition>},
    {"l2.slice", "KiB", 1, kBig,
     "capacity of a slice", at<&M::l2, &L2::slice_bytes>, kKiB},
    {"l2.ways", "", 1, 1024,
     "lines of a set", at<&M::l2, &L2::ways>},
    {"l2.dirty_ways", "", 1, 1024,
     "of so many dirty lines of a set the next lookup in it writes back the oldest, which stays", at<&M::l2, &L2::dirty_ways>},
    {"l2.incomplete_ways", "", 0, 1024,
     "lines of a set that may wait for the rest of sectors written in part; of one more the oldest is fetched and written back. 0: no limit",
     at<&M::l2, &L2::incomplete_ways>, 1, kOptional},
    {"l2.tag_queue", "requests", 0, kBig,
     "requests that may wait for a slice's tags; beyond it the slice takes none. 0: no limit",
     at<&M::l2, &L2::tag_queue_requests>, 1, kOptional},
    {"l2.lookup_queue", "requests", 0, 1e6,
     "requests that wait behind a coalescer while their slice takes none; the next ones wait in front of it",
     at<&M::l2, &L2::lookup_queue_requests>, 1, kOptional},
    {"l2.far_queue", "requests", 0, 1e6,
     "the same of requests for lines whose home is another partition, which wait apart from the others",
     at<&M::l2, &L2::far_queue_requests>, 1, kOptional},
    {"l2.input_queue", "requests", 0, kBig,
     "requests that a slice has let in and not answered, merged ones left out, and that wait in front of it in the order in which they come; the next ones wait for their CPC's turn",
     at<&M::l2, &L2::input_queue_requests>, 1, kOptional},
    {"l2.queue", "lines", 0, kBig,
     "data that may wait at a slice's output while it takes requests. 0: no limit",
     at<&M::l2, &L2::queue_lines>},
    {"l2.gpc_queue", "lines", 0, kBig,
     "data that may wait for a slice's ways into the GPCs, all together, while it takes requests. 0: no limit",
     at<&M::l2, &L2::gpc_queue_lines>, 1, kOptional},
    {"l2.far_lines", "lines", 0, kBig,
     "lines that may be on their way to a slice over the fabric; beyond it the slice takes no more requests for such. 0: no limit",
     at<&M::l2, &L2::far_lines>, 1, kOptional},
    {"l2.far_in_order", "", 0, 1,
     "whether an SM's load engine gets lines whose home is the other partition from a slice in the order in which it asks",
     at<&M::l2, &L2::far_in_order>, 1, kOptional},
    {"l2.misses_in_order", "", 0, 1,
     "whether what a slice misses of its own lines waits as long as requests for such lines wait in front of the other partition's slice",
     at<&M::l2, &L2::misses_in_order>, 1, kOptional},
    {"l2.replies_apart", "", 0, 1,
     "whether data for the other partition leaves by a port of its own; else it takes turns with data for SMs",
     at<&M::l2, &L2::replies_apart>, 1, kOptional},
    {"l2.fetch", "B", 32, 128,
     "what a miss of a plain load fills: 32, 64 or 128 bytes around it", at<&M::l2, &L2::fetch_bytes>},
    {"l2.tensor_fetch", "B", 32, 128,
     "the same for loads through a tensor map (CU_TENSOR_MAP_L2_PROMOTION)", at<&M::l2, &L2::tensor_fetch_bytes>},
    {"l2.private", "", 0, 1,
     "whether each partition caches every address for its own SMs, without a home partition",
     at<&M::l2, &L2::private_partitions>, 1, kOptional},
    {"l2.byte_masks", "", 0, 1,
     "whether what was written of a sector goes to the memory by itself; else what is missing of it is fetched first",
     at<&M::l2, &L2::byte_masks>, 1, kOptional},

    {"last_level.size", "KiB", 0, 16.0 * kBig,
     "a cache in front of the memory, shared by all partitions; 0 when there is none",
     at<&M::last_level, &LastLevel::bytes>, kKiB, kOptional},
    {"last_level.ways", "", 0, 1024,
     "lines of a set of it", at<&M::last_level, &LastLevel::ways>, 1, kOptional},
    {"last_level.latency", "ns", 0, 1e5,
     "from a miss in the L2 to data of it", at<&M::last_level, &LastLevel::latency_ns>, 1, kOptional},
    {"last_level.bandwidth", "B/ns", 0, 1e6,
     "of the whole device", at<&M::last_level, &LastLevel::bytes_per_ns>, 1, kOptional},

    {"hash.home_masks", "bits", 0, 63,
     "physical address bits whose parity is one bit of the home partition's number, a list for each of its bits",
     at<&M::hash, &Hash::home_masks>},
    {"hash.interleave", "B", 128, kBig,
     "neighbouring bytes that stay in one slice", at<&M::hash, &Hash::interleave_bytes>},
    {"hash.slot_masks", "bits", 0, 63,
     "physical address bits whose parities, behind the home's, stand in a line's number for its lowest address bits",
     at<&M::hash, &Hash::slot_masks>, 1, kOptional},
    {"hash.row_bits", "bits", 0, 63,
     "physical address bits, a list for each, that tell a slot's eight lines in a row apart",
     at<&M::hash, &Hash::row_bits>, 1, kOptional},
    {"hash.set_masks", "bits", 0, 31,
     "bits of a line's place in its slice (8 * row + which of the row's lines) whose parities replace the place's lowest eight",
     at<&M::hash, &Hash::set_masks>, 1, kOptional},

    {"coalescer.present", "", 0, 1,
     "whether reads of one line by SMs of one GPC merge in front of a slice", at<&M::coalescer, &Coalescer::present>},
    {"coalescer.max_requesters", "", 1, 8,
     "requests that one entry serves, the first one included", at<&M::coalescer, &Coalescer::max_requesters>},

    {"clock.l2", "GHz", 0.01, 100,
     "clock of the slices (lts cycles)", at<&M::clock, &Clock::l2_ghz>},
    {"clock.sm_max", "GHz", 0.01, 100,
     "highest clock of the SMs", at<&M::clock, &Clock::sm_max_ghz>},
    {"clock.power_base", "GHz", 0.01, 100,
     "SM clock under tensor load, extrapolated to none", at<&M::clock, &Clock::power_base_ghz>},
    {"clock.power_slope", "GHz per 1000 TFLOP/s", 0, 100,
     "what tensor load takes off the SM clock; 0 for a clock that power does not limit",
     at<&M::clock, &Clock::power_slope_ghz>},
    {"clock.power_l2", "GHz per TB/s", 0, 1,
     "what traffic between SMs and L2 takes off the SM clock under tensor load",
     at<&M::clock, &Clock::power_l2_ghz>, 1, kOptional},
    {"clock.power_fabric", "GHz per TB/s", 0, 1,
     "what traffic between the partitions takes off the SM clock under tensor load",
     at<&M::clock, &Clock::power_fabric_ghz>, 1, kOptional},
    {"clock.gpc_spread", "", 0, 0.2,
     "how far the GPCs' clocks differ under tensor load: standard deviation, as a share of their mean",
     at<&M::clock, &Clock::gpc_spread>, 1, kOptional},
    {"clock.gpc_settles", "ms", 0, 1e6,
     "how far into a launch the GPCs' clocks become alike", at<&M::clock, &Clock::gpc_settles_ms>, 1, kOptional},

    {"latency.load_issue", "cycles", 0, 1e5,
     "SM cycles from the issue of a box to its first line on the wire", at<&M::latency, &Latency::load_issue_cycles>},
    {"latency.sm_to_slice", "ns", 0, 1e5,
     "a request's way to its slice", at<&M::latency, &Latency::sm_to_slice_ns>},
    {"latency.slice_to_sm", "ns", 0, 1e5,
     "the data's way back", at<&M::latency, &Latency::slice_to_sm_ns>},
    {"latency.sm_spread", "cycles", 0, 1e5,
     "fixed differences between SMs: uniform up to this many SM cycles", at<&M::latency, &Latency::sm_spread_cycles>},
    {"latency.slice_spread", "cycles", 0, 1e5,
     "fixed differences between pairs of SM and slice", at<&M::latency, &Latency::slice_spread_cycles>},
    {"latency.release", "cycles", 0, 1e5,
     "from a step's math to the loads into its stage: barrier, addresses, load instruction", at<&M::latency, &Latency::release_cycles>},
    {"latency.handshake", "cycles", 0, 1e5,
     "what these loads take beside in a warp-specialized kernel, until the producer has heard of the stage", at<&M::latency, &Latency::handshake_cycles>},
    {"latency.handshake_jitter", "cycles", 0, 1e5,
     "how far apart the shortest and the longest of these are, uniform", at<&M::latency, &Latency::handshake_jitter_cycles>, 1, kOptional},
    {"latency.poll", "cycles", 0, 1e5,
     "a producer that waits for a stage looks for it again every so many cycles; 0: it hears of it at once", at<&M::latency, &Latency::poll_cycles>, 1, kOptional},
    {"latency.sm_to_sm", "cycles", 0, 1e5,
     "a signal from one CTA of a cluster to another; 0 without clusters", at<&M::latency, &Latency::sm_to_sm_cycles>},
    {"latency.hit", "L2 cycles", 0, 1e5,
     "from the tag lookup to the data of a resident line", at<&M::latency, &Latency::hit_l2_cycles>},
    {"latency.tag", "ns", 0, 1e5,
     "from the tag lookup of a miss to its request leaving", at<&M::latency, &Latency::tag_ns>},
    {"latency.fabric_request", "ns", 0, 1e5,
     "to the home partition", at<&M::latency, &Latency::fabric_request_ns>},
    {"latency.fabric_reply", "ns", 0, 1e5,
     "back from the home partition", at<&M::latency, &Latency::fabric_reply_ns>},
    {"latency.dram", "ns", 0, 1e5,
     "a DRAM access, the constant part", at<&M::latency, &Latency::dram_ns>},
    {"latency.dram_jitter", "ns", 0, 1e5,
     "mean of the exponentially distributed part, drawn for each line, of an idle DRAM; it runs while the line stands in line", at<&M::latency, &Latency::dram_jitter_ns>},
    {"latency.dram_queue", "ns", 0, 1e5,
     "what it has more when DRAM is busy for a share of the time, as waits in a queue do: this * the share over 1 - latency.dram_load * the share", at<&M::latency, &Latency::dram_queue_ns>, 1, kOptional},
    {"latency.dram_load", "", 0, 0.99,
     "how fast a busy DRAM's queue grows with the share of the time that it is busy", at<&M::latency, &Latency::dram_load>, 1, kOptional},
    {"latency.dram_spread", "ns", 0, 1e5,
     "waits longer than this have a standard deviation of the root of this * their mean, as sums of such waits; 0: as long as their mean", at<&M::latency, &Latency::dram_spread_ns>, 1, kOptional},
    {"latency.dram_refresh", "ns", 0, 1e5,
     "a refresh of a bank of DRAM, for the rest of which its lines wait", at<&M::latency, &Latency::dram_refresh_ns>, 1, kOptional},
    {"latency.dram_refresh_share", "", 0, 1,
     "of lines that find a refresh of their bank under way", at<&M::latency, &Latency::dram_refresh_share>, 1, kOptional},
    {"latency.dram_refresh_groups", "", 1, 64,
     "of channels, whose refreshes end at other times", at<&M::latency, &Latency::dram_refresh_groups>, 1, kOptional},
    {"latency.dram_backlog", "ns", 0, 1e5,
     "how long who has waited for a refresh or a turn waits for what has come meanwhile, times what the load makes of it", at<&M::latency, &Latency::dram_backlog_ns>, 1, kOptional},
    {"latency.dram_pause", "ns", 0, 1e5,
     "in which DRAM serves nobody, once in each latency.dram_pause_every", at<&M::latency, &Latency::dram_pause_ns>, 1, kOptional},
    {"latency.dram_pause_every", "us", 0, 1e6,
     "from one of them to the next", at<&M::latency, &Latency::dram_pause_every_us>, 1, kOptional},
    {"latency.dram_write", "ns", 0, 1e5,
     "how long a DRAM that reads take wholly keeps a slice from cleaning the next dirty line. 0: it takes all at once",
     at<&M::latency, &Latency::dram_write_ns>, 1, kOptional},
    {"latency.dram_turn", "ns", 0, 1e5,
     "in which a slice's DRAM writes, for the rest of which lines that are read wait", at<&M::latency, &Latency::dram_turn_ns>, 1, kOptional},
    {"latency.dram_turn_lines", "lines", 0, 4096,
     "that a slice has to have written back before its DRAM turns to them", at<&M::latency, &Latency::dram_turn_lines>, 1, kOptional},

    {"bandwidth.issue", "lines/cycle", 1e-3, 1e3,
     "requests that the load engine of one SM sends in an SM cycle", at<&M::bandwidth, &Bandwidth::issue_lines_per_cycle>},
    {"bandwidth.store", "lines/cycle", 0, 1e3,
     "stores that one SM sends in an SM cycle; 0: as many as bandwidth.issue", at<&M::bandwidth, &Bandwidth::store_lines_per_cycle>, 1, kOptional},
    {"bandwidth.sm", "lines/cycle", 1e-3, 1e3,
     "128-byte lines into one SM in an SM cycle", at<&M::bandwidth, &Bandwidth::sm_lines_per_cycle>},
    {"bandwidth.gpc", "B/ns", 1e-2, 1e6,
     "into one GPC, the overhead of its answers included", at<&M::bandwidth, &Bandwidth::gpc_bytes_per_ns>},
    {"bandwidth.gpc_way", "B/ns", 0, 1e6,
     "from one slice into one GPC of its partition, the overhead of answers included; the line engine has it in place of bandwidth.gpc. 0: it has bandwidth.gpc",
     at<&M::bandwidth, &Bandwidth::gpc_way_bytes_per_ns>, 1, kOptional},
    {"bandwidth.answer_overhead", "B", 0, 1024,
     "what an answer of one to four sectors takes of its way into its GPC, or of the GPC's port, beside its data", at<&M::bandwidth, &Bandwidth::answer_overhead_bytes>},
    {"bandwidth.tag", "requests/L2 cycle", 1e-3, 1e3,
     "lookups of one slice", at<&M::bandwidth, &Bandwidth::tag_requests_per_l2_cycle>},
    {"bandwidth.write", "requests/L2 cycle", 1e-3, 1e3,
     "whole-line writes into one slice", at<&M::bandwidth, &Bandwidth::write_requests_per_l2_cycle>},
    {"bandwidth.output", "sectors/L2 cycle", 1e-3, 1e3,
     "out of one slice to SMs, and to the fabric unless l2.replies_apart", at<&M::bandwidth, &Bandwidth::output_sectors_per_l2_cycle>},
    {"bandwidth.fabric", "sectors/L2 cycle", 1e-3, 1e3,
     "between partitions, per slice and direction", at<&M::bandwidth, &Bandwidth::fabric_sectors_per_l2_cycle>},
    {"bandwidth.dram", "B/ns", 1e-2, 1e6,
     "the memory of the whole device", at<&M::bandwidth, &Bandwidth::dram_bytes_per_ns>},

    {"launch.overhead", "ns", 0, 1e6,
     "of a launch, before its first CTA and after its last one", at<&M::launch, &Launch::overhead_ns>, 1, kOptional},
    {"launch.cta_gap", "ns", 0, 1e6,
     "from a CTA's end to the next CTA of the grid in its place", at<&M::launch, &Launch::cta_gap_ns>},
    {"launch.cluster_gap", "ns", 0, 1e6,
     "the same for a cluster's CTAs, in addition", at<&M::launch, &Launch::cluster_gap_ns>},
    {"launch.persistent_gap", "ns", 0, 1e6,
     "from a persistent CTA's tile to its next one", at<&M::launch, &Launch::persistent_gap_ns>},
    {"launch.persistent_jitter", "ns", 0, 1e6,
     "uniform up to this, on the end of a persistent CTA's tile", at<&M::launch, &Launch::persistent_jitter_ns>, 1, kOptional},
    {"launch.stagger", "ns", 0, 1e6,
     "between launch-consecutive CTAs of the first wave", at<&M::launch, &Launch::stagger_ns>},
    {"launch.exit_jitter", "ns", 0, 1e6,
     "uniform up to this, on the end of a CTA of a grid", at<&M::launch, &Launch::exit_jitter_ns>},
    {"launch.exit_round", "ns", 0, 1e6,
     "so often a grid's dispatcher hears of the CTAs that have left a GPC; 0: of each by itself",
     at<&M::launch, &Launch::exit_round_ns>, 1, kOptional},
    {"launch.start_jitter", "ns", 0, 1e6,
     "uniform up to this, on launch.cta_gap, the same for CTAs that follow in a GPC at once",
     at<&M::launch, &Launch::start_jitter_ns>, 1, kOptional},
    {"launch.interval", "ns", 0, 1e4,
     "from one start on a GPC to the next, at least, of a grid's CTAs that follow others; in first waves it is launch.stagger",
     at<&M::launch, &Launch::interval_ns>, 1, kOptional},
    {"launch.end_fences", "", 0, 100, "fences of GPU scope of each SM that ran a CTA, as a launch ends; counted, and take no time",
     at<&M::launch, &Launch::end_fences>, 1, kOptional},
    {"launch.rotates", "", 0, 1,
     "whether each launch begins on another GPC than the one before, by topology.first_wave but for the SMs that come first there and apart from their GPC",
     at<&M::launch, &Launch::rotates>, 1, kOptional},
    {"launch.round_robin", "", 0, 1,
     "whether a CTA's partition is its launch id mod the partitions, whoever is free",
     at<&M::launch, &Launch::round_robin>, 1, kOptional},
};
// clang-format on

// The shortest digits that read back as the same number, without an exponent where one can do without.
std::string digits(double value) {
    char buffer[32];
    const bool plain = std::abs(value) < 1e15 && (value == 0 || std::abs(value) >= 1e-6);
    const auto format = plain ? std::chars_format::fixed : std::chars_format::general;
    const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value, format).ptr;
    return {buffer, end};
}

template <class T>
std::string list_text(const std::vector<T>& list) {
    std::string text = "[";
    for (const T& item : list) {
        if (text.size() > 1) text += ", ";
        if constexpr (std::is_integral_v<T>)
            text += std::to_string(item);
        else
            text += list_text(item);
    }
    return text + "]";
}

std::vector<int> bits_of(std::uint64_t mask) {
    std::vector<int> bits;
    for (; mask != 0; mask &= mask - 1) bits.push_back(std::countr_zero(mask));
    return bits;
}

// The accessors of the table serve reading and writing; the functions below only read.
Machine& readable(const Machine& machine) {
    return const_cast<Machine&>(machine);
}

struct NumberOf {
    Machine& machine;
    std::int64_t scale;

    std::optional<double> operator()(Field<double> field) const { return field(machine); }
    std::optional<double> operator()(Field<int> field) const { return field(machine); }
    std::optional<double> operator()(Field<std::int64_t> field) const {
        return static_cast<double>(field(machine)) / static_cast<double>(scale);
    }
    template <class Other>
    std::optional<double> operator()(Other) const {
        return std::nullopt;
    }
};

struct TextOf {
    Machine& machine;
    std::int64_t scale;

    std::string operator()(Field<double> field) const { return digits(field(machine)); }
    std::string operator()(Field<int> field) const { return std::to_string(field(machine)); }
    std::string operator()(Field<std::int64_t> field) const { return std::to_string(field(machine) / scale); }
    std::string operator()(Field<bool> field) const { return field(machine) ? "true" : "false"; }
    std::string operator()(Field<std::vector<std::uint64_t>> field) const {
        std::vector<std::vector<int>> lists;
        for (const std::uint64_t mask : field(machine)) lists.push_back(bits_of(mask));
        return list_text(lists);
    }
    std::string operator()(TopologyList list) const {
        const Topology topology = topology_of(machine);
        if (list == TopologyList::SmsOfGpc) return list_text(topology.sms_of_gpc);
        return list_text(list == TopologyList::FirstWave ? topology.first_wave : topology.partition_of_gpc);
    }
};

}  // namespace

std::span<const ParameterInfo> parameter_table() {
    return kTable;
}

const ParameterInfo* find_parameter(std::string_view key) {
    const auto row = std::ranges::find(kTable, key, &ParameterInfo::key);
    return row == kTable.end() ? nullptr : &*row;
}

std::optional<double> number_of(const Machine& machine, const ParameterInfo& parameter) {
    return std::visit(NumberOf{readable(machine), parameter.scale}, parameter.field);
}

std::string range_problem(const ParameterInfo& parameter, double value) {
    if (value >= parameter.least && value <= parameter.most) return "";  // false for NaN
    const std::string unit = parameter.unit.empty() ? "" : " " + std::string(parameter.unit);
    return "is " + digits(value) + unit + "; it must be between " + digits(parameter.least) + " and " +
           digits(parameter.most);
}

std::string value_text(const Machine& machine, const ParameterInfo& parameter) {
    return std::visit(TextOf{readable(machine), parameter.scale}, parameter.field);
}

void renew_values(Machine& machine) {
    for (Parameter& parameter : machine.parameters)
        parameter.value = value_text(machine, *find_parameter(parameter.key));
}

}  // namespace l2lens
