// SPDX-License-Identifier: Apache-2.0
#include "cli/record_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "cli/file_output.hpp"
#include "cli/output_place.hpp"

namespace l2lens::cli {
namespace {

// What the regular file holds; "" for a new one, and for pipes and devices.
std::string text_of(const std::string& path) {
    std::error_code error;
    if (goes_straight(path) || !std::filesystem::is_regular_file(path, error)) return "";
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw BadInput("cannot read '" + path + "', to which rows were to be added");
    return text.str();
}

std::string without_line_end(std::string line) {
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    return line;
}

}  // namespace

RecordFile::RecordFile(std::string path, const std::string& option, std::string header)
    : path_(std::move(path)) {
    if (path_.empty()) return;
    check_writable(path_, option);
    std::error_code error;
    before_ = std::filesystem::file_size(path_, error) > 0 && !error ? text_of(path_) : "";
    if (before_.empty()) {
        before_ = std::move(header);
        return;
    }
    const std::string first = before_.substr(0, before_.find('\n'));
    if (without_line_end(first) != without_line_end(header)) {
        throw BadInput(path_ + ":1: has other columns than this run records; name a new file");
    }
    if (before_.back() != '\n') before_ += '\n';
}

void RecordFile::write() const {
    if (!path_.empty()) write_file(path_, before_ + added_);
}

}  // namespace l2lens::cli
