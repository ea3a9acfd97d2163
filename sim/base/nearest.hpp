// SPDX-License-Identifier: Apache-2.0
// "unknown order 'hilbrt'; did you mean 'hilbert'?"
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace l2lens {

// Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate closest to `word` by edit distance, or "" when none is near enough to be a misspelling
// (more than a third of the letters differ).
std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

// "; did you mean 'x'?" for the nearest candidate, or for variants of the word (word-...), else "; there are:
// a, b, c".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace l2lens
