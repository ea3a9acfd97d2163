// SPDX-License-Identifier: Apache-2.0
// Where results and messages go: the table on stdout, --json and --csv to their files, messages on stderr.
#pragma once

#include <functional>
#include <string>

#include "cli/invocation.hpp"

namespace l2lens::cli {

// What a command has to say, in each form it can take. Forms are made only when asked for.
struct Document {
    std::function<std::string(bool colour)> text;
    std::function<std::string()> json;
    std::function<std::string()> csv;
};

class Output {
public:
    // Throws BadInput when a file cannot be written, or two forms want the same place.
    explicit Output(const CommonOptions& options);

    // "-" takes the place of the table; files are written besides it.
    void write(const Document& document) const;

    // One line on stderr, unless --quiet.
    void note(const std::string& message) const;

    bool quiet() const { return options_.quiet; }

private:
    bool colour() const;

    const CommonOptions& options_;
};

}  // namespace l2lens::cli
