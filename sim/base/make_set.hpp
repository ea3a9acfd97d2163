// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

namespace l2lens {

// Ascending, each once.
template <class T>
void make_set(std::vector<T>& elements) {
    std::ranges::sort(elements);
    elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
}

}  // namespace l2lens
