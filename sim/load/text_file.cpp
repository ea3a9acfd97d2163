// SPDX-License-Identifier: Apache-2.0
#include "load/text_file.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/file_roles.hpp"

namespace l2lens {
namespace {

constexpr std::size_t kMostBytes = 4 << 20;

}  // namespace

std::string read_text_file(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw BadInput(path + ": is a folder, not a file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw BadInput(path + ": cannot be opened for reading");
    will_read(path);
    std::string text;
    for (std::array<char, 1 << 14> piece; text.size() <= kMostBytes && file;) {
        file.read(piece.data(), piece.size());
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad()) throw BadInput(path + ": cannot be read");
    if (text.size() > kMostBytes) throw BadInput(path + ": is larger than 4 MiB, too large for a model file");
    return text;
}

}  // namespace l2lens
