// SPDX-License-Identifier: Apache-2.0
// A line of Lua that computes a number or a name from tables of numbers: how a lab says what its answer is.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace l2lens {

// A tree of named values, as an expression sees it: run1.params.pieces, run1["group_m:4"].time_us.
struct ValueTree {
    std::map<std::string, std::variant<double, std::string, ValueTree>> entries;
};

using ExpressionValue = std::variant<double, std::string>;

// Evaluates each expression with the entries of `names` as globals. Throws BadInput, beginning with `where`,
// for whatever is no expression, and for results that are neither a finite number nor text.
std::vector<ExpressionValue> evaluate_expressions(const std::string& where, const ValueTree& names,
                                                  const std::vector<std::string>& expressions);

}  // namespace l2lens
