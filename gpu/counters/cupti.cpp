// SPDX-License-Identifier: Apache-2.0
#include "gpu/counters/cupti.hpp"

#include "base/error.hpp"
#include "base/nearest.hpp"

#include "gpu/counters/cupti_path.hpp"
#include "gpu/counters/metric_names.hpp"

namespace l2lens::gpu {
namespace {

template <class Pointer>
void load(const SharedLibrary& library, const char* name, Pointer& pointer) {
    pointer = reinterpret_cast<Pointer>(library.symbol(name));
    if (!pointer)
        throw Unavailable("CUPTI at " + library.path() + " has no " + name +
                          "; the Range Profiler needs CUPTI of CUDA 12.6 or newer");
}

Cupti load_cupti() {
    const auto library = open_cupti();
    if (!library)
        throw Unavailable(
            "CUPTI not found (libcupti.so); install the CUDA toolkit's CUPTI or add its folder to "
            "LD_LIBRARY_PATH");
    Cupti c{};
    load(*library, "cuptiGetResultString", c.GetResultString);
    load(*library, "cuptiDeviceGetChipName", c.DeviceGetChipName);
    load(*library, "cuptiProfilerInitialize", c.ProfilerInitialize);
    load(*library, "cuptiProfilerDeviceSupported", c.ProfilerDeviceSupported);
    load(*library, "cuptiProfilerHostInitialize", c.HostInitialize);
    load(*library, "cuptiProfilerHostDeinitialize", c.HostDeinitialize);
    load(*library, "cuptiProfilerHostGetSupportedChips", c.HostGetSupportedChips);
    load(*library, "cuptiProfilerHostGetBaseMetrics", c.HostGetBaseMetrics);
    load(*library, "cuptiProfilerHostGetSubMetrics", c.HostGetSubMetrics);
    load(*library, "cuptiProfilerHostGetMetricProperties", c.HostGetMetricProperties);
    load(*library, "cuptiProfilerHostConfigAddMetrics", c.HostConfigAddMetrics);
    load(*library, "cuptiProfilerHostGetConfigImageSize", c.HostGetConfigImageSize);
    load(*library, "cuptiProfilerHostGetConfigImage", c.HostGetConfigImage);
    load(*library, "cuptiProfilerHostGetNumOfPasses", c.HostGetNumOfPasses);
    load(*library, "cuptiProfilerHostEvaluateToGpuValues", c.HostEvaluateToGpuValues);
    load(*library, "cuptiRangeProfilerEnable", c.RangeEnable);
    load(*library, "cuptiRangeProfilerDisable", c.RangeDisable);
    load(*library, "cuptiRangeProfilerGetCounterDataSize", c.RangeGetCounterDataSize);
    load(*library, "cuptiRangeProfilerCounterDataImageInitialize", c.RangeCounterDataImageInitialize);
    load(*library, "cuptiRangeProfilerSetConfig", c.RangeSetConfig);
    load(*library, "cuptiRangeProfilerStart", c.RangeStart);
    load(*library, "cuptiRangeProfilerStop", c.RangeStop);
    load(*library, "cuptiRangeProfilerPushRange", c.RangePushRange);
    load(*library, "cuptiRangeProfilerPopRange", c.RangePopRange);
    load(*library, "cuptiRangeProfilerDecodeData", c.RangeDecodeData);
    load(*library, "cuptiRangeProfilerGetCounterDataInfo", c.RangeGetCounterDataInfo);
    return c;
}

// What a user can do about it, "" for an error of ours.
std::string remedy_for(CUptiResult result) {
    switch (result) {
        case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
            return "the driver reserves counters to administrators: run as root, or set `options nvidia "
                   "NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d";
        case CUPTI_ERROR_HARDWARE_BUSY:
        case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
            return "another profiler holds the counters: stop it (dcgm, ncu, nsys, a debugger) and try again";
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
            return "this virtual GPU gives no counters: enable profiling for the vGPU, or import an `ncu "
                   "--csv` file";
        case CUPTI_ERROR_NOT_INITIALIZED:
            return "the driver and CUPTI do not fit together: use the CUPTI of the driver's CUDA version";
        default:
            return "";
    }
}

}  // namespace

const Cupti& cupti() {
    static const Cupti table = load_cupti();
    return table;
}

void check_cupti(CUptiResult result, const char* call) {
    if (result == CUPTI_SUCCESS) return;
    const char* text = "unknown error";
    cupti().GetResultString(result, &text);
    const std::string message = std::string(call) + ": " + text;
    if (const std::string remedy = remedy_for(result); !remedy.empty())
        throw Unavailable("counters cannot be read (" + message + "); " + remedy);
    throw Error(ExitCode::Internal, message);
}

ProfilerHost::ProfilerHost(const std::string& chip) {
    const auto chips = supported_chips();
    bool known = false;
    for (const std::string& name : chips) known = known || name == chip;
    if (!known) throw BadInput("CUPTI knows no chip '" + chip + "'" + suggestion(chip, chips));
    auto params = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip.c_str();
    L2LENS_CUPTI(HostInitialize, &params);
    object_ = params.pHostObject;
}

ProfilerHost::~ProfilerHost() {
    auto params = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    params.pHostObject = object_;
    cupti().HostDeinitialize(&params);
}

}  // namespace l2lens::gpu
