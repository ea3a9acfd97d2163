// SPDX-License-Identifier: Apache-2.0
// The L2 when a box is the unit: the same coalescers, partitions, fabric and DRAM as in memory/lane.hpp, with
// a box's lines in place of a line. (But for what makes requests and data wait in front of others: requests
// wait in front of the coalescer for busy tags, beyond l2.tag_queue, as turn_shares.hpp has it.
// l2.far_queue, input_queue, queue, gpc_queue, far_lines, far_in_order and misses_in_order are the line
// engine's alone, and so is bandwidth.gpc_way: all data for a GPC takes one port here, bandwidth.gpc.) Each
// partition holds, of a region, the lines homed on its own side and copies of the others, as one unit each.
//
// A box's lines follow each other at a constant pace, and a box is met where its middle line is. What happens
// to a share of its lines only (some have landed when the next SM asks) is counted as a share; who waits for
// whom is decided by the larger one.
//
// What becomes of a box is worked out when it leaves its SM, on its whole way: no event of its own follows
// it. Two things are not known then. Queues that it reaches later (DRAM's, the fabric's) are taken to be as
// long as they are now, and looked up in what they remember when somebody has to know, which is after the box
// was in them. And a request that has to cross the fabric is at the other partition later than what that
// one's own SMs put after it: the lookups' times, not the order in which they are put, say who has missed
// (be_first()).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "counters/counters.hpp"
#include "machine/machine.hpp"
#include "memory/messages.hpp"
#include "memory/recent_load.hpp"
#include "memory/timing.hpp"

#include "tile/box_pace.hpp"
#include "tile/box_table.hpp"
#include "tile/dirty_queue.hpp"
#include "tile/event.hpp"
#include "tile/flows.hpp"
#include "tile/fullest_slice.hpp"
#include "tile/landing_curve.hpp"
#include "tile/recency.hpp"
#include "tile/server.hpp"
#include "tile/shape_turns.hpp"
#include "tile/turn_shares.hpp"

namespace l2lens {

class TileL2 {
public:
    static constexpr std::uint32_t kNotLate = 0;  // no entry has this number

    // boxes_of_cta: that a CTA has under way at once, at most.
    TileL2(const Machine& machine, const BoxTable& boxes, const BoxPaces& paces, std::size_t boxes_of_cta,
           int ctas_per_sm, std::uint64_t seed, TileWheel& wheel);

    // The way from an SM's load to the slices, but for what SMs differ by. The L2's clock is behind by as
    // much: a request is put to it when it leaves its SM, and what comes back at the GPC does so in the SMs'
    // time.
    Picoseconds way_in() const { return way_in_; }

    // A box on its way to an SM: when its last line is at the GPC, if none of the ports from there on are
    // busy.
    struct Coming {
        Picoseconds at = 0;
        std::uint32_t shape = 0;
        std::uint32_t entry = kNotLate;  // number of the one that waits for it
        Picoseconds spread = 0;          // by so much its lines lie further apart than they were asked for
    };
    // A box that an SM asks for at `now`; its middle line is at the slices at `reached`, soon after. All that
    // becomes of it is worked out at once, with the queues as far as they are known. `alone`: nobody may join
    // it, nor it others.
    Coming read(Picoseconds now, Picoseconds reached, const Box& box, std::uint32_t gpc, bool alone);
    // The box's time with the queues as they were.
    Picoseconds settled(const Coming& box) { return box.entry == kNotLate ? box.at : settled_late(box); }
    void write(Picoseconds now, std::uint32_t box, std::uint32_t gpc);
    void home_write(Picoseconds now, std::uint32_t box, std::uint32_t from);

    // How long a last line that could be at its GPC at `at` waits for its slice's output port and the GPC's,
    // on its way to an SM of this share of the turns; to a mean one, if nothing is said. For times past, as
    // far as the flows are remembered.
    Picoseconds waits(Picoseconds at, std::uint32_t gpc, const TurnShare& share = {}) const {
        const std::size_t output = output_of(partition_of_gpc_[gpc]);
        const Picoseconds wait = times(flows_.backlog(output, at - t_.slice_to_sm), share.slices);
        return wait + times(flows_.backlog(port_of(gpc), at + wait), share.gpc_port);
    }
    // By how much longer than a mean SM's a request of one with this share waits at busy tags.
    Picoseconds longer_at_tags(Picoseconds reached, std::uint32_t gpc, const TurnShare& share) const {
        return times(tag_wait(partition_of_gpc_[gpc], reached), share.slices - 1);
    }
    // The L2's time has come to `now`.
    void advance(Picoseconds now) {
        now_ = now;
        flows_.advance(now);
    }
    // When DRAM is through with all that it has been given so far.
    Picoseconds drained() const;

    const Events& events() const { return events_; }
    void reset_events() { events_ = Events{}; }

private:
    static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};
    static constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max() / 2;

    // A coalescer entry: SMs of a GPC that wait for the same box. Times are those of its middle line.
    struct alignas(64) Entry {
        Picoseconds looked_up = 0;
        Picoseconds closes = 0;      // what is there may be joined for the last time
        Picoseconds opens = kNever;  // what was not there begins to land
        Picoseconds done = 0;        // what comes last is there
        std::uint64_t key = kNoKey;  // box and GPC
        std::uint32_t region = 0;
        std::uint32_t shape = 0;
        std::uint32_t number = 0;  // of all entries; the table holds the youngest ones
        std::uint8_t gpc = 0;
        std::uint8_t requesters = 0;
        std::array<std::uint16_t, kMostHomes> pending{};  // share of each part that was on its way
        std::array<std::uint16_t, kMostHomes> fetch{};    // and which fetch of it that is

        bool late() const { return (pending[0] | pending[1]) != 0; }
    };
    static_assert(sizeof(Entry) == 64);

    // The lines of a region with one home, in one partition. Of what is on its way the times are those that
    // are expected, until somebody has to know.
    struct Part {
        Picoseconds opens = 0;       // its first line lands
        Picoseconds last = 0;        // and its last one
        Picoseconds queued = 0;      // at home: at DRAM; a copy: its lines have been found at home
        Picoseconds far_at = 0;      // at home: when the other partition asked for what was not there
        std::int32_t wait = 0;       // at home: in DRAM's queue; a copy: of its last line beyond the mean
        std::uint32_t sectors = 0;   // at home: those to write back; a copy: those its home is asked for
        std::uint16_t filling = 0;   // share of its lines that are landing, or were last to
        std::uint16_t fetch = 0;     // how often it was fetched
        std::uint16_t of_fetch = 0;  // a copy: of its home's
        bool expected = false;       // its times are not yet looked up
    };
    static_assert(sizeof(Part) == 48);
    // The parts of a region that one partition holds, by home.
    struct Parts {
        std::array<Part, kMostHomes> of_home;
    };

    // All slices of a partition together.
    struct Slices {
        Slices(std::size_t units, const std::array<std::int64_t, kSetClasses>& capacity,
               std::int64_t most_dirty)
            : log(units, capacity), dirty(most_dirty) {}
        RecencyLog log;
        DirtyQueue dirty;
    };

    // Whose flows the lines join: tags, output ports, outgoing fabric and DRAM of each partition, and each
    // GPC's port.
    static std::size_t tag_of(std::size_t partition) { return partition; }
    static std::size_t output_of(std::size_t partition) { return kMostHomes + partition; }
    static std::size_t fabric_of(std::size_t partition) { return 2 * kMostHomes + partition; }
    static std::size_t dram_of(std::size_t partition) { return 3 * kMostHomes + partition; }
    static std::size_t port_of(std::size_t gpc) { return 4 * kMostHomes + gpc; }
    // How long a line that reaches the tags of a partition at `when` waits for them.
    Picoseconds tag_wait(std::size_t partition, Picoseconds when) const {
        return tags_wait_ ? flows_.expected(tag_of(partition), when) : 0;
    }
    // A box's lines, the middle one at `middle`, at the tags of a partition: when that one is looked up.
    Picoseconds look_up(std::size_t partition, Picoseconds middle, std::uint32_t shape, Picoseconds turns) {
        if (!tags_wait_) return middle;
        const Picoseconds half = paces_.of(shape).half_span;
        const Picoseconds wait = tag_wait(partition, middle);
        flows_.add_foreseen(tag_of(partition), flows_.span(middle - half, middle + half), turns);
        return middle + wait;
    }

    static Picoseconds times(Picoseconds wait, double share) {
        return static_cast<Picoseconds>(static_cast<double>(wait) * share);
    }

    // While lines leave their slices.
    struct Stream {
        Picoseconds from, to;
    };

    bool tags_are_busy() const;
    std::array<std::int64_t, kSetClasses> capacities() const;

    static std::size_t parts_index(std::uint32_t region, std::uint32_t partition) {
        return static_cast<std::size_t>(region) * kMostHomes + partition;
    }
    static std::uint32_t unit_of(std::uint32_t region, std::uint32_t home) {  // in a partition's log
        return region * kMostHomes + home;
    }
    Part& part(std::uint32_t region, std::uint32_t partition, std::uint32_t home) {
        return parts_[parts_index(region, partition)].of_home[home];
    }
    // The share of a unit's lines that its partition does not hold.
    Share missing(std::uint32_t region, std::uint32_t partition, std::uint32_t home) const {
        return kAll - slices_[partition].log.holding(unit_of(region, home)) * (kAll / kSetClasses);
    }
    bool held(std::uint32_t region, std::uint32_t partition, std::uint32_t home) const {
        return region != kNoRegion && missing(region, partition, home) < kAll;
    }
    // Are the lines of both homes held?
    bool all_held(std::uint32_t region, std::uint32_t partition) const {
        static_assert(kMostHomes == 2);
        const RecencyLog& log = slices_[partition].log;
        return (log.holding(unit_of(region, 0)) & log.holding(unit_of(region, 1))) == kSetClasses;
    }
    // The share of a part's lines that have not landed at `now`.
    Share pending(Picoseconds now, const Part& part) const {
        if (now >= part.last) return 0;
        return share_of(part.filling, curve_.missing(now, part.opens, part.last));
    }

    // Is nothing of an entry left to join at `reached`?
    bool over(const Entry& entry, Picoseconds reached) const {
        return reached >= entry.closes && reached >= entry.done;
    }
    bool join(Picoseconds reached, const Box& box, std::uint32_t partition, Entry& open);
    Share joins(Picoseconds now, const Entry& entry, const Part& part, std::size_t home) const;
    Share within_hit(Picoseconds now, const Entry& entry) const;
    bool all_there(Picoseconds reached, std::uint32_t region, std::uint32_t partition) const;
    void look_for_parts(Picoseconds reached, const Box& box, std::uint32_t partition, Entry& entry);
    void miss(Picoseconds looked_up, const Box& box, std::uint32_t partition, std::uint32_t home,
              Share share);
    void ask_home(Picoseconds at, const Box& box, std::uint32_t home, std::uint32_t sectors, Share share);
    void ask_dram(Picoseconds at, const Box& box, std::uint32_t home, std::uint32_t sectors, Share share);
    Picoseconds slowest_at_dram(Picoseconds at, Picoseconds turn, std::uint32_t home, const PartTurns& turns,
                                Share share, const MemoryTiming::DramWait& dram, Picoseconds span);
    void reply(Picoseconds found, const Box& box, std::uint32_t home);
    Picoseconds beyond_mean(std::size_t server, Picoseconds at, Picoseconds service, double log_lines);
    void be_first(Picoseconds looked_up, const Box& box, std::uint32_t home);
    void hold(std::uint32_t region, std::uint32_t partition, std::uint32_t home, std::uint32_t lines);
    void let_go(std::uint32_t unit, std::uint32_t partition, std::uint32_t holders);
    void write_back(Part& part, std::uint32_t partition, std::uint32_t sectors);
    void keep_copy(Picoseconds now, std::uint32_t region, std::uint32_t partition, std::uint32_t home,
                   const BoxPart& written);
    void store(Picoseconds looked_up, const Box& box, std::uint32_t home, bool far);
    Coming coming(const Entry& entry) const {
        const Picoseconds at = entry.done + way_back(entry.shape);
        if (!entry.late()) return {at, entry.shape, kNotLate, 0};
        return {at, entry.shape, entry.number, std::max(entry.done - entry.opens, Picoseconds{0})};
    }
    // From a box's middle line at the slices to its last one at a GPC.
    Picoseconds way_back(std::uint32_t shape) const { return paces_.of(shape).half_span + t_.slice_to_sm; }
    Entry& entry_of(std::uint32_t number) { return entries_[number & entry_mask_]; }
    Picoseconds settled_late(const Coming& box);
    void settle(Part& there, std::uint32_t region, std::uint32_t partition, std::uint32_t home,
                std::uint32_t shape);
    void settle_home(Part& there, std::uint32_t home);
    void leave_home(Part& copy, const Part& there, std::uint32_t home, std::uint32_t shape) const;
    Stream stream_of(const Entry& entry) const;
    // `queued`: what waits at the output now.
    void answer(Picoseconds now, const Entry& entry, Picoseconds queued);

    const Machine& machine_;
    const BoxTable& boxes_;
    const BoxPaces& paces_;
    TileWheel& wheel_;
    const Picoseconds way_in_;
    MemoryTiming t_;         // slice_to_sm with the way in
    Picoseconds dram_wait_;  // of an idle DRAM, in the mean
    double dram_sector_;     // all slices of a partition together
    std::array<RecentLoad, kMostHomes> dram_load_{};
    std::array<RecentLoad, kMostHomes> dram_writes_{};
    Picoseconds hit_ramp_;
    Picoseconds lookup_queue_;  // behind a coalescer
    bool tags_wait_;            // lookups may come faster than tags take them
    LandingCurve curve_;
    FullestSlice fullest_;
    double log_lines_per_refreshed_;           // of lines, for each that waits for a refresh
    std::array<float, kAll + 1> log_share_{};  // ln of a share
    int max_requesters_;
    std::uint32_t gpcs_;
    std::vector<std::uint8_t> partition_of_gpc_;
    Flows flows_;
    Picoseconds now_ = 0;
    std::vector<ShapeTurns> turns_;      // per shape
    std::vector<Parts> parts_;           // region, partition
    std::vector<Slices> slices_;         // per partition
    std::vector<std::uint32_t> opened_;  // per box and GPC: its last entry
    std::vector<Entry> entries_;         // taken in turn; long over when its turn comes again
    std::uint32_t entry_mask_ = 0;
    std::uint32_t last_entry_ = 0;
    RandomStream random_;
    Events events_;
};

}  // namespace l2lens
