// SPDX-License-Identifier: Apache-2.0
#include "cli/staged_file.hpp"

#include <cerrno>

#include <unistd.h>

#include "base/error.hpp"
#include "cli/file_output.hpp"
#include "cli/output_place.hpp"

namespace l2lens::cli {
namespace {

Descriptor open_checked(const std::string& path, const std::string& option, std::string& beside) {
    check_writable(path, option);
    if (!goes_straight(path)) return create_beside(path, beside);
    Descriptor file = open_straight(path);
    if (!file.is_open()) fail_to_write(path, errno);
    return file;
}

}  // namespace

StagedFile::StagedFile(const std::string& path, const std::string& option)
    : path_(path), file_(open_checked(path, option, beside_)), buffer_(file_), stream_(&buffer_) {}

StagedFile::~StagedFile() {
    if (!beside_.empty()) ::unlink(beside_.c_str());
}

void StagedFile::commit() {
    if (!stream_.flush()) fail_to_write(path_, buffer_.error() != 0 ? buffer_.error() : EIO);
    if (!file_.close()) fail_to_write(path_, errno);
    if (beside_.empty()) return;
    if (::rename(beside_.c_str(), target_of(path_).c_str()) != 0) fail_to_write(path_, errno);
    beside_.clear();
}

}  // namespace l2lens::cli
