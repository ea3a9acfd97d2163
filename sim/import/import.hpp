// SPDX-License-Identifier: Apache-2.0
// A foreign trace on a GPU of ours: its CTAs are dealt to the SMs as the hardware would, its warps coalesce
// their lanes, plain loads go through the SMs' L1s, and what is left are the requests that the L2 gets: a
// trace that `trace replay` takes.
//
// A foreign trace has no times. Here every warp of an SM takes its turn to issue an instruction, the SM's
// four schedulers one each a cycle, and loads cost nothing: the order of requests is that of an undisturbed
// run, the time is not.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "trace/records.hpp"

#include "import/warp_access.hpp"

namespace l2lens {

enum class ForeignFormat { Nvbit, Csv };

struct ImportedTrace {
    ForeignLaunch launch;
    std::vector<LineRecord> requests;  // in the order in which the L2 gets them
    std::uint32_t ctas = 0;
    int ctas_per_sm = 0;
    std::uint64_t warp_accesses = 0;
    std::uint64_t sectors = 0;     // that the SMs ask of the L2 and write
    std::uint64_t l1_sectors = 0;  // of plain loads
    std::uint64_t l1_hits = 0;
};

// `ctas_per_sm` 0: what the launch's resources allow, or 1 when the trace does not say them. Throws BadInput,
// "NAME:LINE: what", and for a trace without accesses.
ImportedTrace import_trace(std::istream& in, const std::string& name, ForeignFormat format,
                           const Machine& machine, int ctas_per_sm);

}  // namespace l2lens
