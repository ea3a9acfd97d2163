// SPDX-License-Identifier: Apache-2.0
// Text in the pages that the program writes.
#pragma once

#include <string>
#include <string_view>

namespace l2lens {

// Text as HTML has it, in an element or in a quoted attribute. Control characters other than newlines and
// tabs, which HTML does not have, become spaces.
std::string html_escaped(std::string_view text);

}  // namespace l2lens
