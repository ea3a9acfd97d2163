// SPDX-License-Identifier: Apache-2.0
#include "gpu/counters/counter_session.hpp"

#include <cstdint>

#include "base/error.hpp"

#include "gpu/counters/cupti.hpp"
#include "gpu/counters/metric_names.hpp"
#include "gpu/counters/statistics.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/driver_function.hpp"

namespace l2lens::gpu {
namespace {

// The metrics' schedule: which counters in which pass.
std::vector<std::uint8_t> make_config(const ProfilerHost& host, std::vector<const char*>& names) {
    auto add = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    add.pHostObject = host.get();
    add.ppMetricNames = names.data();
    add.numMetrics = names.size();
    L2LENS_CUPTI(HostConfigAddMetrics, &add);
    auto size = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
    size.pHostObject = host.get();
    L2LENS_CUPTI(HostGetConfigImageSize, &size);
    std::vector<std::uint8_t> image(size.configImageSize);
    auto get = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
    get.pHostObject = host.get();
    get.configImageSize = image.size();
    get.pConfigImage = image.data();
    L2LENS_CUPTI(HostGetConfigImage, &get);
    return image;
}

int count_passes(std::vector<std::uint8_t>& config) {
    auto params = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
    params.configImageSize = config.size();
    params.pConfigImage = config.data();
    L2LENS_CUPTI(HostGetNumOfPasses, &params);
    return static_cast<int>(params.numOfPasses);
}

// The calling thread's context; CUPTI takes no "current one" here.
CUcontext current_context() {
    CUcontext context = nullptr;
    driver_function<decltype(::cuCtxGetCurrent)>("cuCtxGetCurrent")(&context);
    if (!context) throw Error(ExitCode::Internal, "this thread has no CUDA context");
    return context;
}

// Before any other call to CUPTI, which crashes without it; again does no harm.
void initialize_profiler() {
    check_cuda(cudaFree(nullptr), "creating the CUDA context");
    auto params = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params);
    L2LENS_CUPTI(ProfilerInitialize, &params);
}

CUpti_RangeProfiler_Object* enable_range_profiler() {
    initialize_profiler();
    const CUcontext context = current_context();
    auto params = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params);
    params.ctx = context;
    L2LENS_CUPTI(RangeEnable, &params);
    return params.pRangeProfilerObject;
}

}  // namespace

// Kernels of one launch that are counted each for itself.
constexpr std::size_t kMostKernels = 64;

struct CounterSession::State {
    Counted counted = Counted::Launch;
    std::vector<std::string> metrics;
    std::vector<const char*> names;  // into `metrics`
    std::string chip;
    std::unique_ptr<ProfilerHost> host;
    std::vector<std::uint8_t> config;
    int passes = 0;
    CUpti_RangeProfiler_Object* profiler = nullptr;
    std::vector<std::uint8_t> counter_data;

    ~State() {
        if (!profiler) return;
        auto params = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params);
        params.pRangeProfilerObject = profiler;
        cupti().RangeDisable(&params);
    }

    std::size_t most_ranges() const { return counted == Counted::Kernels ? kMostKernels : 1; }

    void reset_counter_data() {
        auto size = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
        size.pRangeProfilerObject = profiler;
        size.pMetricNames = names.data();
        size.numMetrics = names.size();
        size.maxNumOfRanges = most_ranges();
        size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(most_ranges());
        L2LENS_CUPTI(RangeGetCounterDataSize, &size);
        counter_data.assign(size.counterDataSize, 0);
        auto init = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
        init.pRangeProfilerObject = profiler;
        init.counterDataSize = counter_data.size();
        init.pCounterData = counter_data.data();
        L2LENS_CUPTI(RangeCounterDataImageInitialize, &init);
    }

    void set_config() {
        auto params = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
        params.pRangeProfilerObject = profiler;
        params.configSize = config.size();
        params.pConfig = config.data();
        params.counterDataImageSize = counter_data.size();
        params.pCounterDataImage = counter_data.data();
        params.range = counted == Counted::Kernels ? CUPTI_AutoRange : CUPTI_UserRange;
        params.replayMode = counted == Counted::Kernels ? CUPTI_KernelReplay : CUPTI_UserReplay;
        params.maxRangesPerPass = most_ranges();
        params.numNestingLevels = 1;
        params.minNestingLevel = 1;
        params.targetNestingLevel = 1;
        L2LENS_CUPTI(RangeSetConfig, &params);
    }

    // True when it was the last pass.
    bool run_pass(const std::function<void()>& launch, const std::function<void()>& prepare) {
        if (prepare) prepare();
        check_cuda(cudaDeviceSynchronize(), "waiting for the caches to be flushed");
        auto start = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params);
        start.pRangeProfilerObject = profiler;
        L2LENS_CUPTI(RangeStart, &start);
        if (counted == Counted::Kernels) {
            launch();
        } else {
            count_range(launch);
        }
        check_cuda(cudaDeviceSynchronize(), "waiting for the counted launch");
        auto stop = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params);
        stop.pRangeProfilerObject = profiler;
        L2LENS_CUPTI(RangeStop, &stop);
        return stop.isAllPassSubmitted != 0;
    }

    void count_range(const std::function<void()>& launch) {
        auto push = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params);
        push.pRangeProfilerObject = profiler;
        push.pRangeName = "launch";
        L2LENS_CUPTI(RangePushRange, &push);
        launch();
        auto pop = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params);
        pop.pRangeProfilerObject = profiler;
        L2LENS_CUPTI(RangePopRange, &pop);
    }

    std::vector<double> evaluate() {
        auto decode = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
        decode.pRangeProfilerObject = profiler;
        L2LENS_CUPTI(RangeDecodeData, &decode);
        if (decode.numOfRangeDropped != 0) throw Error(ExitCode::Internal, "CUPTI dropped the counted range");
        std::vector<double> total(metrics.size(), 0);
        for (std::size_t range = 0; range < ranges(); ++range) {
            std::vector<double> values(metrics.size());
            auto params = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
            params.pHostObject = host->get();
            params.pCounterDataImage = counter_data.data();
            params.counterDataImageSize = counter_data.size();
            params.rangeIndex = range;
            params.ppMetricNames = names.data();
            params.numMetrics = names.size();
            params.pMetricValues = values.data();
            L2LENS_CUPTI(HostEvaluateToGpuValues, &params);
            for (std::size_t i = 0; i < values.size(); ++i) total[i] += values[i];
        }
        return total;
    }

    std::size_t ranges() const {
        auto info = L2LENS_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
        info.pCounterDataImage = counter_data.data();
        info.counterDataImageSize = counter_data.size();
        L2LENS_CUPTI(RangeGetCounterDataInfo, &info);
        return info.numTotalRanges;
    }
};

CounterSession::CounterSession(std::vector<std::string> metrics, Counted counted)
    : state_(std::make_unique<State>()) {
    if (metrics.empty()) throw BadInput("no metric to count");
    state_->counted = counted;
    state_->metrics = std::move(metrics);
    for (const std::string& name : state_->metrics) state_->names.push_back(name.c_str());
    state_->profiler = enable_range_profiler();
    state_->chip = current_chip();
    check_metric_names(state_->chip, state_->metrics);
    state_->host = std::make_unique<ProfilerHost>(state_->chip);
    state_->config = make_config(*state_->host, state_->names);
    state_->passes = count_passes(state_->config);
    if (counted == Counted::Kernels && state_->passes > 1)
        throw BadInput("these metrics take " + std::to_string(state_->passes) +
                       " passes; of kernels each for itself one pass can be counted");
}

CounterSession::~CounterSession() = default;

const std::vector<std::string>& CounterSession::metrics() const {
    return state_->metrics;
}
const std::string& CounterSession::chip() const {
    return state_->chip;
}
int CounterSession::passes() const {
    return state_->passes;
}

std::vector<double> CounterSession::measure(const std::function<void()>& launch,
                                            const std::function<void()>& prepare) {
    state_->reset_counter_data();
    state_->set_config();
    while (!state_->run_pass(launch, prepare)) {
    }
    return state_->evaluate();
}

std::vector<CounterValue> CounterSession::measure_repeatedly(const std::function<void()>& launch,
                                                             const std::function<void()>& prepare,
                                                             int repeats) {
    std::vector<std::vector<double>> readings(metrics().size());
    for (int i = 0; i < repeats; ++i) {
        const auto values = measure(launch, prepare);
        for (std::size_t metric = 0; metric < values.size(); ++metric)
            readings[metric].push_back(values[metric]);
    }
    std::vector<CounterValue> result;
    for (std::size_t metric = 0; metric < readings.size(); ++metric) {
        const auto [low, high] = std::minmax_element(readings[metric].begin(), readings[metric].end());
        result.push_back({metrics()[metric], median(readings[metric]), *low, *high});
    }
    return result;
}

std::string current_chip() {
    initialize_profiler();
    int device = 0;
    check_cuda(cudaGetDevice(&device), "asking for the current device");
    auto params = L2LENS_CUPTI_PARAMS(CUpti_Device_GetChipName_Params);
    params.deviceIndex = static_cast<std::size_t>(device);
    L2LENS_CUPTI(DeviceGetChipName, &params);
    return params.pChipName;
}

}  // namespace l2lens::gpu
