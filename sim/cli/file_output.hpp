// SPDX-License-Identifier: Apache-2.0
// Writing results: a regular file is replaced only when the new one is whole.
#pragma once

#include <string>
#include <string_view>

namespace l2lens::cli {

// Throws BadInput when `path` could not be written later, or is an input or another option's output: before a
// long computation, not after it.
void check_writable(const std::string& path, const std::string& option);

// A regular file, or a new one, is written beside its place and renamed; anything else that exists (a pipe,
// /dev/null, a terminal, /dev/stdout) is written straight.
void write_file(const std::string& path, std::string_view text);

// Writes to standard output and flushes it. Throws BadInput when that fails (a full disk).
void write_stdout(std::string_view text);

}  // namespace l2lens::cli
