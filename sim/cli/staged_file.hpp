// SPDX-License-Identifier: Apache-2.0
// A large output file, written piece by piece beside its place and moved there when it is whole: an error or
// an interrupt leaves what was there before.
#pragma once

#include <ostream>
#include <string>

#include "cli/descriptor.hpp"

namespace l2lens::cli {

class StagedFile {
public:
    // `option` is what names it on the command line. Throws BadInput when the file cannot be written. What is
    // no regular file (a pipe, /dev/null) is written straight.
    StagedFile(const std::string& path, const std::string& option);
    ~StagedFile();
    StagedFile(const StagedFile&) = delete;
    StagedFile& operator=(const StagedFile&) = delete;

    std::ostream& stream() { return stream_; }

    // Moves it to its place. Throws BadInput when not all of it could be written.
    void commit();

private:
    std::string path_;
    std::string beside_;  // "" when written straight
    Descriptor file_;
    DescriptorBuffer buffer_;
    std::ostream stream_;
};

}  // namespace l2lens::cli
