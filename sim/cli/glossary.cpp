// SPDX-License-Identifier: Apache-2.0
#include "cli/glossary.hpp"

#include <array>

namespace l2lens::cli {
namespace {

constexpr std::array kWords{
    Word{"tile", "A block of the output that one CTA computes."},
    Word{"CTA", "The thread block that computes a tile."},
    Word{"launch_id", "A CTA's place in launch order: blockIdx, linear."},
    Word{"order",
         "Which tile the CTA with each launch id computes. It decides which tiles run at the same time, and "
         "so "
         "what they share in the L2."},
    Word{"wave", "As many CTAs as fit the GPU at once."},
    Word{"line", "128 bytes with one tag."},
    Word{"sector", "32 bytes: the unit of validity in a line, of DRAM reads and of the counters."},
    Word{"slice", "One bank of the L2 (lts); an address hash spreads lines over the slices."},
    Word{"partition",
         "A group of slices with the SMs in front of it. An H100 or H200 has two, an MI300X eight, a V100 "
         "one."},
    Word{"home", "The partition an address belongs to: the one that fetches it from DRAM."},
    Word{"fabric",
         "The link between partitions: a miss on a line homed in the other partition is looked up there, and "
         "the data is kept in both."},
    Word{"merge",
         "What the request coalescer (LRC) does: reads of one line by SMs of one GPC that come while the "
         "first "
         "is still being answered share its answer."},
    Word{"promotion", "A miss fetches more sectors than were asked for, up to the fetch granularity."},
    Word{"GPC", "A group of 16 or 18 SMs that share a port into the crossbar and a request coalescer."},
    Word{"persistent",
         "One CTA per SM that computes many tiles, instead of one CTA per tile (modes static and dynamic)."},
    Word{"bijection", "Each tile is computed exactly once. An order that is none gives wrong results."},
};

}  // namespace

std::span<const Word> glossary() {
    return kWords;
}

}  // namespace l2lens::cli
