// SPDX-License-Identifier: Apache-2.0
#include "cli/file_output.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

#include "base/error.hpp"
#include "base/file_roles.hpp"
#include "cli/output_place.hpp"

namespace l2lens::cli {
namespace {

namespace fs = std::filesystem;

void write_straight(const std::string& path, std::string_view text) {
    Descriptor file = open_straight(path);
    if (!file.is_open() || !file.write_all(text) || !file.close()) fail_to_write(path, errno);
}

void write_beside_and_rename(const std::string& path, std::string_view text) {
    std::string beside;
    Descriptor file = create_beside(path, beside);
    if (file.write_all(text) && file.close() && ::rename(beside.c_str(), target_of(path).c_str()) == 0)
        return;
    const int error = errno;
    ::unlink(beside.c_str());
    fail_to_write(path, error);
}

// A regular file, there or not.
void check_place(const std::string& path) {
    const fs::path target = target_of(path);
    std::error_code ignored;
    if (fs::exists(target, ignored) && ::access(target.c_str(), W_OK) != 0) fail_to_write(path, errno);
    // "folder/." tells a file on the way (ENOTDIR) from a folder without permission.
    if (::access((folder_of(target) / ".").c_str(), W_OK | X_OK) != 0) fail_to_write(path, errno);
}

}  // namespace

void check_writable(const std::string& path, const std::string& option) {
    std::error_code ignored;
    if (path.empty()) fail_to_write(path, ENOENT);
    if (path == "-") throw BadInput("'-' is no file's name; only --json and --csv print");
    will_write(path, option);
    if (fs::is_directory(path, ignored) || path.back() == '/') fail_to_write(path, EISDIR);
    if (!goes_straight(path)) return check_place(path);
    if (!can_write_straight(path)) fail_to_write(path, errno);
}

void write_file(const std::string& path, std::string_view text) {
    if (goes_straight(path)) {
        write_straight(path, text);
    } else {
        write_beside_and_rename(path, text);
    }
}

void write_stdout(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
        fail_to_write("standard output", errno);
    }
}

}  // namespace l2lens::cli
