// SPDX-License-Identifier: Apache-2.0
// A file in one string.
#pragma once

#include <cstddef>
#include <string>

namespace l2lens {

// A file somebody writes by hand, and a table that a program writes: a schedule has some 50 bytes for each of
// its CTAs, of which there are millions at most.
inline constexpr std::size_t kMostModelBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMostTableBytes = std::size_t{512} << 20;

// Throws BadInput when the file cannot be read, or is larger than `most_bytes` (so that a wrong path, say to
// a trace or a device, does not fill the memory).
std::string read_text_file(const std::string& path, std::size_t most_bytes = kMostModelBytes);

}  // namespace l2lens
