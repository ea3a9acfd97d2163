// SPDX-License-Identifier: Apache-2.0
// The report as a page: tables and texts are written here, charts and the tile player are drawn by
// web/report.ts from html_data(). Included by .cpp files only.
#pragma once

#include <span>
#include <string>

#include "report/html_input.hpp"

namespace l2lens {

// Throws Unavailable, naming the packages, when the page's scripts were not there at build time.
void check_report_can_be_drawn();

// The whole page of at least one document.
std::string html_report(std::span<const ReportDocument> documents);

}  // namespace l2lens
