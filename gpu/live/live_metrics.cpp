// SPDX-License-Identifier: Apache-2.0
// The counters that the recorded files hold, in their order.
#include <algorithm>

#include "gpu/counters/metric_names.hpp"
#include "gpu/live/live.hpp"

namespace l2lens::gpu {
namespace {

constexpr const char* kRecorded[] = {
    "lts__t_sectors.sum",
    "lts__t_sectors.min",
    "lts__t_sectors.max",
    "lts__t_sectors.avg",
    "lts__t_requests.sum",
    "lts__t_requests.max",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sectors_op_read_lookup_hit.sum",
    "lts__t_sectors_op_read_lookup_miss.sum",
    "lts__t_sectors_lookup_hit.sum",
    "lts__t_sectors_lookup_miss.sum",
    "lts__t_sectors_lookup_miss_data_promoted.sum",
    "lts__t_sectors_srcunit_tex.sum",
    "lts__t_sectors_srcunit_tex.max",
    "lts__t_sectors_srcunit_tex.min",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "lts__t_requests_srcunit_tex.sum",
    "lts__t_sectors_srcunit_ltcfabric.sum",
    "lts__t_sectors_srcunit_ltcfabric.max",
    "lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum",
    "lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum",
    "lts__t_sectors_srcnode_gpc.sum",
    "lts__t_sectors_srcnode_gpc_lookup_hit.sum",
    "lts__t_sectors_srcnode_gpc_lookup_miss.sum",
    "lts__d_sectors_fill_device.sum",
    "dram__sectors_read.sum",
    "dram__sectors_write.sum",
    "dram__bytes_read.sum",
    "lrc__xbar2lrc_requests_op_read.sum",
    "lrc__request_sectors_op_read_coalescable.sum",
    "lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum",
    "lrc__request_sectors_op_read_coalescing_achieved_type_programmatic.sum",
    "lrc__lts2lrc_sectors_op_read.sum",
    "lrc__lrc2xbar_sectors_op_read.sum",
    "lrc__lrc2xbar_sectors_op_read_coalescing_achieved.sum",
    "lrc__xbar2gpc_sectors_op_read.sum",
    "lts__t_sector_hit_rate.pct",
    "l1tex__m_xbar2l1tex_read_sectors.sum",
    "l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld.sum",
    "lts__cycles_active.avg",
    "lts__cycles_elapsed.avg",
    "lts__cycles_elapsed.sum",
    "sm__cycles_active.avg",
    "gpu__time_duration.sum",
    "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct",
};

}  // namespace

std::vector<std::string> recorded_metrics(const std::string& chip) {
    const auto bases = metrics_of_chip(chip);
    std::vector<std::string> metrics;
    for (const std::string metric : kRecorded)
        if (std::binary_search(bases.begin(), bases.end(), metric.substr(0, metric.find('.'))))
            metrics.push_back(metric);
    return metrics;
}

}  // namespace l2lens::gpu
