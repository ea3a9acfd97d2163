// SPDX-License-Identifier: Apache-2.0
// One lane of the L2: the slices with the same number in every partition, the fabric between them, and their
// share of DRAM. An address never leaves its lane, so lanes share nothing and run in parallel.
//
// A read:   coalescer (per GPC) -> own partition's slice ── present ──────────────────────────────► answer
//                                        └─ missing, near home ─► DRAM ─► answer
//                                        └─ missing, far home ──► fabric ─► home slice (─► DRAM) ─► fabric ─►
//                                        copy, answer
// A write:  own partition's slice; of a far-homed line it keeps a copy ──► fabric ─► home. Dirty is the home
// alone.
//
// A slice takes requests as they come until so many wait for its tags or so much data waits at its output.
// The next ones, whatever they ask for, wait in order: a few behind the coalescer (lookup_queue.hpp), the
// rest in front of it (turn_queue.hpp), as many as the requests it has let in and not answered leave room
// for; the next ones wait for their CPC's turn. Of lines whose home is another partition it takes none either
// while so many are on their way to it over the fabric; requests for those wait behind the coalescer apart
// from the others, which pass them until that queue is full, too.
//
// A lookup takes a turn of the slice's tag pipe; data takes a turn of its output port when it leaves for an
// SM, of its link when it leaves for the other partition (of both, unless l2.replies_apart), so that a miss
// does not queue behind data. Behind the output it takes the slice's way into its GPC (gpc_ways.hpp), where
// it may wait, too. Both tag and data state change at the lookup: a line that is on its way is a hit, and its
// requester waits for it. What an SM's load engine asks for of the other partition's lines it gets in that
// order (l2.far_in_order). What a home misses it fetches in the order in which it was asked for, on either
// side (l2.misses_in_order): near lines wait as long as far ones wait for l2.far_lines. DRAM answers
// later the busier it has been; while it refreshes a line's bank, writes or pauses it does not answer. In a
// sampled run an answer also says when its box has settled: when those of its lines are there that nobody
// simulates.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "counters/counters.hpp"
#include "memory/address_map.hpp"
#include "memory/coalescer.hpp"
#include "memory/dram_turn.hpp"
#include "memory/event_wheel.hpp"
#include "memory/gpc_ways.hpp"
#include "memory/lane_observer.hpp"
#include "memory/last_level.hpp"
#include "memory/lookup_queue.hpp"
#include "memory/memory_model.hpp"
#include "memory/messages.hpp"
#include "memory/recent_load.hpp"
#include "memory/recent_share.hpp"
#include "memory/recent_wait.hpp"
#include "memory/sector_cache.hpp"
#include "memory/timing.hpp"
#include "memory/turn_queue.hpp"
#include "memory/write_queue.hpp"

namespace l2lens {

class Lane {
public:
    Lane(const MemoryModel& model, std::uint64_t seed, int number);

    // Hands in requests that arrive at their `time`, not before the end of the window that ran last.
    void submit(std::span<const Request> requests);
    void submit(const Request& request);
    void run_until(Picoseconds end);
    bool idle() const { return wheel_.empty(); }
    // When DRAM is through with all that it has been given so far.
    Picoseconds drained() const;

    // Answers for a GPC since they were last cleared.
    std::vector<Answer>& answers(int gpc) { return answers_[static_cast<std::size_t>(gpc)]; }
    // Of all GPCs: hands them over for as many empty lists.
    void swap_answers(std::vector<std::vector<Answer>>& empty) { answers_.swap(empty); }

    const Events& events() const { return events_; }
    // Forgets what was counted; the caches stay warm.
    void reset_events();
    // From now on tells `observer` of each step; nullptr: nobody.
    void observe(LaneObserver* observer) { observer_ = observer; }
    // Sectors looked up in the slice of a partition, from both sides of the fabric.
    std::uint64_t slice_sectors(int partition) const {
        return slices_[static_cast<std::size_t>(partition)].sectors;
    }

    // Calls visit(line, valid sectors) for each line that the slice of a partition holds; between windows.
    template <class Visit>
    void for_each_resident(int partition, Visit&& visit) const {
        slices_[static_cast<std::size_t>(partition)].cache.for_each_line(visit);
    }

private:
    // So many requests before its turn a queued lookup's set is fetched; 8 is no faster.
    static constexpr std::size_t kLookupsSoon = 4;

    enum class Kind : std::uint8_t { Read, Write, Admission, HomeLookup, HomeReply, HomeWrite, Answer };

    // What the wheel holds.
    struct Action {
        LineAccess access;   // between slices: line, set and sectors of it
        std::int32_t index;  // HomeLookup, HomeReply: fill; Answer, a read behind the coalescer: entry
        Kind kind;
        std::uint8_t partition;  // whose slice it came to, or, between slices, whose slice sent it
    };
    static_assert(sizeof(Action) == 24);

    struct Waiting {
        Action request;
        Picoseconds since;
    };

    // By which requests come from the coalescer into a slice.
    struct Entrance {
        LookupQueue<Waiting> lookups;  // that the slice does not take yet
        bool far = false;
    };

    struct Slice {
        SectorCache cache;
        Coalescer coalescer;
        std::array<Entrance, 2> entrances;  // for lines whose home it is, and for others
        GpcWays gpc_ways;
        TurnQueue waiting;  // in front of the coalescer, behind first_waiting: numbers of waiting_
        std::int32_t first_waiting = -1;  // -1: nobody waits there
        std::uint8_t next_entrance = 0;   // whose turn it is
        bool admission_due = false;
        Picoseconds tag_free = 0;
        Picoseconds output_free = 0;
        Picoseconds fabric_free = 0;  // its outgoing link
        Picoseconds dram_free = 0;
        RecentLoad dram_load{};
        WriteQueue writes{};
        DramTurns dram_turns{};
        std::vector<RecentWait> output_waits{};     // for the output and its way, of each GPC
        RecentShare far_misses{};                   // of what other partitions look up here
        Picoseconds last_level_free = 0;            // its port to the cache in front of the memory
        int far_lines = 0;                          // on their way to it over the fabric
        Picoseconds far_opened = 0;                 // when they were last one fewer than l2.far_lines
        int unanswered = 0;                         // requests that it has let in, but for merged ones
        std::vector<Coalescer::Ticket> last_far{};  // [MemoryModel::sm_number()]: its last far line
        std::uint64_t sectors = 0;
    };

    // A line on its way over the fabric, and the entries that wait for it.
    struct Fill {
        std::uint32_t way;
        LineNumber line;
        std::int32_t first_waiting = -1;
        std::uint8_t partition;
        Picoseconds settled = 0;  // at home
    };

    // Of sectors that are fetched.
    struct Arrival {
        Picoseconds ready;
        Picoseconds settled;  // SectorCache::Line::settled()
    };

    // What a lookup found and did, for an observer.
    struct Looked {
        SectorCache::Found found{};
        SectorMask valid = 0;              // before
        SectorMask fetched = 0;            // missing sectors that it set out to fetch
        SectorMask last_level = 0;         // of those, which the cache in front of the memory had
        SectorCache::Cleaned completed{};  // a line of the set that was written in part
    };

    void act(Picoseconds now, const Action& action);
    void prefetch(const Action& action) const;
    void prefetch_first(const Slice& slice) const;
    void prefetch_waiting(const Slice& slice) const;
    void on_request(Picoseconds now, const Action& request);
    void on_admission(Picoseconds now, int partition);
    void admit_later(Picoseconds now, Slice& slice, int partition);
    bool may_go_on(const Slice& slice, int partition) const;
    void serve_next(Picoseconds now, Slice& slice);
    // Of Slice::entrances.
    std::size_t entrance_of(const LineAccess& access, int partition) const {
        return is_home(access, partition) ? 0 : 1;
    }
    // It takes none that comes by this entrance now.
    bool is_full(Slice& slice, const Entrance& entrance, Picoseconds now) const {
        return is_shut(slice, entrance) || holds_too_much(slice, now);
    }
    // Until a far line has arrived.
    bool is_shut(const Slice& slice, const Entrance& entrance) const {
        return entrance.far && slice.far_lines >= t_.far_lines;
    }
    // At its tags, its output or its ways into the GPCs.
    bool holds_too_much(Slice& slice, Picoseconds now) const {
        return slice.tag_free - t_.tag_queue > now || slice.output_free - t_.queue > now ||
               slice.gpc_ways.hold_more_than(t_.gpc_queue, now);
    }
    // From when on it no longer does.
    Picoseconds takes_more_at(Slice& slice, Picoseconds now) const {
        return std::max({slice.tag_free - t_.tag_queue, slice.output_free - t_.queue,
                         slice.gpc_ways.hold_at_most(t_.gpc_queue, now)});
    }
    bool lets_in(Slice& slice, const Entrance& entrance, Picoseconds now) const {
        return entrance.lookups.has_room() || (entrance.lookups.empty() && !is_full(slice, entrance, now));
    }
    // So many more requests may wait for it in the order in which they came.
    int room_in_order(const Slice& slice) const {
        return model_.machine.l2.input_queue_requests - slice.unanswered;
    }
    std::int32_t keep_waiting(const Action& request);
    void let_in(Picoseconds now, Entrance& entrance, Action request);
    bool coalesce(Picoseconds now, const LineAccess& request, int partition, std::int32_t& entry);
    void serve(Picoseconds now, const Action& request);
    void on_read(Picoseconds now, const LineAccess& request, int partition, std::int32_t entry);
    void on_write(Picoseconds now, const LineAccess& request, int partition);
    void on_home_lookup(Picoseconds now, const Action& action);
    void on_home_reply(Picoseconds now, const Action& action);
    void on_home_write(Picoseconds now, const Action& action);
    Action& add(Picoseconds time, Kind kind, int partition, std::int32_t index);
    void answer_at(Picoseconds time, int partition, std::int32_t entry);
    Picoseconds leave_output(Picoseconds now, Slice& slice, int gpc, int sectors);
    void on_answer(Picoseconds now, std::int32_t entry, int partition);

    // Private partitions fetch from the memory whatever they miss.
    bool is_home(const LineAccess& access, int partition) const {
        return private_partitions_ || access.place.home() == partition;
    }
    Slice& home_of(const LineAccess& access) {
        return slices_[static_cast<std::size_t>(access.place.home())];
    }
    const Slice& home_of(const LineAccess& access) const {
        return slices_[static_cast<std::size_t>(access.place.home())];
    }
    // ahead: another entry whose data has to come first, or nullptr.
    void answer_hit(Picoseconds looked_up, int partition, std::int32_t entry, const SectorCache::Line& line,
                    const Coalescer::Entry* ahead);
    const Coalescer::Entry* follow(Slice& slice, const LineAccess& request, int partition,
                                   std::int32_t entry);
    void fetch_missing(Picoseconds looked_up, const LineAccess& request, int partition, std::int32_t entry,
                       std::uint32_t way, SectorMask missing);
    SectorCache::Found look_up(Picoseconds now, Slice& slice, const LineAccess& access);
    Looked store(Picoseconds now, Slice& home, const LineAccess& access, bool far);
    void write_back(Picoseconds now, Slice& slice, SectorCache::Cleaned sectors);
    Picoseconds wait_for_older(const Slice& home, Picoseconds now) const;
    // older: how long it waits for what others have asked for before.
    Arrival fetch_sectors(Slice& slice, LineNumber line, Picoseconds from, SectorMask sectors,
                          Picoseconds older);
    Arrival read_dram(Slice& slice, LineNumber line, Picoseconds from, int sectors, Picoseconds older);
    Picoseconds slowest_of_others(Slice& slice, const MemoryTiming::DramWait& wait, Picoseconds refreshed,
                                  std::uint64_t random);
    // What an observer is told (lane_steps.cpp).
    LaneStep step_of(LaneStep::Kind kind, Picoseconds now, int partition, LineNumber line,
                     SectorMask asked) const;
    void add_lookup(LaneStep& step, const Looked& looked) const;
    void tell_merged(Picoseconds now, const LineAccess& request, int partition) const;
    void tell_request(LaneStep::Kind kind, Picoseconds now, const LineAccess& request, int partition,
                      const Looked& looked, std::int32_t entry) const;
    void tell_home(LaneStep::Kind kind, Picoseconds now, const Action& action, const Looked& looked) const;
    void tell_answer(Picoseconds leaves, const Coalescer::Entry& entry, std::int32_t index,
                     int partition) const;
    void wait_for(std::int32_t fill, std::int32_t entry, Coalescer& coalescer);
    std::int32_t take_fill();

    const MemoryModel& model_;
    const MemoryTiming& t_;
    std::vector<Slice> slices_;  // one per partition
    std::optional<LastLevelCache> last_level_;
    EventWheel<Action> wheel_;
    std::vector<Action> waiting_;  // requests in front of full slices
    std::vector<std::int32_t> free_waiting_;
    std::vector<Fill> fills_;
    std::vector<std::int32_t> free_fills_;
    std::vector<std::vector<Answer>> answers_;  // per GPC
    RandomStream random_;
    Events events_;
    const int number_;
    const bool private_partitions_;
    SectorMask last_level_had_ = 0;  // of the last fetch_sectors(), for the observer
    LaneObserver* observer_ = nullptr;
};

}  // namespace l2lens
