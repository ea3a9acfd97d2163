// SPDX-License-Identifier: Apache-2.0
// Reuse distances in bytes, in bins of a quarter of an octave around the capacity of the L2.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine.hpp"

namespace l2lens {

// The bins of a machine: from a 64th of a partition to 16 times the whole L2. What is nearer or farther
// counts in the first or last bin.
class ReuseBins {
public:
    explicit ReuseBins(const Machine& machine);

    std::size_t count() const { return lower_bytes_.size(); }
    // Where each bin begins, bytes; the first one at 0.
    const std::vector<double>& lower_bytes() const { return lower_bytes_; }
    std::size_t bin_of(double bytes) const;

private:
    std::vector<double> lower_bytes_;
};

// Requests for the lines of one tensor.
struct TensorReuse {
    int tensor = 0;                // in the kernel
    double first_uses = 0;         // of a line: no cache has it
    std::vector<double> requests;  // by bin of the distance to the line's last use
};

}  // namespace l2lens
