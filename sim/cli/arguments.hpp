// SPDX-License-Identifier: Apache-2.0
// Values of options, read strictly: each complaint names the option, what was given and what would be right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "order/order.hpp"

#include "predict.hpp"

namespace l2lens::cli {

// A whole number in [least, most].
std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most);

// One of the choices; returns it.
const std::string& parse_choice(const std::string& option, const std::string& text,
                                const std::vector<std::string>& choices);

// "auto" is 0, "1" is every line, "1/16" is 16.
int parse_sample(const std::string& text);

// "line" or "tile".
Engine parse_engine(const std::string& text);

// Throws BadInput when slices are to be sampled of an engine that knows none.
void check_sampled(Engine engine, const std::string& sample);

// "64x32": tile rows x tile columns.
GridShape parse_grid(const std::string& text);

}  // namespace l2lens::cli
