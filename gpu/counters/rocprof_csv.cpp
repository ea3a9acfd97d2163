// SPDX-License-Identifier: Apache-2.0
#include "gpu/counters/rocprof_csv.hpp"

#include <map>

#include "base/error.hpp"

#include "gpu/counters/csv_table.hpp"

namespace l2lens::gpu {
namespace {

class DispatchReader {
public:
    explicit DispatchReader(const CsvTable& table) : table_(table) {}

    std::vector<ImportedLaunch> read() {
        for (const CsvTable::Row& row : table_.rows()) add(row);
        return std::move(launches_);
    }

private:
    void add(const CsvTable::Row& row) {
        ImportedLaunch& launch = launch_of(row);
        const std::string& counter = table_.cell(row, counter_);
        const bool fresh = launch.metrics.emplace(counter, table_.number(row, value_)).second;
        if (!fresh)
            table_.fail(row, counter_,
                        "'" + counter + "' is given twice for dispatch " + table_.cell(row, dispatch_));
    }

    ImportedLaunch& launch_of(const CsvTable::Row& row) {
        // Dispatches are numbered per process.
        const std::string key =
            (process_ >= 0 ? table_.cell(row, process_) : "") + "/" + table_.cell(row, dispatch_);
        const auto [found, fresh] = index_.emplace(key, launches_.size());
        if (fresh) launches_.push_back(describe(row));
        ImportedLaunch& launch = launches_[found->second];
        if (launch.kernel != table_.cell(row, kernel_))
            table_.fail(row, kernel_,
                        "dispatch " + table_.cell(row, dispatch_) + " was '" + launch.kernel + "' on line " +
                            std::to_string(launch.line));
        return launch;
    }

    ImportedLaunch describe(const CsvTable::Row& row) const {
        ImportedLaunch launch;
        launch.kernel = table_.cell(row, kernel_);
        launch.line = row.line;
        if (grid_ >= 0) launch.grid[0] = table_.integer(row, grid_);
        if (group_ >= 0) launch.block[0] = table_.integer(row, group_);
        if (start_ >= 0 && end_ >= 0)
            launch.metrics["duration_ns"] =
                static_cast<double>(table_.integer(row, end_) - table_.integer(row, start_));
        return launch;
    }

    const CsvTable& table_;
    int dispatch_ = table_.column("Dispatch_Id");
    int kernel_ = table_.column("Kernel_Name");
    int counter_ = table_.column("Counter_Name");
    int value_ = table_.column("Counter_Value");
    int process_ = table_.find_column("Process_Id");
    int grid_ = table_.find_column("Grid_Size");
    int group_ = table_.find_column("Workgroup_Size");
    int start_ = table_.find_column("Start_Timestamp");
    int end_ = table_.find_column("End_Timestamp");
    std::map<std::string, std::size_t> index_;
    std::vector<ImportedLaunch> launches_;
};

}  // namespace

std::vector<ImportedLaunch> parse_rocprof_csv(const std::string& name, std::string_view text) {
    const CsvTable table(name, text, {"Correlation_Id", "Dispatch_Id"});
    return DispatchReader(table).read();
}

std::vector<ImportedLaunch> read_rocprof_csv(const std::string& path) {
    return parse_rocprof_csv(path, read_text_file(path));
}

std::vector<ImportedLaunch> merge_rocprof_passes(const std::vector<std::vector<ImportedLaunch>>& passes) {
    if (passes.empty()) return {};
    std::vector<ImportedLaunch> merged = passes.front();
    for (std::size_t pass = 1; pass < passes.size(); ++pass) {
        if (passes[pass].size() != merged.size())
            throw BadInput("pass " + std::to_string(pass + 1) + " has " +
                           std::to_string(passes[pass].size()) + " dispatches, pass 1 has " +
                           std::to_string(merged.size()));
        for (std::size_t i = 0; i < merged.size(); ++i) {
            if (passes[pass][i].kernel != merged[i].kernel)
                throw BadInput("dispatch " + std::to_string(i + 1) + " is '" + merged[i].kernel +
                               "' in pass 1 and '" + passes[pass][i].kernel + "' in pass " +
                               std::to_string(pass + 1));
            merged[i].metrics.insert(passes[pass][i].metrics.begin(), passes[pass][i].metrics.end());
        }
    }
    return merged;
}

}  // namespace l2lens::gpu
