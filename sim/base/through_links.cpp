// SPDX-License-Identifier: Apache-2.0
#include "base/through_links.hpp"

#include <charconv>
#include <string>

namespace l2lens {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as Linux follows

// Of a name in the folder of this process's descriptors, where the system has one.
std::optional<int> number_in_folder(const fs::path& path) {
    std::error_code error;
    const fs::path own = fs::canonical("/proc/self/fd", error);
    if (error || fs::canonical(path.parent_path(), error) != own) return std::nullopt;
    const std::string name = path.filename().string();
    int number = 0;
    const auto [stop, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (problem != std::errc() || stop != name.data() + name.size()) return std::nullopt;
    return number;
}

}  // namespace

fs::path through_links(fs::path path) {
    std::error_code error;
    for (int links = 0; links < kMostLinks && fs::is_symlink(path, error); ++links) {
        if (number_in_folder(path)) break;
        const fs::path next = fs::read_symlink(path, error);
        path = next.is_absolute() ? next : path.parent_path() / next;
    }
    return path;
}

std::optional<int> own_descriptor(const fs::path& path) {
    return number_in_folder(through_links(path));
}

}  // namespace l2lens
