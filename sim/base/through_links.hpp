// SPDX-License-Identifier: Apache-2.0
// Where a path leads, whether or not there is a file yet: what is written through a link leaves it one.
#pragma once

#include <filesystem>
#include <optional>

namespace l2lens {

// The end of the chain of symbolic links that begins at `path`. A descriptor of this process is an end, too:
// what its link says need not be a file's name ("pipe:[4711]").
std::filesystem::path through_links(std::filesystem::path path);

// The number of the descriptor of this process that `path` names: /dev/stdout, /dev/fd/63.
std::optional<int> own_descriptor(const std::filesystem::path& path);

}  // namespace l2lens
