// SPDX-License-Identifier: Apache-2.0
#include "glossary/event_notes.hpp"

#include <algorithm>
#include <array>

namespace l2lens {
namespace {

using enum Event;

constexpr std::string_view kRead = "Lane::on_read";
constexpr std::string_view kHomeRead = "Lane::on_home_lookup";
constexpr std::string_view kWrite = "Lane::on_write";
constexpr std::string_view kHomeWrite = "Lane::on_home_write";

constexpr std::array<EventNote, kEventCount> kNotes{{
    {CoalescableRequests, "CoalescableRequests", kRead},
    {CoalescableSectors, "CoalescableSectors", kRead},
    {MergedSectors, "MergedSectors", "Lane::on_read, when Coalescer::join took the request in"},
    {MulticastSectors, "MulticastSectors", kRead},
    {TexRequests, "TexRequests", "Lane::on_read and on_write"},
    {TexReadSectors, "TexReadSectors", kRead},
    {TexReadHits, "TexReadHits", kRead},
    {TexReadMisses, "TexReadMisses", kRead},
    {TexReadPromoted, "TexReadPromoted", "Lane::on_read, by promote()"},
    {TexWriteSectors, "TexWriteSectors", kWrite},
    {TexWriteMisses, "TexWriteMisses", "Lane::store"},
    {FabricRequests, "FabricRequests", "Lane::on_home_lookup and on_home_write"},
    {FabricReadSectors, "FabricReadSectors", kHomeRead},
    {FabricReadHits, "FabricReadHits", kHomeRead},
    {FabricReadMisses, "FabricReadMisses", "Lane::on_home_lookup and store"},
    {FabricWriteSectors, "FabricWriteSectors", kHomeWrite},
    {FillSectors, "FillSectors", "Lane::read_dram"},
    {WritebackSectors, "WritebackSectors", "Lane::write_back"},
    {DeliveredSectors, "DeliveredSectors", kRead},
    {L1Sectors, "L1Sectors", "Gpc::take_from_l1"},
    {L1Hits, "L1Hits", "Gpc::take_from_l1"},
    {LastLevelSectors, "LastLevelSectors", "Lane::fetch_sectors"},
    {LastLevelHits, "LastLevelHits", "Lane::fetch_sectors"},
}};

}  // namespace

const EventNote& event_note(Event event) {
    return *std::ranges::find(kNotes, event, &EventNote::event);
}

}  // namespace l2lens
