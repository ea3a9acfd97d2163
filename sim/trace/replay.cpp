// SPDX-License-Identifier: Apache-2.0
#include "trace/replay.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "machine/topology.hpp"
#include "memory/lane.hpp"
#include "trace/expand.hpp"

namespace l2lens {
namespace {

constexpr std::size_t kMostPending = std::size_t{1} << 20;  // requests, before the lanes run
constexpr Picoseconds kLongWindow = Picoseconds{1} << 20;   // 1 us, where windows do not matter

// A share of the recorded lanes on another machine's; whole lanes, at least one.
int lanes_to_simulate(const TraceHeader& header, const Machine& machine) {
    const int lanes = machine.l2.slices_per_partition;
    if (!header.sampled()) return lanes;
    if (header.lanes_of == lanes) return header.lanes;
    if (header.kind == RecordKind::Line) {
        throw BadInput(
            fmt::format("the trace holds the lines of {} of {} lanes of {}; on {} they lie in others. "
                        "Record boxes, or every line with --sample 1",
                        header.lanes, header.lanes_of, header.gpu, machine.name));
    }
    const double share = static_cast<double>(header.lanes) / header.lanes_of;
    return std::max(1, static_cast<int>(std::lround(lanes * share)));
}

class Replay {
public:
    Replay(TraceReader& reader, const Machine& machine, const ReplayOptions& options, Executor& executor)
        : reader_(reader),
          machine_(machine),
          numbers_in_gpcs_(numbers_in_gpcs(machine)),
          options_(options),
          sample_(machine.l2.slices_per_partition, lanes_to_simulate(reader.header(), machine)),
          model_(machine, sample_.factor(), reader.header().seed),
          expand_(machine, model_.map, sample_, reader.header().tensors),
          window_(exchange_window(machine)),
          queues_(static_cast<std::size_t>(sample_.count())),
          team_(executor.team(sample_.count())) {
        const std::uint64_t seed = options.seed.value_or(reader.header().seed);
        for (int i = 0; i < sample_.count(); ++i) {
            Queue& queue = queues_[static_cast<std::size_t>(i)];
            queue.lane = std::make_unique<Lane>(model_, seed, sample_.lane(i));
        }
    }

    ReplayResult run() {
        RecordBatch batch;
        while (reader_.next(batch)) add(batch);
        run_lanes();
        while (!all_idle()) {
            stop_if_asked();
            run_window(kLongWindow);
        }
        return result();
    }

private:
    struct Pending {
        Picoseconds window;
        Request request;
    };

    // A lane and what is to be handed to it, by windows.
    struct Queue {
        std::unique_ptr<Lane> lane;
        std::vector<Pending> pending;
        std::size_t handed_in = 0;  // of them
        Picoseconds last = 0;

        void run_until(Picoseconds end, int gpcs) {
            for (; handed_in < pending.size() && pending[handed_in].window < end; ++handed_in) {
                if (pending[handed_in].window > 0) lane->run_until(pending[handed_in].window);
                lane->submit(pending[handed_in].request);
                last = std::max(last, pending[handed_in].request.time);
            }
            lane->run_until(end);
            note_answers(gpcs);
        }
        void forget_handed_in() {
            pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(handed_in));
            handed_in = 0;
        }
        void note_answers(int gpcs) {
            for (int gpc = 0; gpc < gpcs; ++gpc) {
                for (const Answer& answer : lane->answers(gpc)) last = std::max(last, answer.time);
                lane->answers(gpc).clear();
            }
        }
    };

    void add(const RecordBatch& batch) {
        for (std::size_t i = 0; i < batch.boxes.size(); ++i) {
            const BoxRecord& box = batch.boxes[i];
            check_sm(box.sm, i);
            asked_sectors_ += expand_(box, reader_.walks()[box.walk],
                                      [&](const LineRecord& line, int lane) { submit(line, lane); });
            make_room();
        }
        for (std::size_t i = 0; i < batch.lines.size(); ++i) {
            const LineRecord& line = batch.lines[i];
            check_sm(line.sm, i);
            const int lane =
                sample_.index(model_.map.lane(static_cast<LineNumber>(line.address >> kLineShift)));
            if (lane < 0) {
                throw BadInput(
                    fmt::format("{}: the line at {:#x} is in none of the {} lanes that were recorded",
                                reader_.where(i), line.address, sample_.count()));
            }
            submit(line, lane);
            make_room();
        }
        records_ += batch.size();
    }

    void check_sm(std::size_t sm, std::size_t i) const {
        if (sm < machine_.sms.size()) return;
        throw BadInput(fmt::format("{}: SM {}, but {} has SMs 0 to {}", reader_.where(i), sm, machine_.name,
                                   machine_.sms.size() - 1));
    }

    // As in LineAccess: the sectors of a write that are not wholly written, of a read those that TMA shifts.
    SectorMask partial_of(const LineRecord& line, const TouchedSectors& sectors) const {
        if (line.operation == Operation::Read) return line.shifted ? sectors.touched : SectorMask{0};
        return machine_.l2.byte_masks ? SectorMask{0} : sectors.partial;
    }

    // What is handed in at the end of a window arrives after it, even if this machine's wires are shorter.
    void submit(const LineRecord& line, int lane) {
        const auto from = static_cast<std::uint32_t>(line.address % kLineBytes);
        Request request;
        request.time = std::max(line.time, line.window);
        request.line = static_cast<LineNumber>(line.address >> kLineShift);
        const TouchedSectors sectors = touched_sectors(from, from + line.bytes);
        request.sectors = sectors.touched;
        request.partial = partial_of(line, sectors);
        request.gpc = static_cast<std::uint8_t>(machine_.sms[line.sm].gpc);
        request.sm = numbers_in_gpcs_[line.sm];
        request.operation = line.reduce ? Operation::Add : line.operation;
        request.priority = priority_of(line.hint);
        request.fetch =
            line.operation == Operation::Read && line.path == Path::Tma ? Fetch::Tensor : Fetch::Plain;
        request.receivers = line.receivers;
        queues_[static_cast<std::size_t>(lane)].pending.push_back({line.window, request});
        last_window_ = std::max(last_window_, line.window);
        ++pending_;
        ++requests_;
    }

    void make_room() {
        if (++since_asked_ % 1024 == 0) stop_if_asked();
        if (pending_ >= kMostPending) run_lanes();
    }

    void stop_if_asked() const {
        if (options_.stop_requested && options_.stop_requested()) throw Interrupted();
    }

    // To the end of the window before the last record's, of which more may come.
    void run_lanes() {
        const Picoseconds end = last_window_ / window_ * window_;
        if (end <= now_) return;
        stop_if_asked();
        run_window(end - now_);
        pending_ = 0;
        for (Queue& queue : queues_) {
            queue.forget_handed_in();
            pending_ += queue.pending.size();
        }
    }

    // Lanes meet nowhere: a window may be as long as it likes.
    void run_window(Picoseconds length) {
        now_ += length;
        team_->for_each(queues_.size(), [&](std::size_t i) { queues_[i].run_until(now_, machine_.gpcs); });
    }

    bool all_idle() const {
        return std::all_of(queues_.begin(), queues_.end(), [](const Queue& queue) {
            return queue.handed_in == queue.pending.size() && queue.lane->idle();
        });
    }

    ReplayResult result() const {
        ReplayResult result;
        for (const Queue& queue : queues_) {
            result.events += queue.lane->events();
            result.time = std::max(result.time, queue.last);
        }
        const std::uint64_t simulated =
            result.events[Event::CoalescableSectors] + result.events[Event::TexWriteSectors];
        const bool boxes = reader_.header().kind == RecordKind::Box;
        const bool whole = reader_.end() && reader_.end()->complete;
        const std::uint64_t asked = boxes ? asked_sectors_ : whole ? reader_.end()->sectors : 0;
        result.scale = sample_.factor();
        if (simulated > 0 && asked > 0)
            result.scale = static_cast<double>(asked) / static_cast<double>(simulated);
        result.lanes = sample_.count();
        result.seed = options_.seed.value_or(reader_.header().seed);
        result.records = records_;
        result.requests = requests_;
        return result;
    }

    TraceReader& reader_;
    const Machine& machine_;
    const std::vector<std::uint8_t> numbers_in_gpcs_;  // of SMs
    const ReplayOptions& options_;
    LaneSample sample_;
    MemoryModel model_;
    BoxExpander expand_;
    Picoseconds window_;
    Picoseconds now_ = 0;
    Picoseconds last_window_ = 0;  // of a record
    std::vector<Queue> queues_;
    const std::unique_ptr<Executor> team_;  // that runs them
    std::size_t pending_ = 0;
    std::uint64_t since_asked_ = 0;
    std::uint64_t records_ = 0;
    std::uint64_t requests_ = 0;
    std::uint64_t asked_sectors_ = 0;
};

}  // namespace

ReplayResult replay(TraceReader& reader, const Machine& machine, const ReplayOptions& options,
                    Executor& executor) {
    return Replay(reader, machine, options, executor).run();
}

}  // namespace l2lens
