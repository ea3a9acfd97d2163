// SPDX-License-Identifier: Apache-2.0
// Which CTA runs where, and when.
//
//   grid      the first wave fills the SMs GPC by GPC, one CTA each round; after that a free place takes the
//             next launch
//   static    one CTA per SM; the i-th takes tiles i, i+P, i+2P, ...
//   dynamic   one CTA per SM; a free CTA takes the next tile (an atomic counter), or the one that it
//             drew before, when it loads ahead. The first wave draws with the GPCs in turn
//   recorded  every CTA on the SM and from the time that a schedule says, or when a place on that SM is free
//
// Where the hardware deals CTAs to the partitions in turn (launch.round_robin), a free place takes the next
// launch of its own partition.
// A cluster is launched as one: its CTAs sit on neighbouring SMs of a GPC, start together, and their place is
// free when the last of them has left. Which SM comes when is in first_wave.hpp.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "machine/machine.hpp"
#include "schedule/gpc.hpp"
#include "schedule/launch_schedule.hpp"
#include "schedule/mode.hpp"

namespace l2lens {

struct Start {
    Picoseconds time;
    std::int32_t slot;  // SM * CTAs per SM + slot
    std::int32_t tile;
    ClusterPlace cluster;
    std::int32_t next = -1;  // the tile that follows in this slot, where that is settled
};

// The tile that a slot takes when it is through with its own.
struct Next {
    Picoseconds time;  // when it was drawn
    std::int32_t slot;
    std::int32_t tile;
};

class Dispatcher {
public:
    // launches[id] is a program, or -1 for a no-op CTA, which holds its place for a moment and leaves.
    // `cluster` CTAs with consecutive launch ids are a cluster. With `recorded`, which has a stay for each
    // launch id that has a tile and outlives the dispatcher, places and times are its; of a cluster, those of
    // its first CTA.
    Dispatcher(const Machine& machine, std::span<const std::int32_t> launches, Mode mode, int ctas_per_sm,
               int cluster, std::uint64_t seed = 0, const LaunchSchedule* recorded = nullptr);

    // The launch begins at `now`.
    std::vector<Start> first_wave(Picoseconds now = 0);

    // CTAs that follow those that have left; none starts before `not_before`.
    std::vector<Start> follow(std::span<const Exit> exits, Picoseconds not_before);

    // What those draw whose CTAs load ahead of their math: in a dynamic launch, where they take it when they
    // leave. To be asked for before follow() of the same moment.
    std::vector<Next> draw(std::span<const Draw> draws);

    // CTAs launched so far, no-op ones included.
    std::int64_t launched() const { return launched_; }
    // Has all been launched? A recorded schedule leaves out clusters of nothing but no-op CTAs.
    bool all_launched() const { return recorded_ != nullptr || launched_ == std::ssize(launches_); }

private:
    // Neighbouring SMs of a GPC that hold a cluster.
    using Gang = std::vector<std::int32_t>;

    struct FreePlace {
        Picoseconds time;
        std::int32_t place;  // gang * CTAs per SM + slot
        Picoseconds gap;     // until the next CTA begins there
        friend bool operator>(const FreePlace& a, const FreePlace& b) {
            return a.time != b.time ? a.time > b.time : a.place > b.place;
        }
    };

    // CTAs of the cluster in a place, and when the last of those that have left did so.
    struct Occupancy {
        int ctas = 0;
        Picoseconds last_exit = 0;
    };

    void form_gangs(const Machine& machine);
    // Numbers of gangs.
    std::vector<std::int32_t> order_of_launches() const;
    std::vector<std::int32_t> order_of_draws(const Machine& machine) const;
    void queue_recorded();
    const CtaStay* recorded_stay(std::int64_t cluster) const;  // nullptr: nothing but no-op CTAs
    std::int64_t next_cluster(std::int32_t place);             // -1: none left
    std::int64_t take_cluster(std::int32_t place);
    std::span<const std::int32_t> tiles_of(std::int64_t cluster) const;
    std::int32_t slot_of(std::int32_t place, std::size_t rank) const;
    std::int32_t place_of_slot(std::int32_t slot) const;
    std::int64_t settled_next(std::int32_t place) const;  // -1: none, or not known yet
    Picoseconds start_time(std::int64_t cluster, const FreePlace& free) const;
    Picoseconds gap_after(Picoseconds exit, std::int32_t place) const;
    int gpc_of_place(std::int32_t place) const {
        return gpc_of_gang_[static_cast<std::size_t>(place / ctas_per_sm_)];
    }
    Picoseconds in_turn(Picoseconds time, std::int32_t place);
    void start_cluster(std::int64_t cluster, std::int32_t place, Picoseconds time,
                       std::vector<Start>& starts);

    std::span<const std::int32_t> launches_;
    Mode mode_;
    int ctas_per_sm_;
    int cluster_;
    std::uint64_t seed_;
    Picoseconds gap_;
    Picoseconds start_jitter_;
    Picoseconds interval_;
    std::vector<Picoseconds> next_start_;  // per GPC: not before, of CTAs that follow others
    Picoseconds launched_at_ = 0;
    Picoseconds stagger_;
    std::vector<Gang> gangs_;                 // in launch order
    std::vector<std::int32_t> gang_of_sm_;    // -1: an SM left over
    std::vector<std::int32_t> first_places_;  // as the first wave takes its clusters
    std::vector<std::int64_t> static_next_;   // per place
    std::vector<std::int64_t> drawn_;         // per place: its next cluster, or -1
    std::vector<Occupancy> occupancy_;        // per place
    const LaunchSchedule* recorded_ = nullptr;
    std::vector<std::deque<std::int64_t>> queues_;  // recorded: clusters of each gang, by their start
    std::int64_t next_ = 0;
    std::vector<int> gpc_of_gang_;
    std::vector<int> partition_of_gang_;
    std::vector<std::int64_t> next_of_partition_;  // dealt in turn to those with a gang; else empty
    std::int64_t dealt_to_ = 0;                    // partitions with a gang
    std::int64_t launched_ = 0;
    std::priority_queue<FreePlace, std::vector<FreePlace>, std::greater<>> free_;
};

}  // namespace l2lens
