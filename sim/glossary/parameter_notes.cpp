// SPDX-License-Identifier: Apache-2.0
// Vendor names: CUDA Runtime API (cudaDeviceProp, cudaDevAttr...), Nsight Compute's metric prefixes, PTX
// special registers, the driver API's tensor maps, and for AMD the CDNA 3 ISA and rocprof-compute.
#include "glossary/parameter_notes.hpp"

#include <algorithm>
#include <array>

namespace l2lens {
namespace {

// clang-format off
constexpr auto kNotes = std::to_array<ParameterNote>({
    {"topology.partitions", "l2 = topology.partitions * l2.slices_per_partition * l2.slice",
     "L2 partitions (NVIDIA A100 and H100 whitepapers); XCDs (AMD)",
     "AddressMap::home; a slice of each in every Lane"},
    {"topology.cpcs_per_gpc", "group of an SM = (its TPC in the GPC) mod topology.cpcs_per_gpc",
     "CPC (NVIDIA, Hopper)", "Lane::on_request: a full slice takes requests from the groups in turn"},
    {"topology.sms", "SMs = sum of the lists", "%smid (PTX), multiProcessorCount; CUs (AMD)",
     "place_sms: who shares a coalescer and a port"},
    {"topology.partition_of_gpc", "partition of an SM = that of its GPC", "",
     "MemoryModel::partition_of_gpc: where a request is looked up first"},
    {"topology.first_wave", "launch id i of the first wave -> SM topology.first_wave[i]", "",
     "Dispatcher::form_gangs"},

    {"sm.shared_memory", "CTAs by shared memory = sm.shared_memory / (bytes of a CTA + sm.shared_memory_reserved)",
     "sharedMemPerMultiprocessor; LDS (AMD)", "ctas_per_sm in kernel/residency.cpp"},
    {"sm.shared_memory_per_cta", "a CTA with more does not launch", "sharedMemPerBlockOptin",
     "ctas_per_sm in kernel/residency.cpp; gemm.lua chooses its stages by it"},
    {"sm.shared_memory_reserved", "added to each CTA's shared memory", "reservedSharedMemPerBlock",
     "ctas_per_sm in kernel/residency.cpp"},
    {"sm.registers", "warps by registers = sm.registers / (32 * registers of a thread, in units of 256)",
     "regsPerMultiprocessor; VGPRs (AMD)", "ctas_per_sm in kernel/residency.cpp"},
    {"sm.threads", "CTAs by threads = sm.threads / threads of a CTA", "maxThreadsPerMultiProcessor",
     "ctas_per_sm in kernel/residency.cpp"},
    {"sm.ctas", "CTAs of an SM <= sm.ctas", "maxBlocksPerMultiProcessor", "ctas_per_sm in kernel/residency.cpp"},
    {"sm.tensor_16bit", "cycles of a step = its flops / sm.tensor_16bit", "HMMA, wgmma .bf16; MFMA (AMD)",
     "math_rate; ghz_under_power assumes it before a kernel has run"},
    {"sm.tensor_8bit", "cycles of a step = its flops / sm.tensor_8bit", "QGMMA, IMMA", "math_rate"},
    {"sm.tensor_tf32", "cycles of a step = its flops / sm.tensor_tf32", "wgmma .tf32", "math_rate"},

    {"sm.mma_issue", "loads behind a step leave sm.mma_issue * the math of its warpgroup after it is issued, or when the step before has retired",
     "wgmma.mma_async of a step, asynchronous", "Gpc::try_issue"},

    {"sm.l1", "L1 = what of sm.l1 the CTAs' shared memory leaves, when sm.l1_holds_shared",
     "unified L1/shared memory (NVIDIA); vL1D, TCP (AMD)", "L1Cache, from Gpc::take_from_l1"},
    {"sm.l1_holds_shared", "true: L1 = sm.l1 - shared memory as the driver configures it",
     "unified data cache (NVIDIA, since Volta)", "l1_bytes() in kernel/residency.cpp"},

    {"l2.slices_per_partition", "slices = topology.partitions * l2.slices_per_partition",
     "lts units (lts__t_sectors.sum / .avg); TCC channels (AMD)", "AddressMap::lane; one Lane for each"},
    {"l2.slice", "sets of a slice = l2.slice / (128 B * l2.ways)", "l2CacheSize is the sum; TCC",
     "AddressMap::set, SectorCache"},
    {"l2.ways", "a set holds l2.ways lines; the one used longest ago leaves", "",
     "SectorCache::find_or_allocate"},
    {"l2.dirty_ways", "of l2.dirty_ways + 1 dirty lines of a set the oldest is written back", "",
     "SectorCache::clean_beyond, from Lane::store"},
    {"l2.incomplete_ways", "of l2.incomplete_ways + 1 lines of a set with sectors written in part the oldest is fetched and written back", "",
     "SectorCache::clean_beyond, from Lane::store"},
    {"l2.tag_queue", "a slice takes requests while less than l2.tag_queue of them wait for its tags", "",
     "MemoryTiming::tag_queue, in Lane::on_request"},
    {"l2.lookup_queue", "l2.lookup_queue requests have passed the coalescer and wait for a slice that takes none", "",
     "LookupQueue, in Lane::let_in"},
    {"l2.far_queue", "likewise of requests for lines whose home is another partition, so that others pass them", "",
     "Lane::Entrance"},
    {"l2.input_queue", "beyond l2.input_queue requests that a slice has not answered or that wait in order, one of each CPC in turn is next", "",
     "TurnQueue"},
    {"l2.queue", "a slice takes requests while less than l2.queue lines wait at its output", "",
     "MemoryTiming::queue, in Lane::on_request"},
    {"l2.far_lines", "a slice takes requests for far lines while less than l2.far_lines are on their way to it over the fabric", "",
     "Lane::is_shut"},
    {"l2.far_in_order", "true: a far line that hits waits for the one that the SM's load engine asked the slice for before, if that is under way", "",
     "Lane::follow"},
    {"l2.replies_apart", "true: a reply over the fabric takes no turn of bandwidth.output", "lts__lts2xbar_cycles_active",
     "Lane::on_home_reply"},
    {"l2.fetch", "sectors filled = those missing, widened to whole l2.fetch bytes",
     "cudaLimitMaxL2FetchGranularity", "promote(), from Lane::on_read"},
    {"l2.tensor_fetch", "sectors filled = those missing, widened to whole l2.tensor_fetch bytes",
     "CU_TENSOR_MAP_L2_PROMOTION_L2_128B", "promote(), from Lane::on_read"},

    {"l2.private", "true: a partition fetches from the memory whatever it misses",
     "an L2 for each XCD (AMD)", "Lane::is_home"},
    {"l2.byte_masks", "true: a sector that was written in part is written back without a fetch", "", "Gpc::send"},

    {"last_level.size", "sets of a lane's share = last_level.size / (slices of a partition * 128 B * last_level.ways)",
     "Infinity Cache, MALL (AMD)", "LastLevelCache"},
    {"last_level.ways", "a set holds last_level.ways lines", "Infinity Cache, MALL (AMD)", "LastLevelCache"},
    {"last_level.latency", "data = its turn + last_level.latency", "", "Lane::fetch_sectors"},
    {"last_level.bandwidth", "a sector takes 32 B * slices / last_level.bandwidth ns of the slice's share", "",
     "MemoryTiming::last_level_sector, in Lane::fetch_sectors"},

    {"hash.home_masks", "bit i of home = parity(address & mask i)", "",
     "AddressMap::home"},
    {"hash.interleave", "addresses of one hash.interleave block are in one slice",
     "channel interleaving (AMD: 256 B)", "AddressMap::lane"},
    {"hash.slot_masks",
     "number = floor(address / 2^(10 + n)) * 2^n + n parities, of home_masks, then of slot_masks; "
     "slot = number mod slices, row = floor(number / slices)",
     "none is published", "SolvedMap::lane"},
    {"hash.row_bits", "place = 8 * row + the three address bits", "none is published", "SolvedMap::place"},
    {"hash.set_masks", "set = (place with these parities for its lowest eight bits) mod sets",
     "none is published", "SolvedMap::place"},

    {"coalescer.present", "without one max_requesters is 1",
     "LRC, L2 request coalescer (lrc__ metrics of Hopper)", "Coalescer, in front of each slice of a Lane"},
    {"coalescer.max_requesters", "one answer serves up to coalescer.max_requesters requests",
     "lrc__request_sectors_op_read_coalescing_achieved...", "Coalescer::join"},

    {"clock.l2", "an L2 cycle = 1 / clock.l2 ns", "lts__cycles_elapsed.avg.per_second",
     "MemoryTiming::of: all latencies and bandwidths in L2 cycles"},
    {"clock.sm_max", "an SM cycle >= 1 / clock.sm_max ns", "clockRate, sm__cycles_elapsed.avg.per_second",
     "ghz_under_power: its upper end"},
    {"clock.power_base", "SM clock = clock.power_base - clock.power_slope * TFLOP/s / 1000 - ...", "",
     "ghz_under_power"},
    {"clock.power_slope", "SM clock = clock.power_base - clock.power_slope * TFLOP/s / 1000 - ...", "",
     "ghz_under_power"},
    {"clock.power_l2", "SM clock = ... - clock.power_l2 * TB/s between SMs and L2", "", "ghz_under_power"},
    {"clock.power_fabric", "SM clock = ... - clock.power_fabric * TB/s between the partitions", "",
     "ghz_under_power"},
    {"clock.gpc_spread", "a cycle of a GPC takes 1 + d of the mean, d of standard deviation clock.gpc_spread", "",
     "gpc_paces"},
    {"clock.gpc_settles", "from clock.gpc_settles into a launch on, cycles of all GPCs take the mean", "",
     "GpcClocks"},

    {"latency.load_issue", "first line on the wire = issue + latency.load_issue", "", "BoxTiming"},
    {"latency.sm_to_slice", "arrival = departure + latency.sm_to_slice + the SM's and slice's spread", "",
     "sm_wire; the shorter of both ways is the window of Simulation::run_window"},
    {"latency.slice_to_sm", "arrival at the GPC = departure + latency.slice_to_sm", "",
     "Lane::on_answer; the shorter of both ways is the window of Simulation::run_window"},
    {"latency.sm_spread", "added to latency.sm_to_slice: a fixed share of it for each TPC", "", "sm_wire"},
    {"latency.slice_spread", "added to latency.sm_to_slice: a fixed share of it for each SM and lane", "",
     "sm_wire"},
    {"latency.release", "a stage's loads leave latency.release cycles after its step's math has retired", "",
     "Gpc::release_if_due"},
    {"latency.handshake", "and in a warp-specialized kernel latency.handshake cycles after that", "", "Gpc::handshake"},
    {"latency.handshake_jitter", "latency.handshake is drawn for each step, uniform within this many cycles about its value",
     "", "Gpc::handshake"},
    {"latency.sm_to_sm",
     "a stage that the CTAs of a cluster fill together is refilled by the last of them to free it at once, by "
     "the others latency.sm_to_sm later",
     "", "Gpc::want_loads"},
    {"latency.hit", "data of a resident line = lookup + latency.hit / clock.l2", "",
     "Lane::answer_hit; a coalescer entry of a hit lives that long"},
    {"latency.tag", "request to home or DRAM = lookup + latency.tag", "", "Lane::on_read, on_home_lookup and store"},
    {"latency.fabric_request", "lookup at home = departure + latency.fabric_request", "",
     "Lane::fetch_missing, on_write"},
    {"latency.fabric_reply", "copy = departure from home + latency.fabric_reply", "", "Lane::on_home_reply"},
    {"latency.dram", "data = DRAM's turn + latency.dram + jitter", "", "Lane::read_dram"},
    {"latency.dram_jitter", "jitter = -latency.dram_jitter / (1 - latency.dram_load * load) * ln(uniform)", "",
     "Lane::read_dram"},
    {"latency.dram_load", "load: the share of the last microseconds that the slice's DRAM was busy", "", "RecentLoad"},
    {"latency.dram_load_far", "the same with latency.dram_load_far for lines that another partition asked for", "",
     "MemoryTiming::wait"},
    {"latency.dram_spread", "deviation = sqrt(latency.dram_spread * mean wait) where the mean is longer than it", "",
     "MemoryTiming::wait"},

    {"bandwidth.issue", "line i of a box leaves i / bandwidth.issue SM cycles after the first", "", "BoxTiming"},
    {"bandwidth.store", "line i of a stored box leaves i / bandwidth.store SM cycles after the first", "", "BoxTiming"},
    {"bandwidth.sm", "a line takes 1 / bandwidth.sm SM cycles of its SM's port",
     "l1tex__m_xbar2l1tex_read_sectors.sum.per_cycle_elapsed", "Gpc::land"},
    {"bandwidth.gpc", "an answer takes (its bytes + bandwidth.answer_overhead) / bandwidth.gpc ns of the port", "",
     "Gpc::on_answer"},
    {"bandwidth.gpc_queue", "slices send to a GPC while less than bandwidth.gpc_queue ns of data wait for its port", "",
     "GpcPorts, from Simulation::run_window to Lane::hold_back"},
    {"bandwidth.answer_overhead", "an answer takes (its bytes + bandwidth.answer_overhead) / bandwidth.gpc ns of the port",
     "", "Gpc::on_answer"},
    {"bandwidth.tag", "a lookup takes 1 / (clock.l2 * bandwidth.tag) ns of the slice", "lts__t_requests",
     "MemoryTiming::tag, in Lane::on_read and on_home_lookup"},
    {"bandwidth.write", "a write takes 1 / (clock.l2 * bandwidth.write) ns of the slice", "lts__t_requests",
     "MemoryTiming::tag_write, in Lane::on_write and on_home_write"},
    {"bandwidth.output", "a sector takes 1 / (clock.l2 * bandwidth.output) ns of the slice's port",
     "lts__lts2xbar_cycles_active", "MemoryTiming::output_sector, in Lane::leave_output and on_home_reply"},
    {"bandwidth.fabric", "a sector takes 1 / (clock.l2 * bandwidth.fabric) ns of the slice's link",
     "lts__ltcfabric2lts_cycles_active", "MemoryTiming::fabric_sector, in Lane::on_home_reply and on_write"},
    {"bandwidth.dram", "a sector takes 32 B * slices / bandwidth.dram ns of the slice's share",
     "dram__bytes.sum.per_second", "MemoryTiming::dram_sector, in Lane::read_dram and write_back"},

    {"launch.overhead", "gpu__time_duration = last CTA's end + launch.overhead, of each launch",
     "gpu__time_duration less sm__cycles_active / clock", "predict()"},
    {"launch.cta_gap", "next CTA = exit + launch.cta_gap", "", "Dispatcher (mode grid)"},
    {"launch.cluster_gap", "next cluster = last exit + launch.cta_gap + launch.cluster_gap", "",
     "Dispatcher (mode grid, clusters)"},
    {"launch.persistent_gap", "next tile = end of the last + launch.persistent_gap", "",
     "Dispatcher (modes static and dynamic)"},
    {"launch.stagger", "start of launch id i of the first wave = i * launch.stagger", "", "Dispatcher::first_wave"},
    {"launch.round_robin", "true: partition of a CTA = its launch id mod topology.partitions",
     "workgroups are dealt to the XCDs in turn (AMD)", "Dispatcher::next_cluster (mode grid)"},
    {"launch.persistent_jitter", "exit = end of the epilogue + uniform(0, launch.persistent_jitter)", "",
     "ExitReports (modes static and dynamic)"},
    {"launch.exit_jitter", "exit = end of the epilogue + uniform(0, launch.exit_jitter)", "", "ExitReports (mode grid)"},
    {"launch.exit_round", "heard of at the first n * launch.exit_round + GPC / GPCs * launch.exit_round after the exit", "",
     "ExitReports (mode grid)"},
    {"launch.start_jitter", "next CTA = exit + launch.cta_gap + uniform(0, launch.start_jitter)", "",
     "Dispatcher::start_time (mode grid)"},
    {"launch.interval", "next CTA of a grid >= the last start on its GPC + launch.interval", "", "Dispatcher::in_turn (mode grid)"},
    {"launch.end_fences", "fences of a launch = its kernel's + launch.end_fences * SMs that ran a CTA", "", "fences_of()"},
});
// clang-format on

}  // namespace

std::span<const ParameterNote> parameter_notes() {
    return kNotes;
}

const ParameterNote* find_parameter_note(std::string_view key) {
    const auto* note = std::ranges::find(kNotes, key, &ParameterNote::key);
    return note == kNotes.end() ? nullptr : note;
}

}  // namespace l2lens
