// SPDX-License-Identifier: Apache-2.0
// The lines that the recorder of traces/h200/delays.csv and sides.csv times, for the model. The GPU's are
// plain loads, the model's are tensor boxes of one line, which take longer to issue: what can be compared is
// how much longer they take than others.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine.hpp"
#include "memory/address_map.hpp"
#include "support/copies.hpp"

namespace l2lens::test {

// As SM 0 asks for it.
struct LineKind {
    bool resident = false;
    bool far = false;
};

// Of the first 64 MiB, as far apart as slices want them; what hits are a few, read over and over.
inline std::vector<LineNumber> lines_of(const Machine& machine, LineKind kind) {
    const std::size_t count = kind.resident ? 16 : 4000;
    const LineNumber step = kind.resident ? 33 : 97;
    const AddressMap map(machine);
    std::vector<LineNumber> lines;
    for (LineNumber number = 0; lines.size() < count; number += step)
        if ((map.home(number) != machine.sms[0].partition) == kind.far) lines.push_back(number);
    return lines;
}

// For so long, where the GPU's take `each_ns`.
inline LoneLines lone_lines(const Machine& machine, LineKind kind, int at_once, double all_ns,
                            double each_ns) {
    LoneLines lone{0, lines_of(machine, kind)};
    lone.loads = static_cast<std::int64_t>(all_ns / each_ns) * at_once;
    return lone;
}

}  // namespace l2lens::test
