// SPDX-License-Identifier: Apache-2.0
#include "cli/ncu_check.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "counters/metrics.hpp"

#include "gpu/counters/csv_table.hpp"
#include "gpu/counters/ncu_csv.hpp"

namespace l2lens::cli {
namespace {

using gpu::CsvTable;

constexpr std::string_view kBytes[] = {"byte", "B"};
constexpr std::string_view kTimes[] = {"ns", "nsecond", "s", "second"};
// What is counted comes under the name of what it is, or none.
constexpr std::string_view kCounts[] = {"sector", "request", "cycle"};
constexpr std::string_view kShares[] = {"", "%"};

// One of `bases`, or one with a prefix that the reader scales.
bool is_scaled(std::string_view unit, std::span<const std::string_view> bases) {
    if (unit.find('/') != std::string_view::npos) return false;
    return std::any_of(bases.begin(), bases.end(), [&](std::string_view base) {
        return unit == base || (unit.ends_with(base) && gpu::ncu_unit_factor(unit) != 1);
    });
}

bool is_one_of(std::string_view unit, std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), unit) != names.end();
}

bool is_unit_of(const Metric& metric, std::string_view unit) {
    switch (metric.unit) {
        case MetricUnit::Bytes:
            return is_scaled(unit, kBytes);
        case MetricUnit::Nanoseconds:
            return is_scaled(unit, kTimes);
        case MetricUnit::Percent:
            return is_one_of(unit, kShares);
        default:
            return unit.empty() || is_scaled(unit, kCounts);
    }
}

std::string_view right_unit(const Metric& metric) {
    switch (metric.unit) {
        case MetricUnit::Bytes:
            return "byte, Kbyte, Mbyte, Gbyte, KiB, MiB or GiB";
        case MetricUnit::Nanoseconds:
            return "ns, us, ms or s";
        case MetricUnit::Percent:
            return "%";
        case MetricUnit::Requests:
            return "request, Krequest, Mrequest or Grequest";
        case MetricUnit::Cycles:
            return "cycle, Kcycle, Mcycle or Gcycle";
        default:
            return "sector, Ksector, Msector or Gsector";
    }
}

std::string unknown_unit(const Metric& metric, const std::string& unit) {
    return fmt::format("unknown unit '{}' of {}; it is {}", unit, metric.id, right_unit(metric));
}

// What ncu writes where it has no value; it may then have no unit either.
bool is_unknown(const std::string& value) {
    return value.empty() || value == "n/a" || value == "N/A" || value == "(nil)";
}

bool has_values(const CsvTable& table, int column) {
    const auto& rows = table.rows();  // units first
    return std::any_of(rows.begin() + 1, rows.end(),
                       [&](const CsvTable::Row& row) { return !is_unknown(table.cell(row, column)); });
}

void check_wide(const CsvTable& table) {
    if (table.rows().empty()) return;
    const CsvTable::Row& units = table.rows().front();
    std::set<std::string> met;
    for (std::size_t c = 0; c < table.header().size(); ++c) {
        const std::string& name = table.header()[c];
        const Metric* const metric = find_metric(name);
        const int column = static_cast<int>(c);
        if (metric == nullptr || !has_values(table, column)) continue;
        if (!met.insert(name).second) table.fail(units, column, "there are two columns of this name");
        if (const std::string& unit = table.cell(units, column); !is_unit_of(*metric, unit))
            table.fail(units, column, unknown_unit(*metric, unit));
    }
}

void check_long(const CsvTable& table) {
    const int id = table.column("ID"), name_column = table.column("Metric Name");
    const int unit_column = table.column("Metric Unit"), value_column = table.column("Metric Value");
    std::string launch;
    std::set<std::string> met;  // of the launch
    for (const CsvTable::Row& row : table.rows()) {
        if (const std::string& next = table.cell(row, id); next != launch) {
            launch = next;
            met.clear();
        }
        const std::string& name = table.cell(row, name_column);
        const Metric* const metric = find_metric(name);
        if (metric == nullptr || is_unknown(table.cell(row, value_column))) continue;
        if (!met.insert(name).second)
            table.fail(row, name_column, "'" + name + "' is given twice for ID " + launch);
        if (const std::string& unit = table.cell(row, unit_column); !is_unit_of(*metric, unit))
            table.fail(row, unit_column, unknown_unit(*metric, unit));
    }
}

}  // namespace

void check_ncu(const std::string& file) {
    const CsvTable table(file, gpu::read_text_file(file), {"ID"});
    if (table.find_column("Metric Name") >= 0)
        check_long(table);
    else
        check_wide(table);
}

}  // namespace l2lens::cli
