// SPDX-License-Identifier: Apache-2.0
#include "report/html_page.hpp"

#include <fmt/format.h>

#include "report/web_assets.hpp"

namespace l2lens {
namespace {

// Nothing is fetched, from any host; what the page needs is in it.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

// The theme is chosen before the first paint, so that a dark page does not flash.
constexpr std::string_view kDocument = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{css}</style>
<script>
{theme}</script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><p class="brand">l2lens</p><h1>{title}</h1>
<button type="button" id="theme" aria-pressed="false">Dark theme</button></header>
<main id="main">
{body}
</main>
{scripts}
</body>
</html>
)";

}  // namespace

std::string html_page(const HtmlPage& page) {
    return fmt::format(kDocument, fmt::arg("policy", kPolicy), fmt::arg("title", html_escaped(page.title)),
                       fmt::arg("css", web_assets().css), fmt::arg("theme", web_assets().theme),
                       fmt::arg("body", page.body), fmt::arg("scripts", page.scripts));
}

// In JSON a '<' occurs in strings only, and there it may be written as an escape.
std::string json_in_script(std::string_view json) {
    std::string safe;
    safe.reserve(json.size());
    for (const char c : json) {
        if (c == '<') {
            safe += "\\u003c";
        } else {
            safe += c;
        }
    }
    return safe;
}

}  // namespace l2lens
