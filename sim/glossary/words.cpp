// SPDX-License-Identifier: Apache-2.0
#include "glossary/words.hpp"

#include <array>

namespace l2lens {
namespace {

constexpr std::array kWords{
    Word{"tile", "A block of the output that one CTA computes."},
    Word{"CTA", "The thread block that computes a tile."},
    Word{"launch_id", "A CTA's place in launch order: blockIdx, linear."},
    Word{"order",
         "Which tile the CTA with each launch id computes. It decides which tiles run at the same time, and "
         "so what they share in the L2."},
    Word{"wave", "As many CTAs as fit the GPU at once."},
    Word{"box", "A rectangle of a tensor that moves at once, as a TMA load does."},
    Word{"line", "128 bytes with one tag."},
    Word{"sector", "32 bytes: the unit of validity in a line, of DRAM reads and of the counters."},
    Word{"set", "The places a line may be in: as many as there are ways. A line's set comes from the hash."},
    Word{"way",
         "One place of a set. When all are taken, the line used longest ago leaves (LRU). One that is dirty "
         "is written back and stays until the next one comes."},
    Word{"slice", "One bank of the L2 (lts); an address hash spreads lines over the slices."},
    Word{"lane", "The slices with the same number in every partition: an address never leaves its lane."},
    Word{"partition",
         "A group of slices with the SMs in front of it. An H100 or H200 has two, an MI300X eight, a V100 "
         "one."},
    Word{"home", "The partition an address belongs to: the one that fetches it from DRAM."},
    Word{"copy", "A far-homed line in the partition that asked for it. It takes a place there, too."},
    Word{"fabric",
         "The link between partitions: a miss on a line homed in the other partition is looked up there, and "
         "the data is kept in both."},
    Word{"merge",
         "What the request coalescer (LRC) does: reads of one line by SMs of one GPC that come while the "
         "first is still being answered share its answer."},
    Word{"promotion", "A miss fetches more sectors than were asked for, up to the fetch granularity."},
    Word{"GPC", "A group of 16 or 18 SMs that share a port into the crossbar and a request coalescer."},
    Word{"CPC",
         "A group of TPCs (pairs of SMs) of a GPC. A slice that is full takes requests from them in turn."},
    Word{"XCD", "A die of an MI300X with 38 active CUs and an L2 of its own."},
    Word{"persistent",
         "One CTA per SM that computes many tiles, instead of one CTA per tile (modes static and dynamic)."},
    Word{"bijection", "Each tile is computed exactly once. An order that is none gives wrong results."},
};

}  // namespace

std::span<const Word> words() {
    return kWords;
}

}  // namespace l2lens
