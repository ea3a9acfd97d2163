// SPDX-License-Identifier: Apache-2.0
// The field's words, as this project uses them.
#pragma once

#include <span>
#include <string_view>

namespace l2lens {

struct Word {
    std::string_view word;
    std::string_view meaning;
};

std::span<const Word> words();

}  // namespace l2lens
