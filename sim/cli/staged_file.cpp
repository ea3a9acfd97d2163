// SPDX-License-Identifier: Apache-2.0
#include "cli/staged_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "cli/file_output.hpp"

namespace l2lens::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) {
    throw BadInput("cannot write '" + path + "': " + std::strerror(error));
}

// A link stays one: what it points at is replaced.
std::string target_of(const std::string& path) {
    std::error_code error;
    const fs::path target = fs::weakly_canonical(path, error);
    return error ? path : target.string();
}

// A new file beside the target, with the permissions the target has or will get.
std::string create_beside(const std::string& path, const std::string& target) {
    const fs::path folder = fs::path(target).parent_path();
    std::string beside = (folder / ("." + fs::path(target).filename().string() + ".XXXXXX")).string();
    const int file = ::mkstemp(beside.data());
    if (file < 0) fail(path, errno);
    struct stat existing {};
    const mode_t mask = ::umask(0);
    ::umask(mask);
    const bool exists = ::stat(target.c_str(), &existing) == 0;
    const bool set = ::fchmod(file, exists ? existing.st_mode & 07777 : 0666 & ~mask) == 0;
    const int error = errno;
    ::close(file);
    if (set) return beside;
    ::unlink(beside.c_str());
    fail(path, error);
}

}  // namespace

StagedFile::StagedFile(const std::string& path) : path_(path) {
    check_writable(path);
    const std::string target = target_of(path);
    std::error_code ignored;
    const bool regular = !fs::exists(target, ignored) || fs::is_regular_file(target, ignored);
    if (regular) {
        path_ = target;
        beside_ = create_beside(path, target);
    }
    stream_.open(regular ? beside_ : path_, std::ios::binary);
    if (!stream_) fail(path, errno);
}

StagedFile::~StagedFile() {
    if (!beside_.empty()) ::unlink(beside_.c_str());
}

void StagedFile::commit() {
    errno = 0;
    stream_.close();
    if (!stream_) fail(path_, errno != 0 ? errno : EIO);
    if (beside_.empty()) return;
    if (::rename(beside_.c_str(), path_.c_str()) != 0) fail(path_, errno);
    beside_.clear();
}

}  // namespace l2lens::cli
