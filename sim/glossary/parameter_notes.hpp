// SPDX-License-Identifier: Apache-2.0
// What a machine parameter is to the vendor and to the model. Beside machine/parameters.hpp, which knows its
// type, unit and range.
#pragma once

#include <span>
#include <string_view>

namespace l2lens {

struct ParameterNote {
    std::string_view key;
    std::string_view formula;  // how it enters; in the symbols of the keys
    std::string_view vendor;   // what the vendors call it, or where their tools show it; "" for no name
    std::string_view model;    // the place in the code that uses it
};

std::span<const ParameterNote> parameter_notes();

// nullptr for a key without a note.
const ParameterNote* find_parameter_note(std::string_view key);

}  // namespace l2lens
