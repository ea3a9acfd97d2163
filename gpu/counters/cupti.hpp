// SPDX-License-Identifier: Apache-2.0
// CUPTI's Range Profiler and Profiler Host interfaces, opened at run time. Private to this folder: nobody
// else includes CUPTI's headers.
#pragma once

#include <string>

#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

namespace l2lens::gpu {

// One pointer per function used, under CUPTI's own names without the prefix.
struct Cupti {
    decltype(&::cuptiGetResultString) GetResultString;
    decltype(&::cuptiDeviceGetChipName) DeviceGetChipName;
    decltype(&::cuptiProfilerInitialize) ProfilerInitialize;
    decltype(&::cuptiProfilerDeviceSupported) ProfilerDeviceSupported;
    decltype(&::cuptiProfilerHostInitialize) HostInitialize;
    decltype(&::cuptiProfilerHostDeinitialize) HostDeinitialize;
    decltype(&::cuptiProfilerHostGetSupportedChips) HostGetSupportedChips;
    decltype(&::cuptiProfilerHostGetBaseMetrics) HostGetBaseMetrics;
    decltype(&::cuptiProfilerHostGetSubMetrics) HostGetSubMetrics;
    decltype(&::cuptiProfilerHostGetMetricProperties) HostGetMetricProperties;
    decltype(&::cuptiProfilerHostConfigAddMetrics) HostConfigAddMetrics;
    decltype(&::cuptiProfilerHostGetConfigImageSize) HostGetConfigImageSize;
    decltype(&::cuptiProfilerHostGetConfigImage) HostGetConfigImage;
    decltype(&::cuptiProfilerHostGetNumOfPasses) HostGetNumOfPasses;
    decltype(&::cuptiProfilerHostEvaluateToGpuValues) HostEvaluateToGpuValues;
    decltype(&::cuptiRangeProfilerEnable) RangeEnable;
    decltype(&::cuptiRangeProfilerDisable) RangeDisable;
    decltype(&::cuptiRangeProfilerGetCounterDataSize) RangeGetCounterDataSize;
    decltype(&::cuptiRangeProfilerCounterDataImageInitialize) RangeCounterDataImageInitialize;
    decltype(&::cuptiRangeProfilerSetConfig) RangeSetConfig;
    decltype(&::cuptiRangeProfilerStart) RangeStart;
    decltype(&::cuptiRangeProfilerStop) RangeStop;
    decltype(&::cuptiRangeProfilerPushRange) RangePushRange;
    decltype(&::cuptiRangeProfilerPopRange) RangePopRange;
    decltype(&::cuptiRangeProfilerDecodeData) RangeDecodeData;
    decltype(&::cuptiRangeProfilerGetCounterDataInfo) RangeGetCounterDataInfo;
};

// Opened once; throws Unavailable when CUPTI is not there or too old for the Range Profiler (before
// CUDA 12.6).
const Cupti& cupti();

// Throws Unavailable for what a user can mend (permission, another profiler), Error otherwise.
void check_cupti(CUptiResult result, const char* call);

// A parameter struct with its size filled in, everything else zero.
template <class Params>
Params cupti_params(std::size_t size) {
    Params params{};
    params.structSize = size;
    return params;
}
#define L2LENS_CUPTI_PARAMS(type) ::l2lens::gpu::cupti_params<type>(type##_STRUCT_SIZE)
#define L2LENS_CUPTI(function, params) \
    ::l2lens::gpu::check_cupti(::l2lens::gpu::cupti().function(params), "cupti" #function)

// A Profiler Host object for a chip; needs no GPU.
class ProfilerHost {
public:
    explicit ProfilerHost(const std::string& chip);
    ~ProfilerHost();
    ProfilerHost(const ProfilerHost&) = delete;
    ProfilerHost& operator=(const ProfilerHost&) = delete;
    CUpti_Profiler_Host_Object* get() const { return object_; }

private:
    CUpti_Profiler_Host_Object* object_ = nullptr;
};

}  // namespace l2lens::gpu
