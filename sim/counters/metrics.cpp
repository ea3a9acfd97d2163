// SPDX-License-Identifier: Apache-2.0
// The identities in the formula column were checked on the 354 recorded rows of traces/h200/gemm*.csv;
// counters of one row come from several replays of the kernel, so they hold to the noise between replays: the
// median deviation is 0.7 % for tex + fabric, 1 % for hits and misses, 0.003 % where one pass reads both
// sides.
#include "counters/metrics.hpp"

#include <array>
#include <cmath>

namespace l2lens {
namespace {

using enum Event;
using enum MetricKind;

double sum(const Events& events, const RunTotals& totals, std::initializer_list<Event> added,
           std::initializer_list<Event> subtracted = {}) {
    double total = 0;
    for (const Event e : added) total += static_cast<double>(events[e]);
    for (const Event e : subtracted) total -= static_cast<double>(events[e]);
    return total * totals.scale;
}

double percent(double part, double whole) {
    return whole > 0 ? 100.0 * part / whole : 0.0;
}

double tex_sectors(const Events& e, const RunTotals& t) {
    return sum(e, t, {TexReadSectors, TexWriteSectors});
}
double tex_hits(const Events& e, const RunTotals& t) {
    return sum(e, t, {TexReadHits, TexWriteSectors}, {TexWriteMisses});
}
double tex_misses(const Events& e, const RunTotals& t) {
    return sum(e, t, {TexReadMisses, TexReadPromoted, TexWriteMisses});
}
double fabric_sectors(const Events& e, const RunTotals& t) {
    return sum(e, t, {FabricReadSectors, FabricWriteSectors}) + t.fence_sectors;
}
double fabric_hits(const Events& e, const RunTotals& t) {
    return sum(e, t, {FabricReadHits, FabricWriteSectors}) + t.fence_sectors;
}
double fabric_misses(const Events& e, const RunTotals& t) {
    return sum(e, t, {FabricReadMisses});
}
double l2_sectors(const Events& e, const RunTotals& t) {
    return tex_sectors(e, t) + fabric_sectors(e, t) + t.fence_sectors;
}
double l2_hits(const Events& e, const RunTotals& t) {
    return tex_hits(e, t) + fabric_hits(e, t) + t.fence_sectors;
}
double l2_misses(const Events& e, const RunTotals& t) {
    return tex_misses(e, t) + fabric_misses(e, t);
}
double asked_sectors(const Events& e, const RunTotals& t) {
    return sum(e, t, {CoalescableSectors});
}
double unmerged_sectors(const Events& e, const RunTotals& t) {
    return sum(e, t, {CoalescableSectors}, {MergedSectors});
}
double fill_sectors(const Events& e, const RunTotals& t) {
    return sum(e, t, {FillSectors});
}
double delivered_sectors(const Events& e, const RunTotals& t) {
    return sum(e, t, {DeliveredSectors});
}
double l1_sectors(const Events& e, const RunTotals& t) {
    return sum(e, t, {L1Sectors});
}
double last_level_sectors(const Events& e, const RunTotals& t) {
    return sum(e, t, {LastLevelSectors});
}
// Lookups and misses of 128 B lines, as an MI300X' L2 counts them: a miss asks the fabric for its whole line.
// Known of machines with a cache behind private L2s.
double line_requests(const Events& e, const RunTotals& t) {
    return e[LastLevelSectors] > 0 ? sum(e, t, {TexRequests}) : kUnknown;
}
double line_misses(const Events& e, const RunTotals& t) {
    return e[LastLevelSectors] > 0 ? sum(e, t, {LastLevelSectors}) / 4 : kUnknown;
}
double hit_rate(const Events& e, const RunTotals& t) {
    return percent(l2_hits(e, t), l2_sectors(e, t));
}

constexpr MetricUnit kSectors = MetricUnit::Sectors;
constexpr MetricUnit kRequests = MetricUnit::Requests;
constexpr MetricUnit kBytes = MetricUnit::Bytes;
constexpr MetricUnit kPercent = MetricUnit::Percent;
constexpr double kBytesPerSector = 32;

constexpr std::array kMetrics{
    // The tag stage of the slices: every sector looked up, from whichever side.
    Metric{
        "lts__t_sectors.sum", Hardware, kSectors,
        "lts__t_sectors_srcunit_tex.sum + lts__t_sectors_srcunit_ltcfabric.sum + fences (one in each slice)",
        "32 B sectors looked up in all L2 slices: the SMs' own lookups and those in the home partition.",
        "A far-homed miss is looked up twice, so this is not what the SMs asked for.", l2_sectors},
    Metric{"lts__t_sectors.avg", Hardware, kSectors, "lts__t_sectors.sum / slices",
           "Sectors looked up by the average slice.", "",
           [](const Events& e, const RunTotals& t) {
               return t.slices > 0 ? l2_sectors(e, t) / t.slices : kUnknown;
           }},
    Metric{"lts__t_requests.sum", Hardware, kRequests,
           "lts__t_requests_srcunit_tex.sum + lts__t_sectors_srcunit_ltcfabric.sum / 2 (a fabric request "
           "carries two sectors)",
           "Requests at the tag stage; one asks for up to four sectors of one line.",
           "Sectors per request below 4: partial lines, or fabric requests.",
           [](const Events& e, const RunTotals& t) {
               return sum(e, t, {TexRequests}) + fabric_sectors(e, t) / 2;
           }},
    Metric{"lts__t_sectors_op_read.sum", Hardware, kSectors,
           "lts__t_sectors.sum - lts__t_sectors_op_write.sum - fences (two in each slice)",
           "Sectors looked up by reads, in the own and in the home partition.", "",
           [](const Events& e, const RunTotals& t) {
               return sum(e, t, {TexReadSectors, FabricReadSectors});
           }},
    Metric{"lts__t_sectors_op_write.sum", Hardware, kSectors,
           "tex writes + fabric writes (1.5 x the bytes of C / 32)",
           "Sectors written: once where the SM writes, and again in the home partition for far-homed lines.",
           "Half of C is homed far from its writer.",
           [](const Events& e, const RunTotals& t) {
               return sum(e, t, {TexWriteSectors, FabricWriteSectors});
           }},
    Metric{"lts__t_sectors_op_read_lookup_hit.sum", Hardware, kSectors,
           "lts__t_sectors_lookup_hit.sum - lts__t_sectors_op_write.sum (whole-sector writes hit) - fences",
           "Read sectors found; a sector whose fill is under way counts as found.", "",
           [](const Events& e, const RunTotals& t) {
               return sum(e, t, {TexReadHits, FabricReadHits});
           }},
    Metric{"lts__t_sectors_op_read_lookup_miss.sum", Hardware, kSectors,
           "lts__t_sectors_lookup_miss.sum (whole-sector writes do not miss)",
           "Read sectors not found, in the own and in the home partition, promoted ones included.", "",
           [](const Events& e, const RunTotals& t) {
               return sum(e, t, {TexReadMisses, TexReadPromoted, FabricReadMisses});
           }},
    Metric{"lts__t_sectors_lookup_hit.sum", Hardware, kSectors,
           "lts__t_sectors_srcunit_tex_lookup_hit.sum + lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum + "
           "fences",
           "Sectors found, reads and writes, own and home lookups.", "", l2_hits},
    Metric{"lts__t_sectors_lookup_miss.sum", Hardware, kSectors,
           "lts__t_sectors_srcunit_tex_lookup_miss.sum + lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum",
           "Sectors not found. A far-homed line that no partition holds misses twice.", "", l2_misses},
    Metric{"lts__t_sectors_lookup_miss_data_promoted.sum", Hardware, kSectors,
           "lookup_hit + lookup_miss - lts__t_sectors.sum",
           "Sectors nobody asked for, fetched because a miss is filled up to the fetch granularity. They "
           "count as "
           "misses and not as lookups.",
           "High for rows shorter than 128 B: the tensor map's promotion fetches the whole line.",
           [](const Events& e, const RunTotals& t) { return sum(e, t, {TexReadPromoted}); }},

    // From the SMs, through the L1TEX units: lookups in the requester's own partition.
    Metric{"lts__t_sectors_srcunit_tex.sum", Hardware, kSectors,
           "lts__t_sectors_srcunit_tex_op_read.sum + tex writes (the bytes of C / 32)",
           "Sectors looked up in the partition of the SM that asks.", "Falls when the coalescer merges more.",
           tex_sectors},
    Metric{"lts__t_sectors_srcunit_tex_op_read.sum", Hardware, kSectors,
           "lrc__request_sectors_op_read_coalescable.sum - "
           "lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum",
           "Read sectors looked up in the partition of the SM that asks: what the coalescer let through.", "",
           [](const Events& e, const RunTotals& t) { return sum(e, t, {TexReadSectors}); }},
    Metric{"lts__t_sectors_srcunit_tex_lookup_hit.sum", Hardware, kSectors,
           "lts__t_sectors_srcunit_tex.sum - lts__t_sectors_srcunit_tex_lookup_miss.sum + "
           "lts__t_sectors_lookup_miss_data_promoted.sum",
           "Sectors found in the own partition, home lines and copies.", "", tex_hits},
    Metric{"lts__t_sectors_srcunit_tex_lookup_miss.sum", Hardware, kSectors,
           "fabric reads + lts__d_sectors_fill_device.sum - lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum",
           "Sectors not found in the own partition, promoted ones included: near-homed ones go to DRAM, "
           "far-homed ones "
           "over the fabric.",
           "", tex_misses},
    Metric{"lts__t_requests_srcunit_tex.sum", Hardware, kRequests,
           "lts__t_sectors_srcunit_tex.sum / sectors per request",
           "Requests looked up in the own partition; whole lines are four sectors.", "",
           [](const Events& e, const RunTotals& t) { return sum(e, t, {TexRequests}); }},
    Metric{"lts__t_sectors_srcnode_gpc.sum", Hardware, kSectors, "lts__t_sectors_srcunit_tex.sum",
           "Sectors looked up for the GPCs; for these kernels the L1TEX units are all there is.", "",
           tex_sectors},
    Metric{"lts__t_sectors_srcnode_gpc_lookup_hit.sum", Hardware, kSectors,
           "lts__t_sectors_srcunit_tex_lookup_hit.sum", "Sectors found for the GPCs.", "", tex_hits},
    Metric{"lts__t_sectors_srcnode_gpc_lookup_miss.sum", Hardware, kSectors,
           "lts__t_sectors_srcunit_tex_lookup_miss.sum", "Sectors not found for the GPCs.", "", tex_misses},

    // From the other partition, over the fabric: lookups in the home partition.
    Metric{
        "lts__t_sectors_srcunit_ltcfabric.sum", Hardware, kSectors,
        "far-homed part of lts__t_sectors_srcunit_tex_lookup_miss.sum + fabric writes (half of C) + fences "
        "(one in each slice)",
        "Sectors looked up in the home partition for the other partition.",
        "High when both partitions read the same lines, or when nothing is reused.", fabric_sectors},
    Metric{"lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum", Hardware, kSectors,
           "lts__t_sectors_srcunit_ltcfabric.sum - lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum",
           "Far-homed sectors that the home partition had.", "", fabric_hits},
    Metric{"lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum", Hardware, kSectors,
           "lts__d_sectors_fill_device.sum - near-homed part of lts__t_sectors_srcunit_tex_lookup_miss.sum",
           "Far-homed sectors that the home partition had to fetch from DRAM: a far SM asked first.", "",
           fabric_misses},

    // DRAM.
    Metric{"lts__d_sectors_fill_device.sum", Hardware, kSectors,
           "(lts__t_sectors_srcunit_tex_lookup_miss.sum - fabric reads) + "
           "lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum",
           "Sectors filled from device memory: the DRAM traffic a tile order is about.",
           "The least possible is each input once: bytes of A and B / 32.", fill_sectors},
    Metric{"dram__sectors_read.sum", Hardware, kSectors, "lts__d_sectors_fill_device.sum",
           "Sectors read from DRAM.", "", fill_sectors},
    Metric{"dram__sectors_write.sum", Hardware, kSectors,
           "bytes of C / 32, less what stays dirty in the L2 at the end", "Sectors written to DRAM.", "",
           [](const Events& e, const RunTotals& t) { return sum(e, t, {WritebackSectors}); }},
    Metric{"dram__bytes_read.sum", Hardware, kBytes, "32 x dram__sectors_read.sum", "Bytes read from DRAM.",
           "", [](const Events& e, const RunTotals& t) { return kBytesPerSector * fill_sectors(e, t); }},

    // The request coalescer (LRC) between the SMs of a GPC and the slices.
    Metric{"lrc__xbar2lrc_requests_op_read.sum", Hardware, kRequests,
           "lrc__request_sectors_op_read_coalescable.sum / sectors per request",
           "Read requests that reached the coalescers.", "",
           [](const Events& e, const RunTotals& t) { return sum(e, t, {CoalescableRequests}); }},
    Metric{"lrc__request_sectors_op_read_coalescable.sum", Hardware, kSectors,
           "l1tex__m_xbar2l1tex_read_sectors.sum",
           "Sectors the SMs asked for: the kernel's nominal read traffic, the same for each order.", "",
           asked_sectors},
    Metric{"lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum", Hardware, kSectors,
           "lrc__request_sectors_op_read_coalescable.sum - lrc__lts2lrc_sectors_op_read.sum",
           "Sectors answered by another SM's request to the same line, so that no slice saw them.",
           "High when SMs of one GPC that share an operand run in step.",
           [](const Events& e, const RunTotals& t) { return sum(e, t, {MergedSectors}); }},
    Metric{"lrc__request_sectors_op_read_coalescing_achieved_type_programmatic.sum", Hardware, kSectors,
           "0 without multicast",
           "Sectors that CTAs of a cluster received through a multicast load of another CTA.", "",
           [](const Events& e, const RunTotals& t) { return sum(e, t, {MulticastSectors}); }},
    Metric{"lrc__lts2lrc_sectors_op_read.sum", Hardware, kSectors, "lts__t_sectors_srcunit_tex_op_read.sum",
           "Read sectors the slices sent to the coalescers.", "", unmerged_sectors},
    Metric{"lrc__lrc2xbar_sectors_op_read.sum", Hardware, kSectors,
           "lrc__lts2lrc_sectors_op_read.sum (a merged answer crosses once)",
           "Read sectors the coalescers sent into the crossbar.", "", unmerged_sectors},
    Metric{"lrc__xbar2gpc_sectors_op_read.sum", Hardware, kSectors, "l1tex__m_xbar2l1tex_read_sectors.sum",
           "Read sectors delivered into the GPCs, merged answers once for each SM.", "", delivered_sectors},
    Metric{"l1tex__m_xbar2l1tex_read_sectors.sum", Hardware, kSectors, "bytes loaded by all CTAs / 32",
           "Read sectors that arrived in the SMs.", "", delivered_sectors},

    // The L1s, when the machine has one and plain loads go through it.
    Metric{
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", Hardware, kSectors,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum + misses, which are what the L2 is asked",
        "Sectors that plain loads asked of the L1s.", "Loads by TMA and cp.async.cg do not come here.",
        [](const Events& e, const RunTotals& t) { return e[L1Sectors] > 0 ? l1_sectors(e, t) : kUnknown; }},
    Metric{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", Hardware, kSectors,
           "sectors loaded again on the same SM before they left its L1",
           "Sectors of plain loads that the L1s had: the L2 never hears of them.",
           "A sector on its way counts as found.",
           [](const Events& e, const RunTotals& t) {
               return e[L1Sectors] > 0 ? sum(e, t, {L1Hits}) : kUnknown;
           }},

    // An MI300X' names (rocprofv3), of its private L2s together.
    Metric{"TCC_REQ_sum", Hardware, kRequests, "TCC_HIT_sum + TCC_MISS_sum",
           "Requests at the tag stage of all channels of all dies, one a 128 B line.", "", line_requests},
    Metric{"TCC_HIT_sum", Hardware, kRequests, "TCC_REQ_sum - TCC_MISS_sum",
           "Requests whose line was there or on its way.", "A line on its way counts as found.",
           [](const Events& e, const RunTotals& t) { return line_requests(e, t) - line_misses(e, t); }},
    Metric{"TCC_MISS_sum", Hardware, kRequests, "sectors asked of the last level / 4",
           "Requests that went on to the last level.", "Each die misses for itself.", line_misses},

    // Rates and times.
    Metric{"lts__t_sector_hit_rate.pct", Hardware, kPercent,
           "lts__t_sectors_lookup_hit.sum / lts__t_sectors.sum",
           "The hit rate Nsight Compute prints. All lookups count, those from the fabric too; not hit / (hit "
           "+ miss).",
           "Two orders with one hit rate can differ in DRAM traffic: look at the fills.", hit_rate},
    Metric{"gpu__time_duration.sum", Hardware, MetricUnit::Nanoseconds,
           "last CTA's end - launch, and launch.overhead", "Duration of one cold launch.", "",
           [](const Events&, const RunTotals& t) { return t.time_ns; }},
    Metric{"sm__cycles_active.avg", Hardware, MetricUnit::Cycles, "SM clock x the time with a CTA resident",
           "Cycles in which the average SM had work.", "Far below the duration: a ragged last wave.",
           [](const Events&, const RunTotals& t) { return t.sm_cycles; }},
    Metric{"lts__cycles_elapsed.avg", Hardware, MetricUnit::Cycles, "L2 clock x gpu__time_duration.sum",
           "L2 clock cycles of the launch.", "",
           [](const Events&, const RunTotals& t) { return t.time_ns * t.l2_ghz; }},

    // The same words on every vendor's GPU.
    Metric{"l2_hit_rate_pct", Neutral, kPercent, "lts__t_sector_hit_rate.pct",
           "Sectors found over sectors looked up, in all of the L2.",
           "Compare it with flat_lru_hit_rate_pct, of loads alone: beside stores, which always hit, the "
           "difference is "
           "what partitions and merging do.",
           hit_rate},
    Metric{"l2_sectors", Neutral, kSectors, "lts__t_sectors.sum", "Sectors looked up in the L2.", "",
           l2_sectors},
    Metric{"merged_pct", Neutral, kPercent,
           "lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum / "
           "lrc__request_sectors_op_read_coalescable.sum",
           "Share of the requested sectors that never reached a slice.", "",
           [](const Events& e, const RunTotals& t) {
               return percent(sum(e, t, {MergedSectors}), asked_sectors(e, t));
           }},
    Metric{
        "fabric_pct", Neutral, kPercent, "lts__t_sectors_srcunit_ltcfabric.sum / lts__t_sectors.sum",
        "Share of the lookups that crossed the fabric between partitions.", "",
        [](const Events& e, const RunTotals& t) { return percent(fabric_sectors(e, t), l2_sectors(e, t)); }},
    Metric{"l1_hit_rate_pct", Neutral, kPercent,
           "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum / "
           "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
           "Sectors of plain loads that the L1s had.", "",
           [](const Events& e, const RunTotals& t) {
               return e[L1Sectors] > 0 ? percent(sum(e, t, {L1Hits}), l1_sectors(e, t)) : kUnknown;
           }},
    Metric{"last_level_hit_rate_pct", Neutral, kPercent, "hits / lookups of the cache in front of the memory",
           "Sectors that the cache in front of the memory had, of those the L2s asked it for.",
           "Dies that read the same lines at about the same time share them here.",
           [](const Events& e, const RunTotals& t) {
               return e[LastLevelSectors] > 0 ? percent(sum(e, t, {LastLevelHits}), last_level_sectors(e, t))
                                              : kUnknown;
           }},
    Metric{"dram_read_bytes", Neutral, kBytes, "dram__bytes_read.sum", "Bytes read from DRAM.", "",
           [](const Events& e, const RunTotals& t) { return kBytesPerSector * fill_sectors(e, t); }},
    Metric{
        "dram_write_bytes", Neutral, kBytes, "32 x dram__sectors_write.sum", "Bytes written to DRAM.", "",
        [](const Events& e, const RunTotals& t) { return kBytesPerSector * sum(e, t, {WritebackSectors}); }},
    Metric{"time_us", Neutral, MetricUnit::Microseconds, "gpu__time_duration.sum / 1000",
           "Duration of the launch.", "",
           [](const Events&, const RunTotals& t) { return t.time_ns / 1000.0; }},
    Metric{"channel_max_over_mean", Neutral, MetricUnit::Ratio, "lts__t_sectors.max / lts__t_sectors.avg",
           "Load of the busiest slice over the mean.", "Above about 1.1 the address hash meets a bad stride.",
           [](const Events&, const RunTotals& t) { return t.channel_max_over_mean; }},
    Metric{"closed_form_hit_rate_pct", Neutral, kPercent, "1 - distinct tiles per wave / tiles asked for",
           "Hit rate if each wave read its distinct rows and columns once and kept nothing.",
           "What a calculation on paper says: no partitions, no time.",
           [](const Events&, const RunTotals& t) { return t.closed_form_hit_rate_pct; }},
    Metric{"flat_lru_hit_rate_pct", Neutral, kPercent, "one LRU of the whole L2, tiles in lockstep",
           "Hit rate of one fully associative LRU cache of the L2's size.",
           "What a simple cache simulator says: no partitions, no merging.",
           [](const Events&, const RunTotals& t) { return t.flat_lru_hit_rate_pct; }},
    Metric{"ctas_per_sm", Neutral, MetricUnit::Count,
           "least of what shared memory, registers and threads allow",
           "CTAs of this kernel resident on one SM.", "",
           [](const Events&, const RunTotals& t) { return t.ctas_per_sm; }},
    Metric{"waves", Neutral, MetricUnit::Ratio, "CTAs / (SMs x ctas_per_sm)",
           "How often the launch fills the GPU.",
           "A fraction just above a whole number leaves SMs idle at the end.",
           [](const Events&, const RunTotals& t) { return t.waves; }},
};

}  // namespace

std::span<const Metric> all_metrics() {
    return kMetrics;
}

const Metric* find_metric(std::string_view id) {
    for (const Metric& metric : kMetrics) {
        if (metric.id == id) return &metric;
    }
    return nullptr;
}

std::string_view unit_name(MetricUnit unit) {
    switch (unit) {
        case MetricUnit::Sectors:
            return "sectors";
        case MetricUnit::Requests:
            return "requests";
        case MetricUnit::Bytes:
            return "bytes";
        case MetricUnit::Percent:
            return "%";
        case MetricUnit::Nanoseconds:
            return "ns";
        case MetricUnit::Microseconds:
            return "us";
        case MetricUnit::Cycles:
            return "cycles";
        case MetricUnit::Ratio:
            return "ratio";
        case MetricUnit::Count:
            return "count";
    }
    return "";
}

std::map<std::string, double> evaluate_metrics(MetricKind kind, const Events& events,
                                               const RunTotals& totals) {
    std::map<std::string, double> values;
    for (const Metric& metric : kMetrics) {
        if (metric.kind != kind) continue;
        const double value = metric.value(events, totals);
        if (std::isfinite(value)) values.emplace(metric.id, value);
    }
    return values;
}

}  // namespace l2lens
