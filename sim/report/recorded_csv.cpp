// SPDX-License-Identifier: Apache-2.0
#include "report/recorded_csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "counters/metrics.hpp"
#include "report/csv.hpp"

namespace l2lens {
namespace {

enum class ColumnKind { Kernel, Gpu, Mode, Order, Repeat, Split, CtasPerSm, Ignored, Counter, Parameter };

ColumnKind kind_of(std::string_view name) {
    static const std::map<std::string_view, ColumnKind> kFixed{
        {"kernel", ColumnKind::Kernel},
        {"gpu", ColumnKind::Gpu},
        {"mode", ColumnKind::Mode},
        {"order", ColumnKind::Order},
        {"repeat", ColumnKind::Repeat},
        {"split", ColumnKind::Split},
        {"rank", ColumnKind::Ignored},
        {"engine", ColumnKind::Ignored},
        {"ctas_per_sm", ColumnKind::CtasPerSm},
    };
    if (const auto found = kFixed.find(name); found != kFixed.end()) return found->second;
    return is_counter_name(name) ? ColumnKind::Counter : ColumnKind::Parameter;
}

// Reads the cells of one row, each with its place at hand for the message.
class RowReader {
public:
    RowReader(const CsvTable& table, const CsvRow& row, const std::string& file,
              const ParameterNames& parameter_names)
        : table_(table), csv_(row), parameter_names_(parameter_names) {
        row_.file = file;
        row_.line = row.line;
    }

    RecordedRow read() {
        const auto column = std::find(table_.columns.begin(), table_.columns.end(), "kernel");
        row_.kernel = csv_.fields[static_cast<std::size_t>(column - table_.columns.begin())];
        if (row_.kernel.empty()) fail("no kernel in column 'kernel'");
        parameters_ = names_of_kernel();
        for (std::size_t c = 0; c < table_.columns.size(); ++c) {
            if (!csv_.fields[c].empty()) read_cell(kind_in_row(table_.columns[c]), c);
        }
        if (row_.order.empty()) fail("no order in column 'order'");
        return std::move(row_);
    }

private:
    bool is_parameter(const std::string& name) const {
        return std::find(parameters_.begin(), parameters_.end(), name) != parameters_.end();
    }

    // A split-K kernel may have a parameter `split`: then the column is that.
    ColumnKind kind_in_row(const std::string& name) const {
        const ColumnKind kind = kind_of(name);
        const bool ambiguous =
            kind == ColumnKind::Split || kind == ColumnKind::Repeat || kind == ColumnKind::Ignored;
        return ambiguous && is_parameter(name) ? ColumnKind::Parameter : kind;
    }

    void read_cell(ColumnKind kind, std::size_t c) {
        const std::string& text = csv_.fields[c];
        switch (kind) {
            case ColumnKind::Kernel:
                break;  // read first
            case ColumnKind::Gpu:
                row_.gpu = text;
                break;
            case ColumnKind::Order:
                row_.order = text;
                break;
            case ColumnKind::Split:
                row_.split = text;
                break;
            case ColumnKind::Mode:
                row_.mode = mode(c);
                break;
            case ColumnKind::Repeat:
                whole_number(c);
                break;
            case ColumnKind::CtasPerSm:
                row_.ctas_per_sm = whole_number(c);
                break;
            case ColumnKind::Ignored:
                break;
            case ColumnKind::Counter:
                row_.measured[table_.columns[c]] = number(c);
                break;
            case ColumnKind::Parameter:
                parameter(c);
                break;
        }
    }

    Mode mode(std::size_t c) const {
        try {
            return parse_mode(csv_.fields[c]);
        } catch (const BadInput& error) {
            fail(fmt::format("column 'mode': {}", error.what()));
        }
    }

    double number(std::size_t c) const {
        const std::string& text = csv_.fields[c];
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
            fail(fmt::format("column '{}': '{}' is not a number", table_.columns[c], text));
        }
        if (value < 0)
            fail(fmt::format("column '{}': {} is negative, which no counter is", table_.columns[c], text));
        const Metric* const metric = find_metric(table_.columns[c]);
        if (metric != nullptr && metric->unit == MetricUnit::Percent && value > 100)
            fail(fmt::format("column '{}': {} is more than 100 %", table_.columns[c], text));
        return value;
    }

    int whole_number(std::size_t c) const {
        const double value = number(c);
        if (value != std::nearbyint(value) || value > 1e6) {
            fail(fmt::format("column '{}': '{}' is not a small whole number", table_.columns[c],
                             csv_.fields[c]));
        }
        return static_cast<int>(value);
    }

    // A column that is neither a counter nor a parameter is a typing error, not something to skip.
    void parameter(std::size_t c) {
        const std::string& name = table_.columns[c];
        if (!is_parameter(name)) {
            fail(fmt::format("column '{}' is neither a parameter of kernel '{}' nor a counter{}", name,
                             row_.kernel, suggestion(name, parameters_)));
        }
        row_.params.emplace_back(name, csv_.fields[c]);
    }

    std::vector<std::string> names_of_kernel() const {
        try {
            return parameter_names_(row_.kernel);
        } catch (const BadInput& error) {
            fail(fmt::format("column 'kernel': {}", error.what()));
        }
    }

    [[noreturn]] void fail(const std::string& what) const { throw BadInput(row_.where() + ": " + what); }

    const CsvTable& table_;
    const CsvRow& csv_;
    const ParameterNames& parameter_names_;
    std::vector<std::string> parameters_;  // of the row's kernel
    RecordedRow row_;
};

void check_columns(const CsvTable& table, const std::string& file) {
    for (const char* required : {"kernel", "order"}) {
        if (std::find(table.columns.begin(), table.columns.end(), required) == table.columns.end()) {
            throw BadInput(
                fmt::format("{}:1: no column '{}'{}", file, required, suggestion(required, table.columns)));
        }
    }
    if (std::none_of(table.columns.begin(), table.columns.end(), is_counter_name)) {
        throw BadInput(file + ":1: no column is a counter, so there is nothing to compare");
    }
    if (table.rows.empty()) throw BadInput(file + ": a header but no rows");
}

}  // namespace

bool is_counter_name(std::string_view name) {
    if (name == "ctas_per_sm") return false;
    if (find_metric(name) != nullptr) return true;
    // NVIDIA: unit__counter.rollup. AMD: BLOCK_COUNTER, BLOCK_COUNTER_sum, BLOCK_COUNTER[3].
    if (name.find("__") != std::string_view::npos) return true;
    for (const char* block : {"TCC_", "TCP_", "TA_", "TD_", "SQ_", "GRBM_", "CPC_", "SPI_"}) {
        if (name.starts_with(block)) return true;
    }
    return false;
}

std::vector<std::string> misspelt_counters(std::span<const RecordedRow> rows) {
    constexpr std::size_t kSlip = 2;  // letters; .min and .max differ by so many, and both may be columns
    std::set<std::string> columns;
    for (const RecordedRow& row : rows) {
        for (const auto& [name, value] : row.measured) columns.insert(name);
    }
    std::vector<std::string> notes;
    for (const std::string& name : columns) {
        if (find_metric(name) != nullptr) continue;
        for (const Metric& metric : all_metrics()) {
            const std::string known(metric.id);
            if (columns.count(known) != 0 || edit_distance(name, known) > kSlip) continue;
            notes.push_back(fmt::format("column '{}' is not compared; did you mean '{}'?", name, known));
            break;
        }
    }
    return notes;
}

Mode parse_mode(std::string_view text) {
    if (text == "grid") return Mode::Grid;
    if (text == "static") return Mode::Static;
    if (text == "dynamic") return Mode::Dynamic;
    const std::vector<std::string> modes{"grid", "static", "dynamic"};
    throw BadInput(fmt::format("unknown mode '{}'{}", text, suggestion(text, modes)));
}

std::vector<RecordedRow> read_recorded_csv(std::string_view text, const std::string& file,
                                           const ParameterNames& parameter_names) {
    const CsvTable table = read_csv(text, file);
    check_columns(table, file);
    std::vector<RecordedRow> rows;
    for (const CsvRow& row : table.rows) rows.push_back(RowReader(table, row, file, parameter_names).read());
    return rows;
}

}  // namespace l2lens
