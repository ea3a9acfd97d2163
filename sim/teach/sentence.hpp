// SPDX-License-Identifier: Apache-2.0
// One plain sentence per access: what the L2 was asked, what it found and what it did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"
#include "machine/machine.hpp"
#include "memory/address_map.hpp"
#include "teach/contents.hpp"
#include "teach/tape.hpp"

namespace l2lens {

// "A[2,0..63]": elements of a tensor; "" for an address in none.
std::string elements_text(const std::vector<Tensor>& tensors, std::uint64_t first_byte, std::uint64_t bytes);

// "sector 2", "sectors 0 and 1", "sectors 0 to 3".
std::string sectors_text(SectorMask sectors);

class Narrator {
public:
    // Both must outlive it.
    Narrator(const Machine& machine, const Kernel& kernel, std::uint64_t seed);

    // `before`: the contents before the access.
    std::string sentence(const Access& access, const Contents& before) const;

    // "line 0x40 (A[0,0..63])": the asked bytes of a step by their elements.
    std::string line_text(const LaneStep& step) const;

    // Slices are numbered through the partitions, as in lts__t_sectors's units.
    int slice_of(const LaneStep& step) const;
    std::uint32_t set_of(LineNumber line) const { return map_.set(line); }
    // The partition that fetches the line from the memory when `asking` misses it: where each partition is
    // private, that one itself.
    int home_of(LineNumber line, int asking) const {
        return machine_.l2.private_partitions ? asking : map_.home(line);
    }

private:
    std::string who(const Access& access) const;
    std::string where(const LaneStep& step) const;
    std::string found(const LaneStep& step) const;
    std::string fetch(const LaneStep& step, const std::string& from) const;
    std::string from_memory(const LaneStep& step) const;
    std::string why_it_leaves(const LaneStep& step, const Contents& before) const;
    std::string why_it_is_cleaned(const LaneStep& step, const Contents& before) const;
    std::string room(const LaneStep& step, const Contents& before) const;
    std::string read(const Access& access, const Contents& before) const;
    std::string home_read(const LaneStep& step, const Contents& before) const;
    std::string write(const LaneStep& step, const Contents& before) const;
    std::string home_write(const LaneStep& step, const Contents& before) const;
    std::string answer(const Access& access) const;

    const Machine& machine_;
    const Kernel& kernel_;
    AddressMap map_;
};

}  // namespace l2lens
