// SPDX-License-Identifier: Apache-2.0
// L2LENS_SOURCE_MODELS and L2LENS_INSTALLED_MODELS come from CMakeLists.txt.
#include "load/model_path.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace l2lens {
namespace fs = std::filesystem;
namespace {

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

fs::path installed_models() {
    std::error_code failed;
    const fs::path executable = fs::read_symlink("/proc/self/exe", failed);
    if (failed) return {};
    return (executable.parent_path() / L2LENS_INSTALLED_MODELS).lexically_normal();
}

bool looks_like_path(std::string_view name, std::string_view extension) {
    return name.find('/') != std::string_view::npos || name.ends_with(extension);
}

// "gpus" holds one "gpu" a file.
std::string singular(std::string_view kind) {
    return std::string(kind.substr(0, kind.size() - kind.ends_with('s')));
}

}  // namespace

fs::path models_folder() {
    if (const char* chosen = std::getenv("L2LENS_MODELS"); chosen != nullptr && *chosen != '\0') {
        if (is_folder(chosen)) return chosen;
        throw BadInput("L2LENS_MODELS: no folder '" + std::string(chosen) + "'");
    }
    if (is_folder(L2LENS_SOURCE_MODELS)) return L2LENS_SOURCE_MODELS;
    if (fs::path installed = installed_models(); is_folder(installed)) return installed;
    throw BadInput("no models folder found; set L2LENS_MODELS to the one of the source tree");
}

std::vector<std::string> list_models(std::string_view kind, std::string_view extension) {
    std::vector<std::string> names;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(models_folder() / kind, failed))
        if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

std::vector<std::string> list_machines() {
    return list_models("gpus", ".toml");
}

fs::path find_model_file(std::string_view kind, const std::string& name_or_path, std::string_view extension) {
    std::error_code ignored;
    if (looks_like_path(name_or_path, extension)) {
        if (is_folder(name_or_path)) throw BadInput(name_or_path + ": is a folder, not a file");
        if (fs::exists(name_or_path, ignored)) return name_or_path;
        throw BadInput(name_or_path + ": no such file");
    }
    fs::path file = models_folder() / kind / (name_or_path + std::string(extension));
    if (!name_or_path.empty() && fs::exists(file, ignored)) return file;
    throw BadInput("unknown " + singular(kind) + " '" + name_or_path + "'" +
                   suggestion(name_or_path, list_models(kind, extension)));
}

}  // namespace l2lens
