// SPDX-License-Identifier: Apache-2.0
// Which form of trace is it?
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/file_roles.hpp"
#include "trace/binary_reader.hpp"
#include "trace/frames.hpp"
#include "trace/reader.hpp"
#include "trace/text.hpp"

namespace l2lens {

// The first byte decides: the magic's is no ASCII, and a zero byte is no text.
std::unique_ptr<TraceReader> read_trace(std::unique_ptr<std::istream> in, const std::string& name) {
    const int first = in->peek();
    if (first == std::char_traits<char>::eof()) throw BadInput(name + ": is empty, or cannot be read");
    if (first == 0 || first >= 0x80) return std::make_unique<BinaryTraceReader>(std::move(in), name);
    return std::make_unique<TextTraceReader>(*in, name);
}

std::unique_ptr<TraceReader> open_trace(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw BadInput(path + ": is a folder, not a trace");
    auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
    if (!*file) throw BadInput(path + ": cannot be opened for reading");
    will_read(path);
    return read_trace(std::move(file), path);
}

}  // namespace l2lens
