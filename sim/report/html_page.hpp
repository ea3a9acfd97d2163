// SPDX-License-Identifier: Apache-2.0
// The shell of every HTML page that the program writes: one file that needs nothing else, in light and dark.
#pragma once

#include <string>
#include <string_view>

#include "base/html_escaped.hpp"

namespace l2lens {

struct HtmlPage {
    std::string title;    // as text
    std::string body;     // as HTML: what goes into <main>
    std::string scripts;  // as HTML: <script> elements at the end, or ""
};

// The whole document. It may load nothing from outside: its own policy forbids it.
std::string html_page(const HtmlPage& page);

// JSON that can stand inside a <script> element, whatever its strings say.
std::string json_in_script(std::string_view json);

}  // namespace l2lens
