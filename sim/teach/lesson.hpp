// SPDX-License-Identifier: Apache-2.0
// A recorded launch as a lesson: at any access, the sentence, what the sets hold and what was counted so far.
// Pure functions of the tape; who shows them, and how, is the caller's matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernel/kernel.hpp"
#include "machine/machine.hpp"
#include "teach/contents.hpp"
#include "teach/sentence.hpp"
#include "teach/tape.hpp"

namespace l2lens {

// What the first accesses of a tape add up to, in sectors.
struct Tally {
    std::uint64_t asked = 0;   // by loads of the SMs
    std::uint64_t merged = 0;  // of those
    std::uint64_t looked_up = 0;
    std::uint64_t hits = 0;
    std::uint64_t over_fabric = 0;
    std::uint64_t from_dram = 0;
};

class Lesson {
public:
    // Machine and kernel must outlive it. `order` is the name that heads it.
    Lesson(const Machine& machine, const Kernel& kernel, std::string order, Tape tape);

    std::size_t steps() const { return tape_.accesses.size(); }
    bool complete() const { return tape_.complete; }
    const Access& access(std::size_t step) const { return tape_.accesses[step - 1]; }  // from 1
    const Narrator& narrator() const { return narrator_; }

    // "gemm ..., row_major on tiny: 40 accesses in 1.63 us".
    std::string title() const;
    // "SM 0 reads line 0x40 ...". Steps count from 1.
    std::string sentence(std::size_t step);
    // "step 3 of 40, 85 ns: SM 0 reads line 0x40 ...".
    std::string line(std::size_t step);
    // After a step, the line it was about marked: every set of a small L2, of a larger one the sets touched.
    std::string sets(std::size_t step, bool colour);
    Tally tally(std::size_t step) const;
    std::string tally_text(std::size_t step) const;
    // Schema l2lens/lesson: the steps [from, to].
    std::string json(std::size_t from, std::size_t to);

private:
    std::string set_row(int partition, int lane, std::uint32_t set, const LaneStep& step, bool colour) const;

    const Machine& machine_;
    const Kernel& kernel_;
    std::string order_;
    Tape tape_;
    Narrator narrator_;
    Contents contents_;
};

}  // namespace l2lens
