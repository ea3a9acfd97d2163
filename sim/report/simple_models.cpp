// SPDX-License-Identifier: Apache-2.0
#include "report/simple_models.hpp"

#include <cmath>
#include <vector>

namespace l2lens {

Counters simple_model_counters(const ValidationRow& row, std::string_view model) {
    Counters counters;
    const auto hit_rate = find_counter(row.metrics, std::string(model) + "_hit_rate_pct");
    if (!hit_rate) return counters;
    counters["lts__t_sector_hit_rate.pct"] = *hit_rate;
    // The sectors asked for are the kernel's, the same for every order and every model.
    if (const auto asked = find_counter(row.predicted, "lrc__request_sectors_op_read_coalescable.sum"))
        counters["lts__d_sectors_fill_device.sum"] = (1 - *hit_rate / 100) * *asked;
    return counters;
}

SimpleModelErrors simple_model_errors(std::span<const ValidationRow> rows) {
    SimpleModelErrors all;
    for (const char* model : {"flat_lru", "closed_form"}) {
        std::map<std::string, std::vector<double>> errors;
        for (const ValidationRow& row : rows) {
            const Counters counters = simple_model_counters(row, model);
            for (const auto& [id, value] : counters) {
                const double error = error_of(counters, row, *find_metric(id));
                if (!std::isnan(error)) errors[id].push_back(error);
            }
        }
        for (const auto& [id, values] : errors) all[model].emplace(id, error_stats(values));
    }
    return all;
}

}  // namespace l2lens
