// SPDX-License-Identifier: Apache-2.0
// Where the bytes of an output go: into a new file beside its place, to be renamed, or straight to what is no
// regular file and has no place (a pipe, a terminal, /dev/null, a descriptor of the shell's).
#pragma once

#include <filesystem>
#include <string>

#include "cli/descriptor.hpp"

namespace l2lens::cli {

// "cannot write 'PATH': why".
[[noreturn]] void fail_to_write(const std::string& path, int error);

bool goes_straight(const std::string& path);

// Does the descriptor or the device let itself be written? Else errno says why not.
bool can_write_straight(const std::string& path);

// To write there; not open when that cannot be, and errno says why.
Descriptor open_straight(const std::string& path);

// The file that is replaced: through links, so that a link stays one.
std::filesystem::path target_of(const std::string& path);

// Where the target is or will be.
std::filesystem::path folder_of(const std::filesystem::path& target);

// A new file beside the target, with the permissions that the target has or will get; `name` is its. Throws
// BadInput, for `path`.
Descriptor create_beside(const std::string& path, std::string& name);

}  // namespace l2lens::cli
