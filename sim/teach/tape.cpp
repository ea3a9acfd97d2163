// SPDX-License-Identifier: Apache-2.0
#include "teach/tape.hpp"

#include <algorithm>
#include <numeric>

#include "base/executor.hpp"
#include "memory/event_wheel.hpp"
#include "schedule/landing.hpp"
#include "schedule/simulation.hpp"

namespace l2lens {
namespace {

// Thrown through the run when the tape is as long as was wanted. No Error: it is not the user's.
struct TapeFull {};

// SM ids of each GPC, as a landing numbers them: ascending.
std::vector<std::vector<int>> sms_by_gpc(const Machine& machine) {
    std::vector<std::vector<int>> sms(static_cast<std::size_t>(machine.gpcs));
    for (std::size_t id = 0; id < machine.sms.size(); ++id)
        sms[static_cast<std::size_t>(machine.sms[id].gpc)].push_back(static_cast<int>(id));
    return sms;
}

class Recorder final : public LaneObserver {
public:
    Recorder(const Machine& machine, int ctas_per_sm, std::size_t most)
        : sms_(sms_by_gpc(machine)),
          ctas_per_sm_(ctas_per_sm),
          most_(most),
          bucket_of_lane_(static_cast<std::size_t>(machine.l2.slices_per_partition), 0) {}

    void stepped(const LaneStep& step) override {
        if (step.kind == LaneStep::Kind::Answer) {
            answer(step);
            return;
        }
        if (accesses_.size() == most_) throw TapeFull{};
        Access access{step};
        if (step.kind == LaneStep::Kind::Read || step.kind == LaneStep::Kind::Merged) {
            access.sm = sm_of(step);
            waiting_.push_back(accesses_.size());
        }
        accesses_.push_back(access);
        std::int64_t& bucket = bucket_of_lane_[step.lane];
        bucket = std::max(bucket, step.time >> kBucketShift);
        bucket_.push_back(bucket);
    }

    // Puts the lanes' steps in time, without touching the order of each lane: a lane works buckets of its
    // event wheel off, inside which it does not look at the time.
    std::vector<Access> take() const {
        std::vector<std::size_t> order(accesses_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return bucket_[i]; });
        std::vector<Access> sorted;
        sorted.reserve(order.size());
        for (const std::size_t i : order) sorted.push_back(accesses_[i]);
        return sorted;
    }

private:
    int sm_of(const LaneStep& step) const {
        const auto& sms = sms_[step.gpc];
        return sms[static_cast<std::size_t>(slot_of_landing(step.landing) / ctas_per_sm_)];
    }

    // The read that opened the entry, and those that joined it: merged reads of the same sectors by the same
    // GPC between it and now.
    void answer(const LaneStep& answer) {
        int left = answer.requesters;
        const auto served = [&](std::size_t index) {
            Access& access = accesses_[index];
            const LaneStep& step = access.step;
            const bool opened = step.kind == LaneStep::Kind::Read && step.entry == answer.entry;
            const bool same = step.lane == answer.lane && step.partition == answer.partition &&
                              step.line == answer.line && step.gpc == answer.gpc &&
                              step.asked == answer.asked;
            const bool joined = step.kind == LaneStep::Kind::Merged && same && left > 1;
            if (!(opened && same) && !joined) return false;
            if (joined) --left;
            access.answered = answer.time;
            access.answered_with = answer.requesters;
            return true;
        };
        std::erase_if(waiting_, served);
    }

    std::vector<std::vector<int>> sms_;
    int ctas_per_sm_;
    std::size_t most_;
    std::vector<Access> accesses_;
    std::vector<std::int64_t> bucket_;  // of each access, when its lane met it
    std::vector<std::int64_t> bucket_of_lane_;
    std::vector<std::size_t> waiting_;  // reads without an answer so far
};

}  // namespace

Tape record_tape(const Machine& machine, const Kernel& kernel, std::span<const std::int32_t> launches,
                 int ctas_per_sm, const TapeOptions& options) {
    Recorder recorder(machine, ctas_per_sm, options.most_accesses);
    SimulationOptions simulation;
    simulation.mode = options.mode;
    simulation.seed = options.seed;
    simulation.lanes = machine.l2.slices_per_partition;
    simulation.observer = &recorder;
    SerialExecutor one_thread;  // one order of the lanes, hence one tape
    Tape tape;
    tape.seed = options.seed;
    try {
        const SimulationResult result =
            Simulation(machine, kernel, launches, ctas_per_sm, simulation).run(one_thread);
        tape.events = result.events;
        tape.time = result.time;
    } catch (const TapeFull&) {
        tape.complete = false;
    }
    tape.accesses = recorder.take();
    return tape;
}

}  // namespace l2lens
