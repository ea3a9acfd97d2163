// SPDX-License-Identifier: Apache-2.0
// What the pages need besides their text, embedded into the program when it was built (sim/report/web).
#pragma once

#include <string_view>

namespace l2lens {

struct WebAssets {
    std::string_view css;
    std::string_view theme;     // the script that switches between light and dark
    std::string_view chart_js;  // Chart.js as Debian packages it
    std::string_view report;    // web/report.ts, bundled
    // The Debian packages that were not there at build time, so that the last two are empty: "esbuild", ...
    std::string_view missing;
};

const WebAssets& web_assets();

}  // namespace l2lens
