// SPDX-License-Identifier: Apache-2.0
// What the model counts, under the names the hardware gives its own counters. The raw counts are plain
// integers per unit of the model, added up at the end; every column of the table, the JSON and the CSV is a
// row of metrics.hpp.
#pragma once

#include <array>
#include <cstdint>

namespace l2lens {

// Raw events, all in 32 B sectors unless said otherwise.
enum class Event : std::uint8_t {
    CoalescableRequests,  // read requests SMs sent to the coalescers (requests, not sectors)
    CoalescableSectors,   // and their sectors
    MergedSectors,        // answered by another SM's request (hardware coalescing)
    MulticastSectors,     // received by CTAs of a cluster beyond the one that asked (programmatic)
    TexRequests,          // lookups in the requester's own partition (requests)
    TexReadSectors,
    TexReadHits,      // a pending line is a hit
    TexReadMisses,    // asked for and not there
    TexReadPromoted,  // fetched with them: filled up to the fetch granularity
    TexWriteSectors,
    TexWriteMisses,  // partial sectors of lines that are not there
    FabricRequests,  // lookups in the home partition for the other one (requests)
    FabricReadSectors,
    FabricReadHits,
    FabricReadMisses,
    FabricWriteSectors,
    FillSectors,       // read from DRAM
    WritebackSectors,  // written to DRAM
    DeliveredSectors,  // received by SMs, merged and multicast ones included
    L1Sectors,         // asked of the L1s by plain loads
    L1Hits,            // of these there or on their way: the L2 never hears of them
    LastLevelSectors,  // asked of the cache in front of the memory
    LastLevelHits,
    Count
};

inline constexpr int kEventCount = static_cast<int>(Event::Count);

struct Events {
    std::array<std::uint64_t, kEventCount> value{};

    std::uint64_t& operator[](Event e) { return value[static_cast<std::size_t>(e)]; }
    std::uint64_t operator[](Event e) const { return value[static_cast<std::size_t>(e)]; }
    Events& operator+=(const Events& other) {
        for (std::size_t i = 0; i < value.size(); ++i) value[i] += other.value[i];
        return *this;
    }
    friend bool operator==(const Events&, const Events&) = default;
};

}  // namespace l2lens
