// SPDX-License-Identifier: Apache-2.0
#include "gpu/counters/ncu_csv.hpp"

#include <charconv>
#include <span>

#include "base/error.hpp"

#include "gpu/counters/csv_table.hpp"

namespace l2lens::gpu {
namespace {

// Columns of the raw page that describe a launch. All others are metrics.
constexpr std::string_view kLaunchColumns[] = {"ID",
                                               "Process ID",
                                               "Process Name",
                                               "Host Name",
                                               "Kernel Name",
                                               "Context",
                                               "Stream",
                                               "Block Size",
                                               "Grid Size",
                                               "Device",
                                               "CC",
                                               "Kernel Time",
                                               "Range:PushPop",
                                               "Id:Domain:Range:PL_Type"};

bool describes_launch(std::string_view column) {
    for (const std::string_view known : kLaunchColumns)
        if (column.starts_with(known) && (column.size() == known.size() || known.find(':') != known.npos))
            return true;
    return false;
}

bool is_unknown(const std::string& value) {
    return value.empty() || value == "n/a" || value == "N/A" || value == "(nil)";
}

// "(256, 1, 1)"; older versions leave the brackets away.
std::array<std::int64_t, 3> extent(const CsvTable& table, const CsvTable::Row& row, int column) {
    std::array<std::int64_t, 3> result{1, 1, 1};
    if (column < 0) return result;
    std::string text;
    for (const char c : table.cell(row, column))
        if (c != '(' && c != ')' && c != ' ') text += c;
    const char* at = text.data();
    const char* end = at + text.size();
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto [stop, error] = std::from_chars(at, end, result[axis]);
        const bool last = axis == 2;
        if (error != std::errc() || (last ? stop != end : stop == end || *stop != ','))
            table.fail(row, column, "'" + table.cell(row, column) + "' is not an extent such as (256, 1, 1)");
        at = stop + 1;
    }
    return result;
}

struct LaunchReader {
    const CsvTable& table;
    int id = table.column("ID");
    int kernel = table.column("Kernel Name");
    int grid = table.find_column("Grid Size");
    int block = table.find_column("Block Size");

    ImportedLaunch read(const CsvTable::Row& row) const {
        return {table.cell(row, kernel), extent(table, row, grid), extent(table, row, block), {}, row.line};
    }
};

// A metric a row: the launch is told by its ID. Rows without a metric are rules.
std::vector<ImportedLaunch> read_long(const CsvTable& table) {
    const LaunchReader launch{table};
    const int name = table.column("Metric Name");
    const int unit = table.column("Metric Unit");
    const int value = table.column("Metric Value");
    std::vector<ImportedLaunch> launches;
    std::string current;
    for (const CsvTable::Row& row : table.rows()) {
        if (launches.empty() || table.cell(row, launch.id) != current) {
            current = table.cell(row, launch.id);
            launches.push_back(launch.read(row));
        }
        // Headings of the details page ("Duration", "L2 Hit Rate") are no metric names and may repeat.
        const std::string& metric = table.cell(row, name);
        if (metric.find("__") == std::string::npos || is_unknown(table.cell(row, value))) continue;
        launches.back().metrics[metric] = table.number(row, value) * ncu_unit_factor(table.cell(row, unit));
    }
    return launches;
}

bool is_unit_row(const CsvTable& table, const CsvTable::Row& row) {
    return table.cell(row, table.column("ID")).empty() &&
           table.cell(row, table.column("Kernel Name")).empty();
}

// Some raw-page columns hold words ("Function Cache Configuration"): those without a metric's double
// underscore may.
bool may_be_text(const std::string& column) {
    return column.find("__") == std::string::npos || column.starts_with("launch__") ||
           column.starts_with("device__") || column.starts_with("profiler__") || column.starts_with("nvtx__");
}

std::vector<ImportedLaunch> read_wide(const CsvTable& table, const std::string& file) {
    const LaunchReader launch{table};
    const auto& rows = table.rows();
    if (rows.empty() || !is_unit_row(table, rows.front()))
        throw BadInput(file + ": no row of units below the header; is this `ncu --csv --page raw`?");
    const CsvTable::Row& units = rows.front();
    std::vector<ImportedLaunch> launches;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        launches.push_back(launch.read(rows[i]));
        for (int column = 0; column < static_cast<int>(table.header().size()); ++column) {
            const std::string& metric = table.header()[static_cast<std::size_t>(column)];
            if (describes_launch(metric) || may_be_text(metric) || is_unknown(table.cell(rows[i], column)))
                continue;
            launches.back().metrics[metric] =
                table.number(rows[i], column) * ncu_unit_factor(table.cell(units, column));
        }
    }
    return launches;
}

struct Unit {
    std::string_view name;
    double factor;
};

constexpr Unit kTimes[] = {
    {"nsecond", 1},   {"ns", 1},   {"usecond", 1e3}, {"us", 1e3},
    {"msecond", 1e6}, {"ms", 1e6}, {"second", 1e9},  {"s", 1e9},
};
constexpr Unit kBytes[] = {{"byte", 1}, {"B", 1}};
// ncu itself writes counts as they are; what passes its files on may scale these as well.
constexpr Unit kCounts[] = {{"hz", 1}, {"Hz", 1}, {"sector", 1}, {"request", 1}, {"cycle", 1}, {"inst", 1}};
constexpr Unit kDecimal[] = {{"", 1},    {"K", 1e3},  {"k", 1e3}, {"M", 1e6},
                             {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};
constexpr Unit kBinary[] = {{"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}};
constexpr Unit kNone[] = {{"", 1}};

// Of a prefix and a name, 0 when the unit is no such pair.
double scale_of(std::string_view unit, std::span<const Unit> prefixes, std::span<const Unit> names) {
    for (const Unit& prefix : prefixes)
        for (const Unit& known : names)
            if (unit.size() == prefix.name.size() + known.name.size() && unit.starts_with(prefix.name) &&
                unit.ends_with(known.name))
                return prefix.factor * known.factor;
    return 0;
}

double scale_of_time(std::string_view unit) {
    return scale_of(unit, kNone, kTimes);
}

// 0 for a unit that is none of these.
double scale_of(std::string_view unit) {
    for (const double scale : {scale_of_time(unit), scale_of(unit, kDecimal, kBytes),
                               scale_of(unit, kBinary, kBytes), scale_of(unit, kDecimal, kCounts)})
        if (scale != 0) return scale;
    return 0;
}

}  // namespace

double ncu_unit_factor(std::string_view unit) {
    const auto slash = unit.find('/');
    const double above = scale_of(unit.substr(0, slash));
    if (slash == std::string_view::npos) return above == 0 ? 1 : above;
    // Rates come back per second, as `--print-units base` has them, and others per one of what they are of.
    const std::string_view per = unit.substr(slash + 1);
    const double ns = scale_of_time(per), below = scale_of(per);
    return (above == 0 ? 1 : above) * (ns > 0 ? 1e9 / ns : below > 0 ? 1 / below : 1);
}

std::vector<ImportedLaunch> parse_ncu_csv(const std::string& name, std::string_view text) {
    const CsvTable table(name, text, {"ID"});
    return table.find_column("Metric Name") >= 0 ? read_long(table) : read_wide(table, name);
}

std::vector<ImportedLaunch> read_ncu_csv(const std::string& path) {
    return parse_ncu_csv(path, read_text_file(path));
}

}  // namespace l2lens::gpu
