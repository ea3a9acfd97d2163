// SPDX-License-Identifier: Apache-2.0
// A command as one types it into a shell.
#pragma once

#include <string>
#include <string_view>

namespace l2lens {

// As it is when no character of it means anything to a POSIX shell, else in single quotes.
std::string shell_quoted(std::string_view word);

}  // namespace l2lens
