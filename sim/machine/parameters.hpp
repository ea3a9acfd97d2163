// SPDX-License-Identifier: Apache-2.0
// The parameters of a machine, described once: the reader of machine files, its checks, `gpu show`, `gpu
// diff` and `explain` all walk this table. A parameter added here exists everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "machine/machine.hpp"

namespace l2lens {

// Where a parameter lives in a Machine; the alternative is its type in the file.
template <class T>
using Field = T& (*)(Machine&);
// The SM table's lists, which fill Machine::sms together (topology.hpp).
enum class TopologyList { SmsOfGpc, PartitionOfGpc, FirstWave };

struct ParameterInfo {
    std::string_view key;   // "latency.fabric_request": section and key of the file
    std::string_view unit;  // "" for counts
    double least = 0;       // range of a number (of each in a list), both ends allowed, in `unit`
    double most = 0;
    std::string_view meaning;
    std::variant<Field<double>, Field<int>, Field<std::int64_t>, Field<bool>,
                 Field<std::vector<std::uint64_t>>, TopologyList>
        field;
    std::int64_t scale = 1;  // what one `unit` is in the field: 1024 for bytes written as KiB
    bool optional = false;   // a file without it means 0 or false

    std::string_view section() const { return key.substr(0, key.find('.')); }
    std::string_view name() const { return key.substr(key.find('.') + 1); }
};

// In the order of a well laid out file.
std::span<const ParameterInfo> parameter_table();

// The row of a key, nullptr for an unknown one.
const ParameterInfo* find_parameter(std::string_view key);

// A number in its unit; nothing for switches and lists.
std::optional<double> number_of(const Machine& machine, const ParameterInfo& parameter);

// "is 0 requests/L2 cycle; it must be between 0.001 and 1000", or "" for a value inside the range.
std::string range_problem(const ParameterInfo& parameter, double value);

// The value as a machine file writes it: "45", "0.47", "true", "[[12, 13, 15]]".
std::string value_text(const Machine& machine, const ParameterInfo& parameter);

// Writes the fields' values into machine.parameters, whose values are what people see: after a machine was
// read, or changed by other means than its file.
void renew_values(Machine& machine);

}  // namespace l2lens
