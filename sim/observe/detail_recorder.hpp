// SPDX-License-Identifier: Apache-2.0
// Looks on at a run and keeps what a report draws of it. It changes nothing: what a run predicts is the same
// with it and without it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "machine/machine.hpp"
#include "memory/address_map.hpp"
#include "schedule/request_sink.hpp"
#include "schedule/simulation.hpp"

#include "observe/run_details.hpp"
#include "observe/stack_distance.hpp"

namespace l2lens {

class DetailRecorder final : public RequestSink {
public:
    // `cold`: the run begins with an empty L2, so that what comes first comes from DRAM.
    DetailRecorder(const Machine& machine, const KernelLines& lines, std::uint64_t seed, bool cold);

    // What was counted since the launch, between two windows; of either engine.
    void counted(Picoseconds since_launch, const Events& events) { timeline_.add(since_launch, events); }

    // Line engine only.
    void begin(const Work& work, const LaneSample& sample) override;
    void launched(std::span<const std::unique_ptr<Lane>> lanes) override { lanes_ = lanes; }
    void issued(Picoseconds end, double cycle_ps, std::span<const BoxIssue> boxes) override;

    // Once, after the run.
    RunDetails finish(const SimulationResult& result);

private:
    std::vector<std::uint8_t> residency() const;
    bool simulated(LineNumber line) const;
    void count_panels();
    void use(LineNumber line, int tensor);
    MissClasses miss_classes(const SimulationResult& result) const;

    const Machine& machine_;
    const KernelLines& lines_;
    const bool cold_;
    const AddressMap map_;
    std::optional<LaneSample> sample_;  // nothing: all lanes (tile engine)
    const Work* work_ = nullptr;
    std::span<const std::unique_ptr<Lane>> lanes_;
    std::vector<double> group_sectors_;  // simulated ones, of each group of panels
    Timeline timeline_;

    ReuseBins bins_;
    StackDistance distances_;
    std::uint64_t watch_mask_ = 0;  // lines whose hash has none of these bits are watched
    double bytes_per_watched_line_ = 0;
    std::vector<TensorReuse> reuse_;  // by tensor
};

}  // namespace l2lens
