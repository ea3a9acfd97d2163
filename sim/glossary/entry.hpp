// SPDX-License-Identifier: Apache-2.0
// Every counter, metric, machine parameter, order and word, explained once: `l2lens explain`,
// docs/glossary.md and tooltips show these texts. They are put together from the tables that the model itself
// uses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "counters/metrics.hpp"

namespace l2lens {

enum class EntryKind { Word, Counter, Metric, Order, Parameter };

struct Entry {
    std::string word;
    EntryKind kind = EntryKind::Word;
    std::string unit;  // "" for what has none
    std::string meaning;
    std::string formula;
    std::string vendor;  // what vendors call it
    std::string model;   // where it enters the model, or what of the model it is counted from
    std::string hint;    // what to make of it
    std::string range;   // of a parameter
    std::string source;  // of an order
};

std::string_view kind_name(EntryKind kind);

// All of them: words, counters, metrics, orders, parameters.
std::vector<Entry> all_entries();

// By its word; an order also with parameters (group_m:8 is group_m).
std::optional<Entry> find_entry(std::string_view word);

// docs/glossary.md.
std::string glossary_markdown();

// "TexReadSectors (Lane::on_read) and ...": the events, and what else of a run, that change `metric`. Found
// by changing each and looking at the value, so it cannot lag behind the metric's function.
std::string counted_from(const Metric& metric);

}  // namespace l2lens
