// SPDX-License-Identifier: Apache-2.0
// A plain table of texts, as the list and show commands print it: for people, as JSON and as CSV.
#pragma once

#include <string>
#include <vector>

namespace l2lens {

struct Listing {
    std::string schema;  // "l2lens/orders"
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
};

// `widest`: longer cells are cut, so that a row stays a line.
std::string listing_text(const Listing& listing, bool colour, std::size_t widest = 100);
std::string listing_json(const Listing& listing);
std::string listing_csv(const Listing& listing);

}  // namespace l2lens
