// SPDX-License-Identifier: Apache-2.0
// The memory path of one lane, slow and obvious: ordered maps for the event queue, lists in order of age for
// the sets, shared pointers for what is under way. It follows the words of memory/lane.hpp and
// memory/coalescer.hpp and shares no code with them but the messages, the address map and the timing table.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "counters/counters.hpp"
#include "machine/machine.hpp"
#include "memory/address_map.hpp"
#include "memory/messages.hpp"
#include "memory/timing.hpp"
#include "oracle/naive_dram.hpp"
#include "oracle/naive_set.hpp"
#include "oracle/naive_ways.hpp"

namespace l2lens::test {

class NaiveLane {
public:
    // memory_seed: of the whole memory, which draws when DRAM pauses.
    NaiveLane(const Machine& machine, const AddressMap& map, double lines_per_simulated_line,
              std::uint64_t memory_seed, std::uint64_t seed, int number)
        : machine_(machine),
          map_(map),
          t_(MemoryTiming::of(machine)),
          slices_(static_cast<std::size_t>(machine.partitions)),
          answers_(static_cast<std::size_t>(machine.gpcs)),
          dram_(machine, lines_per_simulated_line, memory_seed,
                RandomStream(seed, static_cast<std::uint64_t>(number))),
          late_jitters_(std::log(lines_per_simulated_line)) {}

    void submit(const Request& request) {
        at(request.time, [this, request](Picoseconds now) { arrive(now, request); });
    }

    void run_until(Picoseconds end) {
        const std::int64_t last = end / kBucket;
        while (!queue_.empty() && queue_.begin()->first.first < last) {
            const auto [place, event] = *queue_.begin();
            queue_.erase(queue_.begin());
            bucket_ = place.first;
            event.second(event.first);
        }
        bucket_ = last;
    }

    bool idle() const { return queue_.empty(); }
    const std::vector<Answer>& answers(int gpc) const { return answers_[static_cast<std::size_t>(gpc)]; }
    const Events& events() const { return events_; }
    std::uint64_t slice_sectors(int partition) const {
        return slices_[static_cast<std::size_t>(partition)].sectors;
    }

private:
    static constexpr Picoseconds kBucket = 512;

    struct Fill;
    using FillPtr = std::shared_ptr<Fill>;

    // A request that was let through, with those that joined it.
    struct Entry {
        Request request;
        std::vector<std::uint16_t> landing;
        FillPtr awaited;
        Picoseconds ready = 0;
        Picoseconds settled = 0;
        bool answered = false;
        Picoseconds open_until = std::numeric_limits<Picoseconds>::max();
        bool has_left_output = false;
        bool asked_home = false;
    };
    using EntryPtr = std::shared_ptr<Entry>;

    struct Fill {
        int partition = 0;
        std::list<EntryPtr> waiting;  // the newest first
        Picoseconds settled_at_home = 0;
    };

    struct Line {
        LineNumber number = 0;
        SectorMask valid = 0;
        SectorMask dirty = 0;
        Picoseconds ready = 0;
        Picoseconds settled = 0;  // when the lines of its box that are not simulated are there, too
        FillPtr fill;             // the last one asked for, until it has arrived
    };

    // A request behind the coalescer; a read has an entry.
    struct Passed {
        Request request;
        EntryPtr entry;
    };

    struct Slice {
        std::map<std::uint32_t, NaiveSet<Line>> sets;
        std::list<EntryPtr> entries;                // the newest first
        std::map<bool, std::list<Passed>> lookups;  // that a full slice does not take yet; by is_far()
        bool far_next = false;                      // whose turn it is among those
        std::optional<Request> first;               // of those in front of the coalescer
        std::list<Request> input;                   // first come, first served
        std::map<int, std::list<Request>> waiting;  // by CPC; no CPC without a request
        int last_cpc = 0;
        bool looks_again = false;
        Picoseconds tag_free = 0;
        Picoseconds output_free = 0;
        std::map<int, double> output_wait;  // of each GPC lately, in the mean
        NaiveWays ways;
        Picoseconds link_free = 0;
        NaiveDram::Channel dram;
        int far_lines = 0;
        Picoseconds no_longer_shut = 0;  // since one of too many far lines arrived
        double far_missed = 0;           // of what was asked over the fabric lately, which share
        std::map<std::pair<int, int>, EntryPtr> last_far;  // by GPC and SM of it: what it asked for last
        std::uint64_t sectors = 0;
    };

    using Handler = std::function<void(Picoseconds)>;

    static int size(unsigned mask) { return std::popcount(mask); }
    static std::uint64_t counted(unsigned mask) { return static_cast<std::uint64_t>(size(mask)); }
    static SectorMask without(SectorMask a, SectorMask b) { return static_cast<SectorMask>(a & ~b); }

    // Events of one bucket happen in the order in which they were scheduled; what is late happens now.
    void at(Picoseconds time, Handler handler) {
        const std::int64_t bucket = std::max(bucket_, time / kBucket);
        queue_.emplace(std::pair(bucket, sequence_++), std::pair(time, std::move(handler)));
    }

    Slice& own_slice(const Request& request) {
        for (const Sm& sm : machine_.sms)
            if (sm.gpc == request.gpc) return slices_[static_cast<std::size_t>(sm.partition)];
        throw std::logic_error("a GPC without SMs");
    }
    Slice& home_slice(LineNumber line) { return slices_[static_cast<std::size_t>(map_.home(line))]; }

    // The line, there or new and empty, as the youngest of its set.
    Line& touch(Picoseconds now, Slice& slice, LineNumber number) {
        auto& set = slice.sets[map_.set(number)];
        Line* const cleaned = set.to_clean(machine_.l2, dram_.takes_writes(slice.dram, now));
        if (cleaned != nullptr) clean(now, slice, *cleaned);
        return set.touch(machine_.l2, number, cleaned);
    }

    // With what is missing of sectors that were written in part, which is fetched.
    void write_back(Picoseconds now, Slice& slice, const Line& line) {
        const SectorMask fetched = without(line.dirty, line.valid);
        events_[Event::WritebackSectors] += counted(line.dirty);
        events_[Event::FillSectors] += counted(fetched);
        dram_.write_back(slice.dram, now, size(line.dirty), size(fetched));
    }

    NaiveDram::Data read_dram(Slice& slice, LineNumber line, Picoseconds from, SectorMask sectors,
                              Picoseconds older) {
        events_[Event::FillSectors] += counted(sectors);
        return dram_.read(slice.dram, line, from, size(sectors), older);
    }

    // Of a home, first come, first served: as long as the first far request has waited for far lines to
    // arrive, if such are missing, too.
    Picoseconds older_than_near(Slice& home, Picoseconds now) {
        if (!machine_.l2.misses_in_order) return 0;
        Picoseconds waited = 0;
        for (Slice& slice : slices_)
            if (&slice != &home && !slice.lookups[true].empty()) {
                const Picoseconds until = is_shut(slice, true) ? now : slice.no_longer_shut;
                waited = std::max(waited, until - slice.lookups[true].front().request.time);
            }
        return static_cast<Picoseconds>(home.far_missed * static_cast<double>(waited));
    }

    // In units of 256 ps.
    static Picoseconds settled_after(Picoseconds ready, Picoseconds settled) {
        return settled > ready ? ready + (settled - ready) / 256 * 256 : ready;
    }

    static void arrive_in(Line& line, const NaiveDram::Data& data) {
        const Picoseconds settled = std::max(line.settled, data.settled);
        line.ready = std::max(line.ready, data.ready);
        line.settled = settled_after(line.ready, settled);
    }

    // Sectors of the aligned blocks of `bytes` in which a sector is missing.
    static SectorMask whole_blocks(SectorMask missing, int bytes) {
        SectorMask blocks = 0;
        for (int sector = 0; sector < 4; ++sector) {
            for (int other = 0; other < 4; ++other) {
                const bool same_block = sector * 32 / bytes == other * 32 / bytes;
                if (same_block && (missing >> other & 1) != 0)
                    blocks = static_cast<SectorMask>(blocks | 1 << sector);
            }
        }
        return blocks;
    }

    // The newest entry first: joins one that is open, wants the same and has room; a full one closes.
    bool join(Slice& slice, const Request& request) {
        if (!machine_.coalescer.present || machine_.coalescer.max_requesters <= 1) return false;
        if (request.receivers > 1 || request.partial != 0) return false;
        const auto most = static_cast<std::size_t>(machine_.coalescer.max_requesters);
        for (const EntryPtr& entry : slice.entries) {
            const bool same = entry->request.line == request.line && entry->request.gpc == request.gpc &&
                              entry->request.sectors == request.sectors;
            if (!same || request.time >= entry->open_until) continue;
            if (entry->landing.size() < most) {
                entry->landing.push_back(request.landing);
                follow(slice, request, entry);
                return true;
            }
            entry->open_until = 0;
        }
        return false;
    }

    // From when on less data waits at its output and for its ways, and fewer requests for its tags, than it
    // can take.
    Picoseconds has_room_at(const Slice& slice) const {
        const Picoseconds data = Picoseconds{machine_.l2.queue_lines} * 4 * t_.output_sector;
        const Picoseconds requests = Picoseconds{machine_.l2.tag_queue_requests} * t_.tag;
        const Picoseconds by_data = data > 0 ? slice.output_free - data : 0;
        const Picoseconds by_requests = requests > 0 ? slice.tag_free - requests : 0;
        return std::max({by_data, by_requests, slice.ways.have_room_at(machine_)});
    }
    bool is_far(const Request& request) { return &home_slice(request.line) != &own_slice(request); }
    // What is far waits for one of the far lines to arrive, what is near does not.
    bool is_shut(const Slice& slice, bool far) const {
        return far && machine_.l2.far_lines > 0 && slice.far_lines >= machine_.l2.far_lines;
    }
    bool is_full(const Slice& slice, bool far, Picoseconds now) const {
        return is_shut(slice, far) || has_room_at(slice) > now;
    }

    void arrive(Picoseconds now, const Request& request) {
        Slice& slice = own_slice(request);
        if (!slice.first && lets_in(slice, is_far(request), now)) {
            begin(now, request);
            return look_again_later(now, slice);
        }
        if (!slice.first)
            slice.first = request;
        else if (waits_in_order(slice))
            slice.input.push_back(request);
        else
            slice.waiting[request.gpc * machine_.cpcs_per_gpc + cpc_of(request)].push_back(request);
        look_again_later(now, slice);
    }

    // Somebody waits for whom an arriving far line need not be waited for.
    bool may_go_on(Slice& slice) {
        for (const bool far : {false, true})
            if (!slice.lookups[far].empty() && !is_shut(slice, far)) return true;
        return slice.first && !is_shut(slice, is_far(*slice.first));
    }

    // The next one's turn comes when the slice has room again.
    void look_again_later(Picoseconds now, Slice& slice) {
        if (slice.looks_again || !may_go_on(slice)) return;
        slice.looks_again = true;
        at(std::max(now, has_room_at(slice)), [this, &slice](Picoseconds then) {
            slice.looks_again = false;
            take_one_that_passed(then, slice);
            while (slice.first && lets_in(slice, is_far(*slice.first), then)) {
                begin(then, *slice.first);
                slice.first = next_one(slice);
            }
            look_again_later(then, slice);
        });
    }

    // Near ones and far ones in turn, unless one of them cannot go.
    void take_one_that_passed(Picoseconds now, Slice& slice) {
        for (const bool far : {slice.far_next, !slice.far_next}) {
            std::list<Passed>& lookups = slice.lookups[far];
            if (lookups.empty() || is_full(slice, far, now)) continue;
            const Passed first = lookups.front();
            lookups.pop_front();
            slice.far_next = !far;
            return take(now, first);
        }
    }

    bool lets_in(Slice& slice, bool far, Picoseconds now) const {
        const int room = far ? machine_.l2.far_queue_requests : machine_.l2.lookup_queue_requests;
        const std::list<Passed>& lookups = slice.lookups[far];
        if (static_cast<int>(lookups.size()) < room) return true;
        return lookups.empty() && !is_full(slice, far, now);
    }

    // Who leaves the input queue is followed by one of the next CPC.
    std::optional<Request> next_one(Slice& slice) {
        if (slice.input.empty() && slice.waiting.empty()) return {};
        if (slice.input.empty()) return next_in_turn(slice);
        const Request request = slice.input.front();
        slice.input.pop_front();
        while (waits_in_order(slice) && !slice.waiting.empty()) slice.input.push_back(next_in_turn(slice));
        return request;
    }

    // Of the requests in order, those count that are let in and not answered, but for merged ones.
    bool waits_in_order(const Slice& slice) const {
        return static_cast<int>(slice.input.size() + slice.entries.size()) < machine_.l2.input_queue_requests;
    }

    int cpc_of(const Request& request) const {
        int before = request.sm;
        for (const Sm& sm : machine_.sms)
            if (sm.gpc == request.gpc && before-- == 0) return sm.cpc;
        throw std::logic_error("a GPC has fewer SMs");
    }

    // What the SM asked for before, if it still waits for that; `entry` is the last one from now on.
    EntryPtr follow(Slice& slice, const Request& request, const EntryPtr& entry) {
        if (!machine_.l2.far_in_order || request.fetch != Fetch::Tensor || !is_far(request)) return nullptr;
        const EntryPtr last = std::exchange(slice.last_far[{request.gpc, request.sm}], entry);
        return last && !last->answered ? last : nullptr;
    }

    Request next_in_turn(Slice& slice) {
        auto cpc = slice.waiting.upper_bound(slice.last_cpc);
        if (cpc == slice.waiting.end()) cpc = slice.waiting.begin();
        slice.last_cpc = cpc->first;
        const Request request = cpc->second.front();
        cpc->second.pop_front();
        if (cpc->second.empty()) slice.waiting.erase(cpc);
        return request;
    }

    // Its wait in front of the slice is over: the coalescer sees it now.
    void begin(Picoseconds now, Request request) {
        request.time = now;
        Slice& slice = own_slice(request);
        Passed passed{request, nullptr};
        if (request.operation == Operation::Read) {
            passed.entry = entry_of(request);
            if (!passed.entry) return;
        }
        const bool far = is_far(request);
        if (slice.lookups[far].empty() && !is_full(slice, far, now))
            take(now, passed);
        else
            slice.lookups[far].push_back(passed);
    }

    void take(Picoseconds now, const Passed& passed) {
        Slice& slice = own_slice(passed.request);
        if (passed.entry)
            look_up(now, serve(slice.tag_free, now, t_.tag), slice, passed.entry);
        else
            write(now, passed.request);
    }

    // Of a read that joins none.
    EntryPtr entry_of(const Request& request) {
        Slice& slice = own_slice(request);
        const std::uint64_t sectors = counted(request.sectors);
        events_[Event::CoalescableRequests] += 1;
        events_[Event::CoalescableSectors] += sectors;
        events_[Event::DeliveredSectors] += sectors * request.receivers;
        events_[Event::MulticastSectors] += sectors * request.receivers - sectors;
        if (join(slice, request)) {
            events_[Event::MergedSectors] += sectors;
            return nullptr;
        }
        auto entry = std::make_shared<Entry>();
        entry->request = request;
        entry->landing = {request.landing};
        // Nobody joins a multicast or a shifted row.
        if (request.receivers > 1 || request.partial != 0) entry->open_until = 0;
        slice.entries.push_front(entry);
        return entry;
    }

    void look_up(Picoseconds passed_at, Picoseconds now, Slice& slice, const EntryPtr& entry) {
        const Request& request = entry->request;
        events_[Event::TexRequests] += 1;
        events_[Event::TexReadSectors] += counted(request.sectors);
        slice.sectors += counted(request.sectors);
        Line& line = touch(now, slice, request.line);
        const EntryPtr ahead = follow(slice, request, entry);
        const SectorMask missing = without(request.sectors, line.valid);
        events_[Event::TexReadHits] += counted(request.sectors) - counted(missing);
        events_[Event::TexReadMisses] += counted(missing);
        if (missing == 0) return hit(now, slice, entry, line, ahead);
        const int block =
            request.fetch == Fetch::Tensor ? machine_.l2.tensor_fetch_bytes : machine_.l2.fetch_bytes;
        const SectorMask fetched = without(whole_blocks(missing, block), line.valid);
        events_[Event::TexReadPromoted] += counted(fetched) - counted(missing);
        line.valid |= fetched;
        if (&home_slice(request.line) == &slice) {
            arrive_in(line, read_dram(slice, request.line, now + t_.miss, fetched,
                                      older_than_near(slice, passed_at)));
            entry->ready = line.ready;
            entry->settled = line.settled;
            answer_at(line.ready, slice, entry);
        } else {
            ask_home(now, slice, entry, line, fetched);
        }
    }

    void hit(Picoseconds now, Slice& slice, const EntryPtr& entry, const Line& line, const EntryPtr& ahead) {
        entry->ready = line.ready;
        entry->awaited = line.fill;
        if (ahead && !line.fill) {
            entry->ready = std::max(line.ready, ahead->ready);
            entry->awaited = ahead->awaited;
        }
        entry->settled = std::max(line.settled, entry->ready);
        if (entry->awaited) {
            entry->awaited->waiting.push_front(entry);
        } else if (entry->ready > now + t_.hit) {
            answer_at(entry->ready, slice, entry);
        } else {
            entry->open_until = std::min(entry->open_until, now + t_.hit);
            entry->has_left_output = true;
            answer_at(leave_output(slice, now + t_.hit, *entry), slice, entry);
        }
    }

    void ask_home(Picoseconds now, Slice& slice, const EntryPtr& entry, Line& line, SectorMask sectors) {
        const auto fill = std::make_shared<Fill>();
        fill->partition = static_cast<int>(&slice - slices_.data());
        fill->waiting.push_front(entry);
        entry->awaited = fill;
        line.fill = fill;
        entry->asked_home = true;
        ++slice.far_lines;
        const LineNumber number = line.number;
        at(now + t_.miss + t_.fabric_request,
           [this, number, sectors, fill](Picoseconds then) { look_up_at_home(then, number, sectors, fill); });
    }

    void look_up_at_home(Picoseconds now, LineNumber number, SectorMask sectors, const FillPtr& fill) {
        Slice& home = home_slice(number);
        events_[Event::FabricRequests] += 1;
        events_[Event::FabricReadSectors] += counted(sectors);
        home.sectors += counted(sectors);
        const Picoseconds looked_up = serve(home.tag_free, now, t_.tag);
        Line& line = touch(looked_up, home, number);
        const SectorMask missing = without(sectors, line.valid);
        events_[Event::FabricReadHits] += counted(sectors) - counted(missing);
        events_[Event::FabricReadMisses] += counted(missing);
        home.far_missed += ((missing != 0 ? 1 : 0) - home.far_missed) / 64;
        Picoseconds ready = std::max(looked_up + t_.hit, line.ready);
        if (missing != 0) {
            const NaiveDram::Data data = read_dram(home, number, looked_up + t_.miss, missing, 0);
            ready = data.ready;
            arrive_in(line, data);
            line.valid |= missing;
        }
        fill->settled_at_home = line.settled;
        at(ready, [this, number, sectors, fill](Picoseconds then) { reply(then, number, sectors, fill); });
    }

    // The data leaves by the home's link, and by its output port side by side if they share it; those who
    // waited longest are woken last.
    void reply(Picoseconds now, LineNumber number, SectorMask sectors, const FillPtr& fill) {
        Slice& home = home_slice(number);
        serve(home.link_free, now, size(sectors) * t_.fabric_sector);
        Picoseconds left = home.link_free;
        if (!machine_.l2.replies_apart) {
            serve(home.output_free, now, size(sectors) * t_.output_sector);
            left = std::max(left, home.output_free);
        }
        const Picoseconds arrival = left + t_.fabric_reply;
        const Picoseconds settled = arrival + std::max(fill->settled_at_home - now, Picoseconds{0});
        Slice& slice = slices_[static_cast<std::size_t>(fill->partition)];
        if (Line* line = slice.sets[map_.set(number)].find(number); line != nullptr && line->fill == fill) {
            line->fill = nullptr;
            line->ready = arrival;
            line->settled = settled_after(arrival, settled);
        }
        for (const EntryPtr& entry : fill->waiting) {
            entry->awaited = nullptr;
            entry->ready = arrival;
            entry->settled = settled;
            answer_at(arrival, slice, entry);
        }
    }

    // In order, and then by its GPC's way.
    Picoseconds leave_output(Slice& slice, Picoseconds now, const Entry& entry) {
        const int sectors = size(entry.request.sectors);
        serve(slice.output_free, now, sectors * t_.output_sector);
        const Picoseconds leaves = slice.ways.leave(machine_, slice.output_free, entry.request.gpc, sectors);
        const auto waited = static_cast<double>(leaves - sectors * t_.output_sector - now);
        double& mean = slice.output_wait[entry.request.gpc];
        if (late_jitters_ > 0) mean += (waited - mean) / 128;
        return leaves;
    }

    void answer_at(Picoseconds time, Slice& slice, const EntryPtr& entry) {
        at(time, [this, &slice, entry](Picoseconds now) { answer(now, slice, entry); });
    }

    void answer(Picoseconds now, Slice& slice, const EntryPtr& entry) {
        const int sectors = size(entry->request.sectors);
        const Picoseconds left = entry->has_left_output ? now : leave_output(slice, now, *entry);
        if (entry->asked_home) {
            if (slice.far_lines == machine_.l2.far_lines) slice.no_longer_shut = now;
            slice.far_lines -= 1;
            look_again_later(now, slice);
        }
        Answer out;
        out.time = left + t_.slice_to_sm;
        // Other slices' lines of the box wait for their outputs, too.
        const auto others =
            static_cast<Picoseconds>(0.5 * late_jitters_ * slice.output_wait[entry->request.gpc]);
        out.late = static_cast<std::uint32_t>(std::max(left + others, entry->settled) - left);
        out.requesters = static_cast<std::uint8_t>(entry->landing.size());
        std::copy(entry->landing.begin(), entry->landing.end(), out.landing.begin());
        out.sectors = static_cast<std::uint8_t>(sectors);
        answers_[entry->request.gpc].push_back(out);
        entry->answered = true;
        slice.entries.remove(entry);
    }

    void write(Picoseconds now, const Request& request) {
        Slice& slice = own_slice(request);
        events_[Event::TexRequests] += 1;
        events_[Event::TexWriteSectors] += counted(request.sectors);
        slice.sectors += counted(request.sectors);
        const Picoseconds looked_up = serve(slice.tag_free, now, t_.tag_write);
        if (&home_slice(request.line) == &slice) {
            store(looked_up, request, Event::TexWriteMisses);
            return;
        }
        Line& copy = touch(looked_up, slice, request.line);
        copy.valid |= without(request.sectors, request.partial);
        serve(slice.link_free, looked_up, size(request.sectors) * t_.fabric_sector);
        at(slice.link_free + t_.fabric_request, [this, request](Picoseconds then) {
            Slice& home = home_slice(request.line);
            events_[Event::FabricRequests] += 1;
            events_[Event::FabricWriteSectors] += counted(request.sectors);
            home.sectors += counted(request.sectors);
            store(serve(home.tag_free, then, t_.tag_write), request, Event::FabricReadMisses);
        });
    }

    // What is added to has to be there. Of a sector that is written in part a second part is the rest.
    void store(Picoseconds now, const Request& request, Event missed) {
        Slice& home = home_slice(request.line);
        Line& line = touch(now, home, request.line);
        const SectorMask fetched =
            request.operation == Operation::Add ? without(request.sectors, line.valid) : SectorMask{0};
        if (fetched != 0) {
            const bool far = missed == Event::FabricReadMisses;
            arrive_in(line, read_dram(home, request.line, now + t_.miss, fetched,
                                      far ? 0 : older_than_near(home, now)));
            events_[missed] += counted(fetched);
        }
        for (SectorMask sector = 1; sector < kWholeLine; sector = static_cast<SectorMask>(sector << 1)) {
            if ((request.sectors & sector) == 0) continue;
            const bool in_part = (request.partial & sector) != 0 && (fetched & sector) == 0;
            if (!in_part || (line.dirty & sector) != 0) line.valid |= sector;
        }
        line.dirty |= request.sectors;
        complete_oldest(now, home, request.line);
    }

    // Of too many lines of a set that were written in part the oldest is completed, and written back.
    void complete_oldest(Picoseconds now, Slice& home, LineNumber number) {
        const int most = machine_.l2.incomplete_ways;
        if (most == 0) return;
        if (Line* line = home.sets[map_.set(number)].incomplete_beyond(most)) clean(now, home, *line);
    }

    void clean(Picoseconds now, Slice& home, Line& line) {
        write_back(now, home, line);
        line.valid |= line.dirty;
        line.dirty = 0;
    }

    const Machine& machine_;
    const AddressMap& map_;
    MemoryTiming t_;
    std::vector<Slice> slices_;
    std::map<std::pair<std::int64_t, std::uint64_t>, std::pair<Picoseconds, Handler>> queue_;
    std::uint64_t sequence_ = 0;
    std::int64_t bucket_ = 0;
    std::vector<std::vector<Answer>> answers_;  // of a GPC
    NaiveDram dram_;
    double late_jitters_;
    Events events_;
};

}  // namespace l2lens::test
