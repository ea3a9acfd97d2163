// SPDX-License-Identifier: Apache-2.0
// How long an SM waits for its next CTA.
#include <algorithm>
#include <map>

#include "gpu/counters/statistics.hpp"
#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {

void probe_launch(ProbeBench& bench) {
    constexpr int kWaves = 20;
    const auto spans = record_spinning_ctas(bench.sms() * kWaves, 10000);
    std::map<int, std::vector<CtaSpan>> of_sm;
    for (const CtaSpan& span : spans) of_sm[span.sm].push_back(span);
    std::vector<double> gaps;
    std::vector<std::int64_t> first;
    for (auto& [sm, list] : of_sm) {
        std::sort(list.begin(), list.end(),
                  [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
        first.push_back(list.front().start_ns);
        for (std::size_t i = 1; i < list.size(); ++i)
            gaps.push_back(static_cast<double>(list[i].start_ns - list[i - 1].end_ns));
    }
    bench.found("launch.cta_gap", decimal(median(gaps), 0),
                "median from a CTA's end to the next start on its SM");
    const auto [earliest, latest] = std::minmax_element(first.begin(), first.end());
    bench.found("launch.stagger", decimal(static_cast<double>(*latest - *earliest) / bench.sms(), 2),
                "the first wave starts within " + std::to_string(*latest - *earliest) + " ns");
    bench.missing("launch.persistent_gap, exit_jitter: properties of a kernel's code");
}

}  // namespace l2lens::gpu
