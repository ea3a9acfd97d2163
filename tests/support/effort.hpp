// SPDX-License-Identifier: Apache-2.0
// How many random cases to try: sanitizers run some ten times as slow, so they try fewer.
// L2LENS_TEST_EFFORT=10 tries ten times as many.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "support/catch.hpp"

namespace l2lens::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kEffort = 0.1;
inline constexpr bool kSanitized = true;
#else
inline constexpr double kEffort = 1;
inline constexpr bool kSanitized = false;
#endif

inline int cases(int wanted) {
    const char* asked = std::getenv("L2LENS_TEST_EFFORT");
    const double effort = asked != nullptr ? std::atof(asked) : kEffort;
    return std::max(1, static_cast<int>(wanted * effort));
}

/// True under a sanitizer: for a test case that takes minutes there and runs nothing that the others do not.
/// It counts as an assertion, since a test case without any fails.
inline bool left_to_plain_builds() {
    if (kSanitized) SUCCEED("left to builds without sanitizers");
    return kSanitized;
}

}  // namespace l2lens::test
