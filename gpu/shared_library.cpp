// SPDX-License-Identifier: Apache-2.0
#include "gpu/shared_library.hpp"

#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>
#include <link.h>

namespace l2lens::gpu {

std::optional<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& names,
                                                 const std::vector<std::string>& folders) {
    for (const std::string& name : names)
        if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(handle);
    for (const std::string& folder : folders) {
        for (const std::string& name : names) {
            const std::string path = folder + "/" + name;
            if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(handle);
        }
    }
    return std::nullopt;
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept : handle_(other.handle_) {
    other.handle_ = nullptr;
}

SharedLibrary::~SharedLibrary() {
    if (handle_) dlclose(handle_);
}

void* SharedLibrary::symbol(const char* name) const {
    return dlsym(handle_, name);
}

std::string SharedLibrary::path() const {
    link_map* map = nullptr;
    if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || !map) return "";
    return map->l_name;
}

void SharedLibrary::keep_open() {
    // One reference more than the destructor gives back.
    dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL);
}

std::vector<std::string> cuda_library_folders() {
    std::vector<std::string> folders;
    auto add_toolkit = [&](const std::string& root) {
        for (const char* sub : {"/lib64", "/extras/CUPTI/lib64", "/targets/x86_64-linux/lib", "/lib"})
            folders.push_back(root + sub);
    };
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* root = std::getenv(variable)) add_toolkit(root);
    add_toolkit("/usr/local/cuda");
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/local", error))
        if (entry.path().filename().string().starts_with("cuda-")) add_toolkit(entry.path().string());
    return folders;
}

}  // namespace l2lens::gpu
