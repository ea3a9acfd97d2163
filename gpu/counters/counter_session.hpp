// SPDX-License-Identifier: Apache-2.0
// Hardware counters of one launch, read in as many passes as they need: the launch is repeated by us (user
// replay), with the caches put back to the same state before each pass.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace l2lens::gpu {

// One metric over several repeats of the whole set of passes.
struct CounterValue {
    std::string name;
    double median = 0;
    double min = 0;
    double max = 0;
    // (max - min) / median in percent, 0 for a median of 0: what a reader should not take for a difference.
    double spread_pct() const { return median != 0 ? (max - min) / median * 100 : 0; }
};

// What is one reading: all that a launch enqueues, with the microseconds that the host and the profiler take
// to bring it about; or its kernels alone, their values added up, for what a single pass can count. (A cold
// GEMM of 11 us has a gpu__time_duration.sum of 31 us as a launch.)
enum class Counted { Launch, Kernels };

class CounterSession {
public:
    // On the calling thread's current CUDA context, one session at a time. Throws BadInput for a metric the
    // chip does not have, Unavailable when counters cannot be read here.
    explicit CounterSession(std::vector<std::string> metrics, Counted counted = Counted::Launch);
    ~CounterSession();
    CounterSession(const CounterSession&) = delete;
    CounterSession& operator=(const CounterSession&) = delete;

    const std::vector<std::string>& metrics() const;
    const std::string& chip() const;
    int passes() const;

    // Calls prepare() and launch() once per pass; only what launch() enqueues is counted. Both may be
    // asynchronous: the device is synchronised around the range. Values in the order of metrics().
    std::vector<double> measure(const std::function<void()>& launch, const std::function<void()>& prepare);

    // The same, `repeats` times over.
    std::vector<CounterValue> measure_repeatedly(const std::function<void()>& launch,
                                                 const std::function<void()>& prepare, int repeats);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// The name CUPTI has for the chip of the current device.
std::string current_chip();

}  // namespace l2lens::gpu
