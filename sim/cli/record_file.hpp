// SPDX-License-Identifier: Apache-2.0
// A CSV file that measurements are added to: refused before anything is measured when it cannot take the
// rows, and replaced only by a whole new one.
#pragma once

#include <string>

namespace l2lens::cli {

class RecordFile {
public:
    // `option` names the file on the command line, `header` is the line of the columns. Throws BadInput when
    // `path` cannot be written, or holds a table with other columns. An empty path records nothing.
    RecordFile(std::string path, const std::string& option, std::string header);

    // Kept until write().
    void add(const std::string& rows) { added_ += rows; }

    // What was there and what was added, under one header.
    void write() const;

private:
    std::string path_;
    std::string before_;  // what was there, or the header
    std::string added_;
};

}  // namespace l2lens::cli
