// SPDX-License-Identifier: Apache-2.0
#include "gpu/device.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "base/error.hpp"

#include "gpu/counters/cupti_path.hpp"
#include "gpu/shared_library.hpp"

namespace l2lens::gpu {
namespace {

// The few driver entry points needed, declared here so that no toolkit is needed to build: the driver's C
// interface is stable (cuda.h: CUresult is an int, CUdevice is an int, attribute numbers never change).
enum DriverAttribute { kSmCount = 16, kL2Bytes = 38, kComputeMajor = 75, kComputeMinor = 76 };

struct Driver {
    int (*init)(unsigned);
    int (*version)(int*);
    int (*device_count)(int*);
    int (*device_get)(int*, int);
    int (*device_name)(char*, int, int);
    int (*device_attribute)(int*, int, int);
    int (*device_memory)(std::size_t*, int);
    int (*device_bus)(char*, int, int);
};

std::string read_file(const char* path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::optional<Driver> load_driver(const SharedLibrary& library) {
    Driver driver{
        library.function<int(unsigned)>("cuInit"),
        library.function<int(int*)>("cuDriverGetVersion"),
        library.function<int(int*)>("cuDeviceGetCount"),
        library.function<int(int*, int)>("cuDeviceGet"),
        library.function<int(char*, int, int)>("cuDeviceGetName"),
        library.function<int(int*, int, int)>("cuDeviceGetAttribute"),
        library.function<int(std::size_t*, int)>("cuDeviceTotalMem_v2"),
        library.function<int(char*, int, int)>("cuDeviceGetPCIBusId"),
    };
    const bool whole = driver.init && driver.version && driver.device_count && driver.device_get &&
                       driver.device_name && driver.device_attribute && driver.device_memory &&
                       driver.device_bus;
    return whole ? std::optional(driver) : std::nullopt;
}

GpuInfo describe_gpu(const Driver& driver, int index) {
    GpuInfo gpu;
    gpu.index = index;
    int device = 0;
    if (driver.device_get(&device, index) != 0) return gpu;
    std::array<char, 256> name{};
    driver.device_name(name.data(), static_cast<int>(name.size()), device);
    gpu.name = name.data();
    auto attribute = [&](DriverAttribute which) {
        int value = 0;
        driver.device_attribute(&value, which, device);
        return value;
    };
    gpu.sms = attribute(kSmCount);
    gpu.l2_bytes = attribute(kL2Bytes);
    gpu.compute_major = attribute(kComputeMajor);
    gpu.compute_minor = attribute(kComputeMinor);
    gpu.chip = chip_of_compute_capability(gpu.compute_major, gpu.compute_minor);
    std::size_t bytes = 0;
    driver.device_memory(&bytes, device);
    gpu.memory_bytes = static_cast<std::int64_t>(bytes);
    std::array<char, 32> bus{};
    if (driver.device_bus(bus.data(), static_cast<int>(bus.size()), device) == 0) gpu.pci_bus = bus.data();
    return gpu;
}

// nvml.h: NVML_CLOCK_SM and NVML_CLOCK_MEM.
enum NvmlClock { kSmClock = 1, kMemoryClock = 2 };

void ask_clocks(const SharedLibrary& nvml, void* handle, GpuInfo& gpu) {
    using ClockInfo = int(void*, unsigned, unsigned*);
    const auto mhz = [&](const char* function, NvmlClock clock) {
        auto* ask = nvml.function<ClockInfo>(function);
        unsigned value = 0;
        return ask && ask(handle, clock, &value) == 0 ? static_cast<int>(value) : 0;
    };
    gpu.sm_clock_mhz = mhz("nvmlDeviceGetClockInfo", kSmClock);
    gpu.sm_clock_most_mhz = mhz("nvmlDeviceGetMaxClockInfo", kSmClock);
    gpu.memory_clock_mhz = mhz("nvmlDeviceGetClockInfo", kMemoryClock);
}

// NVML adds the driver's version, MIG and clocks; all of them are optional knowledge. It numbers all boards
// of the machine, CUDA those that CUDA_VISIBLE_DEVICES leaves it: the bus tells which is which.
void ask_nvml(DeviceReport& report) {
    auto library =
        SharedLibrary::open({"libnvidia-ml.so.1"}, {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"});
    if (!library) return;
    auto* init = library->function<int()>("nvmlInit_v2");
    auto* shutdown = library->function<int()>("nvmlShutdown");
    auto* driver_version = library->function<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
    auto* handle_of = library->function<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    auto* mig_mode = library->function<int(void*, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
    if (!init || !shutdown || init() != 0) return;
    std::array<char, 96> text{};
    if (driver_version && driver_version(text.data(), text.size()) == 0) report.driver_version = text.data();
    for (GpuInfo& gpu : report.gpus) {
        void* handle = nullptr;
        if (!handle_of || handle_of(gpu.pci_bus.c_str(), &handle) != 0) continue;
        ask_clocks(*library, handle, gpu);
        if (!mig_mode) continue;
        unsigned current = 0;
        unsigned pending = 0;
        const int status = mig_mode(handle, &current, &pending);
        constexpr int kNotSupported = 3;  // NVML_ERROR_NOT_SUPPORTED: a GPU without MIG
        if (status == 0) gpu.mig_enabled = current != 0;
        if (status == kNotSupported) gpu.mig_enabled = false;
    }
    shutdown();
}

void ask_driver(DeviceReport& report) {
    auto library = SharedLibrary::open({"libcuda.so.1"}, {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"});
    if (!library) {
        report.findings.push_back({Finding::Level::Missing, "no NVIDIA driver (libcuda.so.1 not found)",
                                   "install the driver, or predict without a GPU"});
        return;
    }
    library->keep_open();
    const auto driver = load_driver(*library);
    int count = 0;
    if (!driver || driver->init(0) != 0 || driver->device_count(&count) != 0 || count == 0) {
        report.findings.push_back(
            {Finding::Level::Missing, "the driver sees no GPU",
             "check `nvidia-smi`, CUDA_VISIBLE_DEVICES and the container's --gpus option"});
        return;
    }
    driver->version(&report.cuda_version);
    for (int i = 0; i < count; ++i) report.gpus.push_back(describe_gpu(*driver, i));
}

// Two profilers cannot hold the counters at once; a tool announces itself by an injection library.
std::string find_attached_profiler() {
    if (std::getenv("NV_NSIGHT_INJECTION_TRANSPORT_TYPE") || std::getenv("NV_COMPUTE_PROFILER_PERFWORKS_DIR"))
        return "Nsight Compute";
    if (std::getenv("NSYS_PROFILING_SESSION_ID")) return "Nsight Systems";
    if (const char* injected = std::getenv("CUDA_INJECTION64_PATH"))
        return std::string("a CUDA injection library (") + injected + ")";
    return "";
}

void ask_permissions(DeviceReport& report) {
    report.administrator = geteuid() == 0 || has_sys_admin(read_file("/proc/self/status"));
    report.counters_need_administrator = counters_need_administrator(read_file("/proc/driver/nvidia/params"));
    report.attached_profiler = find_attached_profiler();
}

void judge_gpus(DeviceReport& report) {
    for (const GpuInfo& gpu : report.gpus) {
        std::ostringstream line;
        line << "GPU " << gpu.index << ": " << gpu.name << ", compute capability " << gpu.compute_major << '.'
             << gpu.compute_minor << ", " << gpu.sms << " SMs, L2 " << gpu.l2_bytes / (1 << 20) << " MiB";
        report.findings.push_back({Finding::Level::Good, line.str(), ""});
        if (gpu.mig_enabled.value_or(false))
            report.findings.push_back(
                {Finding::Level::Missing,
                 "GPU " + std::to_string(gpu.index) + " is split by MIG: its L2 counters cannot be read",
                 "use a GPU without MIG"});
    }
}

void judge_counters(DeviceReport& report) {
    if (report.built_with.empty())
        report.findings.push_back(
            {Finding::Level::Missing, "built without CUDA: no kernels to measure",
             "install a CUDA toolkit (nvcc) and build again, or import `ncu --csv` files"});
    if (report.gpus.empty()) return;
    if (report.cupti_path.empty())
        report.findings.push_back({Finding::Level::Missing, "CUPTI not found (libcupti.so)",
                                   "install the CUDA toolkit's CUPTI or add its folder to LD_LIBRARY_PATH"});
    else
        report.findings.push_back({Finding::Level::Good, "CUPTI: " + report.cupti_path, ""});
    if (report.counters_need_administrator.value_or(false) && !report.administrator)
        report.findings.push_back({Finding::Level::Missing,
                                   "the driver reserves counters to administrators (RmProfilingAdminOnly: 1)",
                                   "run as root or with CAP_SYS_ADMIN, or set `options nvidia "
                                   "NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d"});
    if (!report.attached_profiler.empty())
        report.findings.push_back({Finding::Level::Missing,
                                   "another profiler is attached: " + report.attached_profiler,
                                   "run without it: one tool holds the counters at a time"});
}

[[noreturn]] void refuse(const DeviceReport& report, const std::string& wish) {
    for (const Finding& finding : report.findings)
        if (finding.level == Finding::Level::Missing)
            throw Unavailable(wish + ": " + finding.what + "; " + finding.remedy);
    throw Unavailable(wish + ": not possible here; see `l2lens doctor`");
}

}  // namespace

bool DeviceReport::can_read_counters() const {
    if (!can_run_kernels() || cupti_path.empty() || !attached_profiler.empty()) return false;
    if (gpus.front().mig_enabled.value_or(false)) return false;
    return administrator || !counters_need_administrator.value_or(false);
}

std::optional<bool> counters_need_administrator(const std::string& nvidia_params_text) {
    const auto at = nvidia_params_text.find("RmProfilingAdminOnly:");
    if (at == std::string::npos) return std::nullopt;
    return nvidia_params_text.find_first_of("123456789", at) <
           nvidia_params_text.find('\n', at);  // "RmProfilingAdminOnly: 1"
}

bool has_sys_admin(const std::string& proc_status_text) {
    const auto at = proc_status_text.find("CapEff:");
    if (at == std::string::npos) return false;
    constexpr int kSysAdmin = 21;  // CAP_SYS_ADMIN, linux/capability.h
    const auto mask = std::strtoull(proc_status_text.c_str() + at + 7, nullptr, 16);
    return ((mask >> kSysAdmin) & 1) != 0;
}

// The chips CUPTI 13.0 lists, for the compute capability that only they have.
std::string chip_of_compute_capability(int major, int minor) {
    switch (major * 10 + minor) {
        case 70:
            return "GV100";
        case 75:
            return "TU102";
        case 80:
            return "GA100";
        case 86:
            return "GA102";
        case 89:
            return "AD102";
        case 90:
            return "GH100";
        case 100:
            return "GB100";
        case 103:
            return "GB110";
        case 120:
            return "GB202";
        default:
            return "";
    }
}

DeviceReport inspect_device() {
    DeviceReport report;
#ifdef L2LENS_CUDA_TOOLKIT
    report.built_with = "CUDA " L2LENS_CUDA_TOOLKIT;
#endif
    ask_driver(report);
    ask_nvml(report);
    report.cupti_path = find_cupti(report.cupti_version);
    ask_permissions(report);
    judge_gpus(report);
    judge_counters(report);
    return report;
}

std::vector<GpuInfo> list_gpus() {
    DeviceReport report;
    ask_driver(report);
    return report.gpus;
}

void require_gpu() {
    const DeviceReport report = inspect_device();
    if (!report.can_run_kernels()) refuse(report, "no GPU to run on");
}

void require_counters() {
    const DeviceReport report = inspect_device();
    if (!report.can_read_counters()) refuse(report, "counters cannot be read");
}

}  // namespace l2lens::gpu
