// SPDX-License-Identifier: Apache-2.0
// Reads a machine file strictly: a key that is unknown, missing, of another type or unit, out of range or
// impossible beside the others is a BadInput of one line, "FILE:LINE: what".
#pragma once

#include <string>
#include <string_view>

#include "machine/machine.hpp"

namespace l2lens {

// "h200", or the path of a file.
Machine load_machine(const std::string& name_or_path);

// The machine is named after the file: "models/gpus/h200.toml" is h200.
Machine parse_machine(std::string_view text, const std::string& file_name);

}  // namespace l2lens
