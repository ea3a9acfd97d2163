// SPDX-License-Identifier: Apache-2.0
// Where each raw event of counters.hpp is counted: the place in the model a counter goes back to.
#pragma once

#include <string_view>

#include "counters/counters.hpp"

namespace l2lens {

struct EventNote {
    Event event;
    std::string_view name;   // as in counters.hpp
    std::string_view where;  // "Lane::on_read"
};

// Of every event.
const EventNote& event_note(Event event);

}  // namespace l2lens
