// SPDX-License-Identifier: Apache-2.0
// A library opened at run time, so that one binary runs with and without the driver, CUPTI or cuBLAS.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace l2lens::gpu {

class SharedLibrary {
public:
    // The first of `names` that opens: each is tried by itself (LD_LIBRARY_PATH, the loader's cache), then in
    // each of `folders`. Empty when none does.
    static std::optional<SharedLibrary> open(const std::vector<std::string>& names,
                                             const std::vector<std::string>& folders = {});

    SharedLibrary(SharedLibrary&& other) noexcept;
    SharedLibrary& operator=(SharedLibrary&&) = delete;
    ~SharedLibrary();

    // The address of `name`, nullptr when the library has none.
    void* symbol(const char* name) const;

    template <class Function>
    Function* function(const char* name) const {
        return reinterpret_cast<Function*>(symbol(name));
    }

    // Where the library was found ("/usr/local/cuda/lib64/libcupti.so.13").
    std::string path() const;

    // Keeps the library open until the process ends: some libraries leave threads or exit handlers behind.
    void keep_open();

private:
    explicit SharedLibrary(void* handle) : handle_(handle) {}
    void* handle_ = nullptr;
};

// Where a CUDA toolkit keeps its libraries, most likely place first.
std::vector<std::string> cuda_library_folders();

}  // namespace l2lens::gpu
