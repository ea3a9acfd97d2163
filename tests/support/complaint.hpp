// SPDX-License-Identifier: Apache-2.0
// What a call says when it refuses its input.
#pragma once

#include <string>

#include "base/error.hpp"

namespace l2lens::test {

// The line of the BadInput that the call throws; "" when it takes its input. Anything else that it throws
// fails the test.
template <class Call>
std::string complaint_of(Call&& call) {
    try {
        call();
    } catch (const BadInput& error) {
        return error.what();
    }
    return "";
}

}  // namespace l2lens::test
