// SPDX-License-Identifier: Apache-2.0
// SMs without a kernel: each sends a stream of requests to lanes of the L2, a few at a time, the next ones
// when answers come. What a microbenchmark does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "memory/lane.hpp"

namespace l2lens::test {

// The requests of one SM, or some of them.
struct Stream {
    int gpc = 0;
    int sm = -1;  // which one of its GPC; -1: each stream is one of its own, as long as its GPC has so many
    std::int64_t count = 0;
    // The i-th request; its time is the earliest at which the SM may send it.
    std::function<Request(std::int64_t)> request;
    int in_flight = std::numeric_limits<int>::max();  // at most; writes are never answered and not counted
    Picoseconds gap = 0;                              // between two requests
    Picoseconds latency = 0;                          // to a slice, beyond the machine's
};

// Some lanes of a machine's L2 and the streams that use them.
class StreamRun {
public:
    // `lanes` numbers of lanes; a simulated line stands for `lines_per_line` lines.
    StreamRun(const Machine& machine, const std::vector<int>& lanes, double lines_per_line,
              std::uint64_t seed = 0)
        : machine_(machine), model_(machine, lines_per_line), index_of_lane_(at(model_.map.lanes()), -1) {
        for (int lane : lanes) {
            index_of_lane_[at(lane)] = static_cast<int>(lanes_.size());
            lanes_.push_back(std::make_unique<Lane>(model_, seed, lane));
        }
    }

    const AddressMap& map() const { return model_.map; }

    // Lines [first, first + count) that lie in the simulated lanes.
    std::vector<LineNumber> lines(LineNumber first, std::int64_t count) const {
        std::vector<LineNumber> in_lanes;
        for (std::int64_t i = 0; i < count; ++i) {
            const auto line = static_cast<LineNumber>(first + i);
            if (index_of_lane_[at(model_.map.lane(line))] >= 0) in_lanes.push_back(line);
        }
        return in_lanes;
    }

    // Runs all streams to their end, and the lanes until they are idle. When the last answer of each came,
    // from the beginning.
    std::vector<Picoseconds> run(const std::vector<Stream>& streams) {
        std::vector<State> states(streams.size());
        const Picoseconds begin = now_;
        for (State& state : states) state.free_at = begin;
        for (std::size_t s = 0; s < streams.size(); ++s) send(streams[s], states[s], s, begin, begin);
        do {
            now_ += exchange_window(machine_);
            for (auto& lane : lanes_) lane->run_until(now_);
            hand_over(streams, states, begin);
        } while (!std::all_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->idle(); }));
        std::vector<Picoseconds> ends;
        for (const State& state : states) ends.push_back(state.last);
        return ends;
    }

    Events events() const {
        Events sum;
        for (const auto& lane : lanes_) sum += lane->events();
        return sum;
    }
    void reset_events() {
        for (auto& lane : lanes_) lane->reset_events();
    }
    // When each answer arrived, in the order of lanes and GPCs.
    const std::vector<Picoseconds>& arrivals() const { return arrivals_; }

private:
    struct State {
        std::int64_t next = 0;
        int in_flight = 0;
        Picoseconds free_at = 0;
        Picoseconds last = 0;
    };

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    // Sends what may leave at `now`.
    void send(const Stream& stream, State& state, std::size_t number, Picoseconds now, Picoseconds begin) {
        while (state.next < stream.count && state.in_flight < stream.in_flight) {
            Request request = stream.request(state.next++);
            const Picoseconds issued = std::max({now, state.free_at, begin + request.time});
            state.free_at = issued + stream.gap;
            request.time = issued + model_.timing.sm_to_slice + stream.latency;
            request.gpc = static_cast<std::uint8_t>(stream.gpc);
            request.sm = static_cast<std::uint8_t>(stream.sm >= 0 ? static_cast<std::size_t>(stream.sm)
                                                                  : number % model_.most_sms_of_a_gpc);
            request.landing = static_cast<std::uint16_t>(number);
            if (request.operation == Operation::Read) ++state.in_flight;
            lanes_[at(index_of_lane_[at(model_.map.lane(request.line))])]->submit(request);
        }
    }

    void hand_over(const std::vector<Stream>& streams, std::vector<State>& states, Picoseconds begin) {
        for (auto& lane : lanes_) {
            for (int gpc = 0; gpc < machine_.gpcs; ++gpc) {
                for (const Answer& answer : lane->answers(gpc)) {
                    arrivals_.push_back(answer.time - begin);
                    for (std::size_t i = 0; i < answer.requesters; ++i) {
                        const std::size_t s = answer.landing[i];
                        --states[s].in_flight;
                        states[s].last = std::max(states[s].last, answer.time - begin);
                        send(streams[s], states[s], s, answer.time, begin);
                    }
                }
                lane->answers(gpc).clear();
            }
        }
    }

    const Machine& machine_;
    MemoryModel model_;
    std::vector<int> index_of_lane_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<Picoseconds> arrivals_;
    Picoseconds now_ = 0;
};

// One SM that walks `lines`, `passes` times, whole lines through a tensor map.
inline Stream reads(int gpc, const std::vector<LineNumber>& lines, int passes = 1,
                    SectorMask sectors = kWholeLine, Fetch fetch = Fetch::Tensor) {
    Stream stream;
    stream.gpc = gpc;
    stream.count = static_cast<std::int64_t>(lines.size()) * passes;
    stream.in_flight = 4;
    stream.request = [&lines, sectors, fetch](std::int64_t i) {
        Request request;
        request.line = lines[static_cast<std::size_t>(i) % lines.size()];
        request.sectors = sectors;
        request.fetch = fetch;
        return request;
    };
    return stream;
}

inline Stream adds(int gpc, const std::vector<LineNumber>& lines, SectorMask sectors) {
    Stream stream;
    stream.gpc = gpc;
    stream.count = static_cast<std::int64_t>(lines.size());
    stream.gap = 20'000;
    stream.request = [&lines, sectors](std::int64_t i) {
        Request request;
        request.line = lines[static_cast<std::size_t>(i)];
        request.operation = Operation::Add;
        request.sectors = sectors;
        return request;
    };
    return stream;
}

inline Stream writes(int gpc, const std::vector<LineNumber>& lines, SectorMask sectors = kWholeLine,
                     SectorMask partial = 0) {
    Stream stream;
    stream.gpc = gpc;
    stream.count = static_cast<std::int64_t>(lines.size());
    stream.gap = 20'000;
    stream.request = [&lines, sectors, partial](std::int64_t i) {
        Request request;
        request.line = lines[static_cast<std::size_t>(i)];
        request.operation = Operation::Write;
        request.sectors = sectors;
        request.partial = partial;
        return request;
    };
    return stream;
}

}  // namespace l2lens::test
