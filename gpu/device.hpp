// SPDX-License-Identifier: Apache-2.0
// What there is to measure with: driver, GPUs, CUPTI, and whether this user may read counters. Everything is
// opened at run time, so this compiles and answers on a machine without a GPU; `l2lens doctor` prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace l2lens::gpu {

struct GpuInfo {
    int index = 0;
    std::string name;     // "NVIDIA H200"
    std::string chip;     // CUPTI's name, "GH100"; "" when unknown
    std::string pci_bus;  // "0000:1b:00.0"
    int compute_major = 0;
    int compute_minor = 0;
    int sms = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t l2_bytes = 0;
    std::optional<bool> mig_enabled;  // unknown without NVML
    int sm_clock_mhz = 0;             // now; 0: unknown, as are the next two
    int sm_clock_most_mhz = 0;
    int memory_clock_mhz = 0;
};

// One thing looked at, as a reader should see it.
struct Finding {
    enum class Level { Good, Warning, Missing };
    Level level = Level::Good;
    std::string what;    // "counters are reserved to administrators"
    std::string remedy;  // "run as root, or ...", "" when nothing is to be done
};

struct DeviceReport {
    std::string built_with;      // "CUDA 13.0", "" when built without a toolkit
    std::string driver_version;  // "580.159.04", "" without a driver
    int cuda_version = 0;        // what the driver supports, 13000 for 13.0
    std::vector<GpuInfo> gpus;
    std::string cupti_path;  // "" when CUPTI was not found
    int cupti_version = 0;
    bool administrator = false;                       // root or CAP_SYS_ADMIN
    std::optional<bool> counters_need_administrator;  // RmProfilingAdminOnly
    std::string attached_profiler;                    // "ncu", "a CUDA injection library (...)", "" for none
    std::vector<Finding> findings;

    bool can_run_kernels() const { return !gpus.empty() && !built_with.empty(); }
    bool can_read_counters() const;
};

DeviceReport inspect_device();
// As the driver lists them, and no more than it says: none without a driver.
std::vector<GpuInfo> list_gpus();

// Throws Unavailable (exit 77) with what is missing and what to do about it.
void require_gpu();
void require_counters();

// What the driver and NVML are, without the verdicts: the parts inspect_device() is made of.
std::optional<bool> counters_need_administrator(const std::string& nvidia_params_text);
bool has_sys_admin(const std::string& proc_status_text);
std::string chip_of_compute_capability(int major, int minor);

}  // namespace l2lens::gpu
