// SPDX-License-Identifier: Apache-2.0
#include "gpu/counters/cupti_path.hpp"

#include <cstdint>

namespace l2lens::gpu {

std::optional<SharedLibrary> open_cupti() {
    const auto folders = cuda_library_folders();
    auto cupti = SharedLibrary::open({"libcupti.so.13", "libcupti.so"}, folders);
    if (!cupti) return std::nullopt;
    cupti->keep_open();
    // CUPTI opens these by bare name; opened here from CUPTI's own folder they are found wherever CUPTI was.
    const std::string path = cupti->path();
    const std::string folder = path.substr(0, path.find_last_of('/'));
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"})
        if (auto helper = SharedLibrary::open({folder + "/" + name})) helper->keep_open();
    return cupti;
}

std::string find_cupti(int& version) {
    const auto cupti = open_cupti();
    if (!cupti) return "";
    std::uint32_t number = 0;
    if (auto* get = cupti->function<int(std::uint32_t*)>("cuptiGetVersion"); get && get(&number) == 0)
        version = static_cast<int>(number);
    return cupti->path();
}

}  // namespace l2lens::gpu
