// SPDX-License-Identifier: Apache-2.0
// The Markdown that the labs are written in: headings, paragraphs, lists of '* ', fenced code, `code`,
// **strong** and [links](...). Nothing else is understood, and all text is escaped.
#pragma once

#include <string>

#include "base/html_escaped.hpp"

namespace l2lens {

std::string markdown_html(const std::string& markdown);

// For a terminal: code is indented, headings are bold where there is colour.
std::string markdown_text(const std::string& markdown, bool colour);

}  // namespace l2lens
