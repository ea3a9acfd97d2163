// SPDX-License-Identifier: Apache-2.0
#include "report/validation_row.hpp"

#include <algorithm>

namespace l2lens {
namespace {

// Below one in ten thousand of the L2's sectors a count is noise (a few hundred promoted sectors in a row
// that promotes none, say). Where both sides say that nothing happens, there is no error to speak of.
constexpr double kNegligible = 1e-4;

// Rows that write less than this share of their output to DRAM leave it in the L2.
constexpr double kLeastWritten = 0.1;

constexpr const char* kDramWrites = "dram__sectors_write.sum";

// Sectors of the output: what the SMs write.
std::optional<double> output_sectors(const Counters& predicted) {
    const auto all = find_counter(predicted, "lts__t_sectors_srcunit_tex.sum");
    const auto read = find_counter(predicted, "lts__t_sectors_srcunit_tex_op_read.sum");
    return all && read ? std::optional(*all - *read) : std::nullopt;
}

// The least count of a metric that is more than noise; 0 where none is known.
double least_of_note(const Metric& metric, std::optional<double> l2_sectors) {
    const bool counts = metric.unit == MetricUnit::Sectors || metric.unit == MetricUnit::Requests;
    return counts && l2_sectors ? kNegligible * *l2_sectors : 0;
}

}  // namespace

GroupKey group_key(const RecordedRow& row) {
    auto sorted = row.params;  // files may name the columns in another order
    std::sort(sorted.begin(), sorted.end());
    return {row.kernel, row.gpu, std::move(sorted), row.mode};
}

RowKey row_key(const RecordedRow& row) {
    return {group_key(row), row.order};
}

std::optional<double> find_counter(const Counters& counters, std::string_view name) {
    const auto found = counters.find(std::string(name));
    return found == counters.end() ? std::nullopt : std::optional(found->second);
}

bool is_negligible(const Metric& metric, double value, std::optional<double> l2_sectors) {
    return value < least_of_note(metric, l2_sectors);
}

bool stays_in_l2(const Metric& metric, double writes, std::optional<double> output) {
    return metric.id == kDramWrites && output && writes < kLeastWritten * *output;
}

bool counted_nothing(const ValidationRow& row, const Metric& metric) {
    const auto predicted = find_counter(row.predicted, metric.id);
    const auto measured = find_counter(row.recorded.measured, metric.id);
    if (!predicted || !measured || *measured != 0 || *predicted == 0) return false;
    const auto l2_sectors = find_counter(row.recorded.measured, "lts__t_sectors.sum");
    return metric.unit != MetricUnit::Percent && !is_negligible(metric, *predicted, l2_sectors);
}

double error_of(const Counters& counters, const ValidationRow& row, const Metric& metric) {
    const auto predicted = find_counter(counters, metric.id);
    const auto measured = find_counter(row.recorded.measured, metric.id);
    if (!predicted || !measured) return kUnknown;
    if (metric.unit == MetricUnit::Percent) return *predicted - *measured;
    const auto l2_sectors = find_counter(row.recorded.measured, "lts__t_sectors.sum");
    if (*measured == 0 || is_negligible(metric, std::max(*predicted, *measured), l2_sectors)) return kUnknown;
    if (stays_in_l2(metric, *measured, output_sectors(row.predicted))) return kUnknown;
    return 100.0 * (*predicted - *measured) / std::max(*measured, least_of_note(metric, l2_sectors));
}

double prediction_error(const ValidationRow& row, const Metric& metric) {
    return error_of(row.predicted, row, metric);
}

}  // namespace l2lens
