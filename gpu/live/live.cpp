// SPDX-License-Identifier: Apache-2.0
#include "gpu/live/live.hpp"

#include <algorithm>

#include "base/error.hpp"

#include "gpu/counters/statistics.hpp"
#include "gpu/device.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/flush.hpp"
#include "gpu/live/live_kernel.hpp"
#include "gpu/live/order_table.hpp"

namespace l2lens::gpu {
namespace {

class Event {
public:
    Event() { check_cuda(cudaEventCreate(&event_), "creating an event"); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(event_); }
    void record() { check_cuda(cudaEventRecord(event_), "recording an event"); }
    double microseconds_since(const Event& earlier) const {
        float ms = 0;
        check_cuda(cudaEventElapsedTime(&ms, earlier.event_, event_), "reading events");
        return static_cast<double>(ms) * 1000;
    }

private:
    cudaEvent_t event_ = nullptr;
};

// Everything a launch of one order needs on the device.
class LiveRun {
public:
    LiveRun(const LiveKernel& kernel, std::span<const TileCoord> order, const LiveOptions& options)
        : options_(options), program_(make_live_program(kernel)), shape_(program_->shape()) {
        const auto table = pack_order(order, shape_);
        require_gpu();
        if (!options.metrics.empty()) require_counters();
        int device = 0;
        check_cuda(cudaGetDevice(&device), "asking for the current device");
        check_cuda(cudaGetDeviceProperties(&properties_, device), "asking for the GPU's properties");
        // More than twice the L2, so that nothing of a launch survives, however it is cached.
        flush_ = DeviceBuffer<std::uint8_t>(static_cast<std::size_t>(properties_.l2CacheSize) * 4);
        flush_.fill_bytes(0);
        launch_ = program_->prepare(options.seed);
        order_ = DeviceBuffer<std::uint32_t>(std::span(table));
        counter_ = DeviceBuffer<std::uint32_t>(1);
        plan_.order = order_.get();
        plan_.launches = static_cast<std::int64_t>(table.size());
        plan_.mode = options.mode;
        plan_.persistent_ctas = properties_.multiProcessorCount;
        plan_.counter = counter_.get();
    }

    LiveResult run() {
        LiveResult result;
        result.gpu = properties_.name;
        result.shape = shape_;
        result.ctas_per_sm = launch_->ctas_per_sm();
        launch_->launch(plan_);  // loads the module, and shows a faulty kernel before anything is measured
        check_cuda(cudaDeviceSynchronize(), "running the kernel");
        if (options_.timed_launches > 0) time(result);
        if (options_.record_schedule) result.schedule = record();
        if (!options_.metrics.empty()) count(result);
        return result;
    }

private:
    void prepare() {
        if (options_.cache == CacheState::Cold)
            flush_l2(flush_.get(), static_cast<std::int64_t>(flush_.bytes()));
        else
            launch_->launch(plan_);
    }

    void time(LiveResult& result) {
        const auto count = static_cast<std::size_t>(options_.timed_launches);
        std::vector<Event> marks(count + 1);
        for (int i = 0; i < 3; ++i) launch_->launch(plan_);
        marks[0].record();
        for (std::size_t i = 0; i < count; ++i) {
            launch_->launch(plan_);
            marks[i + 1].record();
        }
        check_cuda(cudaDeviceSynchronize(), "timing the kernel");
        std::vector<double> times;
        for (std::size_t i = 0; i < count; ++i) times.push_back(marks[i + 1].microseconds_since(marks[i]));
        result.time_us = median(times);
        result.time_us_min = *std::min_element(times.begin(), times.end());
        result.time_us_max = *std::max_element(times.begin(), times.end());
    }

    std::vector<TileRecord> record() {
        DeviceBuffer<TileRecord> records(static_cast<std::size_t>(plan_.launches));
        records.fill_bytes(0xFF);
        prepare();
        LaunchPlan recorded = plan_;
        recorded.records = records.get();
        launch_->launch(recorded);
        check_cuda(cudaDeviceSynchronize(), "recording the schedule");
        auto schedule = records.to_host();
        std::int64_t first = schedule.front().start_ns;
        for (const TileRecord& tile : schedule) first = std::min(first, tile.start_ns);
        for (TileRecord& tile : schedule) {
            tile.start_ns -= first;
            tile.end_ns -= first;
        }
        return schedule;
    }

    void count(LiveResult& result) {
        result.counters = read_counters(options_.metrics, Counted::Launch, result.passes);
        for (CounterValue& counter : result.counters) {
            int passes = 0;
            if (counter.name == kDuration)
                counter = read_counters({kDuration}, Counted::Kernels, passes).front();
        }
    }

    std::vector<CounterValue> read_counters(const std::vector<std::string>& metrics, Counted counted,
                                            int& passes) {
        CounterSession session(metrics, counted);
        passes = session.passes();
        return session.measure_repeatedly([&] { launch_->launch(plan_); }, [&] { prepare(); },
                                          std::max(options_.repeats, 1));
    }

    static constexpr const char* kDuration = "gpu__time_duration.sum";

    LiveOptions options_;
    std::unique_ptr<LiveProgram> program_;
    LiveShape shape_;
    cudaDeviceProp properties_{};
    std::unique_ptr<LiveLaunch> launch_;
    DeviceBuffer<std::uint8_t> flush_;
    DeviceBuffer<std::uint32_t> order_;
    DeviceBuffer<std::uint32_t> counter_;
    LaunchPlan plan_;
};

}  // namespace

LiveResult run_live(const LiveKernel& kernel, std::span<const TileCoord> order, const LiveOptions& options) {
    return LiveRun(kernel, order, options).run();
}

}  // namespace l2lens::gpu
