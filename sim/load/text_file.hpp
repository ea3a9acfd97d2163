// SPDX-License-Identifier: Apache-2.0
// A model file in one string.
#pragma once

#include <string>

namespace l2lens {

// Throws BadInput when the file cannot be read, or is larger than any model file is (so that a wrong path,
// say to a trace or a device, does not fill the memory).
std::string read_text_file(const std::string& path);

}  // namespace l2lens
