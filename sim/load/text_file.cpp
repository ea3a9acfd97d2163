// SPDX-License-Identifier: Apache-2.0
#include "load/text_file.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include "base/bytes_text.hpp"
#include "base/error.hpp"
#include "base/file_roles.hpp"

namespace l2lens {

std::string read_text_file(const std::string& path, std::size_t most_bytes) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw BadInput(path + ": is a folder, not a file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw BadInput(path + ": cannot be opened for reading");
    will_read(path);
    std::string text;
    for (std::array<char, 1 << 14> piece; text.size() <= most_bytes && file;) {
        file.read(piece.data(), piece.size());
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad()) throw BadInput(path + ": cannot be read");
    if (text.size() > most_bytes) {
        throw BadInput(path + ": is larger than " + bytes_text(static_cast<double>(most_bytes)) +
                       ", the most that is read of such a file");
    }
    return text;
}

}  // namespace l2lens
