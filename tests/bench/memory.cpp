// SPDX-License-Identifier: Apache-2.0
// Line events a second of the memory model, beside the bare LRU loop on the same events.
#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "memory/lane.hpp"
#include "memory/timing.hpp"
#include "parallel/tbb_executor.hpp"

#include "bare_lru.hpp"
#include "line_stream.hpp"

namespace l2lens::bench {
namespace {

// A stream, the lanes it goes to, and what the bare loop does with it.
struct Prepared {
    LaneSample sample;
    LineStream stream;
    double bare_lines_per_second;

    Prepared(const std::string& pattern, int one_in)
        : sample(h200().l2.slices_per_partition, h200().l2.slices_per_partition / one_in),
          stream(make_stream(pattern, sample)),
          bare_lines_per_second(bench::bare_lines_per_second(stream, sample)) {}
};

// Kept for the next benchmark on the same stream, and only for that: a quarter of the lanes has 35 MB.
const Prepared& prepare(const std::string& pattern, int one_in) {
    static std::pair<std::string, int> key;
    static std::unique_ptr<Prepared> prepared;
    if (!prepared || key != std::pair(pattern, one_in)) {
        prepared.reset();
        prepared = std::make_unique<Prepared>(pattern, one_in);
        key = {pattern, one_in};
    }
    return *prepared;
}

// The lanes, window by window as the simulation runs them.
class Lanes {
public:
    explicit Lanes(const LaneSample& sample)
        : model_(h200(), sample.factor()), window_(exchange_window(h200())) {
        for (int i = 0; i < sample.count(); ++i)
            lanes_.push_back(std::make_unique<Lane>(model_, 0, sample.lane(i)));
    }

    void run(const LineStream& stream, Executor& executor) {
        const Picoseconds begin = now_;
        const Picoseconds end = begin + stream.duration;
        auto next = stream.events.begin();
        while (now_ < end) {
            now_ += window_;
            for (; next != stream.events.end() && begin + next->time < now_; ++next) submit(*next, begin);
            executor.for_each(lanes_.size(), [&](std::size_t i) { lanes_[i]->run_until(now_); });
            for (auto& lane : lanes_)
                for (int gpc = 0; gpc < h200().gpcs; ++gpc) lane->answers(gpc).clear();
        }
    }

private:
    void submit(const LineEvent& event, Picoseconds begin) {
        Request request;
        request.time = begin + event.time;
        request.line = event.line;
        request.sectors = kWholeLine;
        request.fetch = Fetch::Tensor;
        request.gpc = event.gpc;
        request.sm = event.sm;
        lanes_[event.lane]->submit(request);
    }

    MemoryModel model_;
    Picoseconds window_;
    Picoseconds now_ = 0;
    std::vector<std::unique_ptr<Lane>> lanes_;
};

// CPU time of one thread, wall clock of several.
double now_seconds(int threads) {
    if (threads == 1) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void memory(benchmark::State& state, const std::string& pattern) {
    const auto threads = static_cast<int>(state.range(0));
    const Prepared& prepared = prepare(pattern, static_cast<int>(state.range(1)));
    TbbExecutor executor(threads);
    const std::unique_ptr<Executor> team = executor.team(threads);
    Lanes lanes(prepared.sample);
    lanes.run(prepared.stream, *team);  // warm
    const double begin = now_seconds(threads);
    for ([[maybe_unused]] auto _ : state) lanes.run(prepared.stream, *team);
    const double seconds = now_seconds(threads) - begin;
    const auto lines =
        static_cast<double>(state.iterations()) * static_cast<double>(prepared.stream.events.size());
    state.SetItemsProcessed(static_cast<std::int64_t>(lines));
    state.counters["of_bare_lru"] = lines / seconds / prepared.bare_lines_per_second;
}

void bare_lru(benchmark::State& state, const std::string& pattern) {
    const Prepared& prepared = prepare(pattern, static_cast<int>(state.range(0)));
    BareLru lru = bare_lru_for(prepared.sample);
    for ([[maybe_unused]] auto _ : state) {
        std::int64_t hits = 0;
        for (const LineEvent& event : prepared.stream.events) hits += lru.touch(event.line);
        benchmark::DoNotOptimize(hits);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(prepared.stream.events.size()));
}

// Arguments: threads, sample (1/N of the lanes).
const bool registered = [] {
    for (const std::string pattern : {"row_major", "group_m:8", "random"}) {
        for (const int one_in : {16, 4}) {
            benchmark::RegisterBenchmark(("bare_lru/" + pattern).c_str(),
                                         [pattern](benchmark::State& state) { bare_lru(state, pattern); })
                ->ArgName("sample")
                ->Arg(one_in)
                ->Unit(benchmark::kMillisecond);
            benchmark::RegisterBenchmark(("memory/" + pattern).c_str(),
                                         [pattern](benchmark::State& state) { memory(state, pattern); })
                ->ArgNames({"threads", "sample"})
                ->Args({1, one_in})
                ->Args({2, one_in})
                ->UseRealTime()
                ->Unit(benchmark::kMillisecond);
        }
    }
    return true;
}();

}  // namespace
}  // namespace l2lens::bench
