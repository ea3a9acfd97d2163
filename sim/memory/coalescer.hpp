// SPDX-License-Identifier: Apache-2.0
// The request coalescer in front of a slice (NVIDIA's LRC). A read of a line that another SM of the same GPC
// is waiting for joins its entry and never reaches the slice. An entry lives until the slice answers: some 40
// L2 cycles for a resident line, a DRAM latency for a missing one. It takes max_requesters requests; the next
// one opens another entry. (Measured on an H200: traces/h200/coalescer_pairs.csv, coalescer_delay.csv.)
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "base/units.hpp"
#include "memory/messages.hpp"

namespace l2lens {

class Coalescer {
public:
    struct Entry {
        LineNumber line = 0;
        std::int32_t next = -1;          // in its hash chain while open
        std::int32_t next_waiting = -1;  // in the list of a fill
        std::int32_t fill = -1;          // whose arrival it waits for
        std::uint32_t opening = 0;       // how often its place was opened
        SectorMask sectors = 0;
        std::uint8_t gpc = 0;
        std::uint8_t requesters = 0;
        bool charged = false;      // has its turn at the output port
        bool fetched_far = false;  // asked the other partition for the line
        std::array<std::uint16_t, kMaxRequesters> landing{};
        std::uint32_t late = 0;      // after `ready`, when its box has settled
        Picoseconds ready = 0;       // the data has come, or will
        Picoseconds open_until = 0;  // takes further requesters before this time

        Picoseconds settled() const { return ready + late; }
        void arrives(Picoseconds when, Picoseconds settles) {
            ready = when;
            late = static_cast<std::uint32_t>(std::max(settles - when, Picoseconds{0}));
        }
    };
    static_assert(sizeof(Entry) == 64);  // a cache line of the processor

    // An entry as it was opened once: its place is used again later.
    struct Ticket {
        std::int32_t entry = -1;
        std::uint32_t opening = 0;
    };

    // max_requesters 1: no coalescer, each request is an entry of its own.
    explicit Coalescer(int max_requesters) : max_requesters_(max_requesters) { chain_.fill(-1); }

    // Joins an open entry that waits for the same sectors of the line: which, or -1 when there is none with
    // room. A full one is closed to further requests.
    std::int32_t join(const Request& request) { return join(request, request.time); }
    std::int32_t join(const LineAccess& request, Picoseconds now) {
        if (max_requesters_ <= 1 || is_alone(request)) return -1;
        const std::uint32_t bucket = bucket_of(request.line, request.gpc);
        for (std::int32_t i = chain_[bucket]; i >= 0; i = entry(i).next) {
            Entry& e = entry(i);
            if (now >= e.open_until || e.line != request.line || e.gpc != request.gpc ||
                e.sectors != request.sectors)
                continue;
            if (e.requesters < max_requesters_) {
                e.landing[e.requesters++] = request.landing;
                return i;
            }
            e.open_until = 0;
        }
        return -1;
    }

    std::int32_t open(const LineAccess& request) {
        std::int32_t i;
        if (free_.empty()) {
            i = static_cast<std::int32_t>(entries_.size());
            entries_.emplace_back();
        } else {
            i = free_.back();
            free_.pop_back();
        }
        const std::uint32_t bucket = bucket_of(request.line, request.gpc);
        Entry& e = entry(i);
        e.line = request.line;
        e.next = chain_[bucket];
        e.next_waiting = -1;
        e.fill = -1;
        ++e.opening;
        e.sectors = request.sectors;
        e.gpc = request.gpc;
        e.requesters = 1;
        e.open_until = is_alone(request) ? 0 : std::numeric_limits<Picoseconds>::max();
        e.ready = 0;
        e.late = 0;
        e.charged = false;
        e.fetched_far = false;
        e.landing[0] = request.landing;
        chain_[bucket] = i;
        return i;
    }

    // Fetches what join() looks at first.
    void prefetch(LineNumber line, std::uint8_t gpc) const {
        __builtin_prefetch(&chain_[bucket_of(line, gpc)]);
    }

    void prefetch(std::int32_t i) const { __builtin_prefetch(&entries_[static_cast<std::size_t>(i)]); }

    Ticket ticket(std::int32_t i) { return {i, entry(i).opening}; }
    // nullptr: it has been answered.
    const Entry* find(Ticket ticket) const {
        if (ticket.entry < 0) return nullptr;
        const Entry& e = entries_[static_cast<std::size_t>(ticket.entry)];
        return e.opening == ticket.opening && e.requesters > 0 ? &e : nullptr;
    }

    Entry& entry(std::int32_t i) { return entries_[static_cast<std::size_t>(i)]; }

    // The slice has answered: the entry is gone.
    void close(std::int32_t i) {
        Entry& e = entry(i);
        e.requesters = 0;
        std::int32_t* link = &chain_[bucket_of(e.line, e.gpc)];
        while (*link != i) link = &entry(*link).next;
        *link = e.next;
        free_.push_back(i);
    }

private:
    // A multicast is no other's to join, and joins none: static column_major GEMMs of 2x1 clusters merge
    // nothing (traces/h200/live_groups.csv). Nor is a row that TMA shifts: eight CTAs that merge 0.48 to 0.56
    // of their sectors at pitches of a multiple of 32 B merge 0.27 when every other row begins inside a
    // sector, and such rows are 5 of 9 sectors.
    static bool is_alone(const LineAccess& request) { return request.receivers > 1 || request.partial != 0; }

    static std::uint32_t bucket_of(LineNumber line, std::uint8_t gpc) {
        return static_cast<std::uint32_t>(((line * 16ull + gpc) * 0x9E3779B97F4A7C15ull) >>
                                          (64 - kChainBits));
    }

    static constexpr int kChainBits = 10;
    int max_requesters_;
    std::array<std::int32_t, 1u << kChainBits> chain_;
    std::vector<Entry> entries_;
    std::vector<std::int32_t> free_;
};

}  // namespace l2lens
