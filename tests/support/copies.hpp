// SPDX-License-Identifier: Apache-2.0
// What the recorders of traces/h200/far.csv and delays.csv make SMs do, as a kernel: each SM walks data of
// its own over and over, with so many copies of 16 KiB under way, or loads single lines one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedule/simulation.hpp"
#include "support/kernels.hpp"

namespace l2lens::test {

inline constexpr std::int64_t kCopyBytes = 16 << 10;
inline constexpr std::int64_t kRowBytes = 1 << 10;
inline constexpr double kDurationNs = 120000;

// SMs that each walk `bytes` of their own over and over with `in_flight` copies under way; on the GPU each
// got `recorded` B/ns.
struct Readers {
    std::vector<int> sms;
    std::int64_t bytes = 0;
    int in_flight = 0;
    double recorded = 0;
};

// An SM that loads these lines of the first kLoneBytes of the memory over and over, `loads` in all, as many
// at once as others have copies in flight.
struct LoneLines {
    int sm = 0;
    std::vector<LineNumber> lines;
    std::int64_t loads = 0;
};
inline constexpr std::int64_t kLoneBytes = 64 << 20;

// A CTA for each of the readers, with as much work as the GPU did in kDurationNs. All keep as many boxes in
// flight; those of readers with fewer copies in flight are smaller.
class Copies {
public:
    explicit Copies(const std::vector<Readers>& all, const LoneLines& lone = {}) {
        for (const Readers& readers : all) in_flight_ = std::max(in_flight_, readers.in_flight);
        if (lone.loads > 0) add_lone(lone);
        for (const Readers& readers : all) add(readers);
        Tensor memory;
        memory.name = "A";
        memory.rank = 2;
        memory.shape = {rows_, kRowBytes / 2};
        memory.stride_bytes = {kRowBytes, 2};
        memory.element_bytes = 2;
        kernel_.name = "copies";
        kernel_.tensors = {memory};
        kernel_.axes = {"sm", "one"};
        kernel_.grid = {static_cast<std::int64_t>(kernel_.programs.size()), 1};
        kernel_.stages = in_flight_ + 1;
        kernel_.resources.threads = 32;
        kernel_.resources.registers_per_thread = 32;
    }

    // What an SM of each kind of readers gets, B/ns, means. On some of the lanes, lines come from as many
    // banks of DRAM, as those of rows that lie apart do; on all of them, a copy from one.
    std::vector<double> rates(const Machine& machine, int lanes = 8) const {
        const std::vector<CtaStay> stays = simulate(machine, lanes);
        std::vector<double> rates;
        std::size_t cta = lone_loads_ > 0 ? 1 : 0;
        for (const auto& [count, bytes] : kinds_) {
            double sum = 0;
            for (std::size_t i = 0; i < count; ++i, ++cta) {
                const CtaStay& stay = stays[cta];
                sum += bytes / (static_cast<double>(stay.end - stay.start) / 1000);
            }
            rates.push_back(sum / static_cast<double>(count));
        }
        return rates;
    }

    // How long one of the lone lines takes, in the mean.
    double ns_of_lone_line(const Machine& machine) const {
        const CtaStay stay = simulate(machine, machine.slices() / machine.partitions).front();
        return static_cast<double>(stay.end - stay.start) / 1000 / static_cast<double>(lone_loads_) *
               in_flight_;
    }

private:
    std::vector<CtaStay> simulate(const Machine& machine, int lanes) const {
        SimulationOptions options;
        options.lanes = lanes;
        options.record_schedule = true;
        options.schedule = &placed_;
        SerialExecutor serial;
        Machine at_once = machine;
        at_once.latency.release_cycles = 30;  // a copy leaves as soon as the one before is there
        return Simulation(at_once, kernel_, in_order(kernel_), 1, options).run(serial).schedule;
    }

    void add_lone(const LoneLines& lone) {
        constexpr std::int64_t kLineBytes = 128;
        Program program;
        for (std::int64_t i = 0; i < lone.loads; ++i) {
            const auto line =
                static_cast<std::int64_t>(lone.lines[static_cast<std::size_t>(i) % lone.lines.size()]);
            BoxWalk box;
            box.start = {line * kLineBytes / kRowBytes, line * kLineBytes % kRowBytes / 2};
            box.step = {0, 0};
            box.extent = {1, kLineBytes / 2};
            Phase phase;
            phase.count = 1;
            phase.loads = {box};
            program.phases.push_back(phase);
        }
        place(program, lone.sm, kLoneBytes / kRowBytes);
        lone_loads_ = lone.loads;
    }

    void place(const Program& program, int sm, std::int64_t rows) {
        kernel_.programs.push_back(program);
        placed_.push_back({sm, 0, from_ns(10 * kDurationNs)});
        rows_ += rows;
    }

    void add(const Readers& readers) {
        const std::int64_t rows = kCopyBytes * readers.in_flight / in_flight_ / kRowBytes;
        const std::int64_t boxes = readers.bytes / kRowBytes / rows;  // of a walk
        const auto steps =
            static_cast<std::int64_t>(readers.recorded * kDurationNs / static_cast<double>(rows * kRowBytes));
        for (const int sm : readers.sms) {
            Program program;
            for (std::int64_t left = steps; left > 0; left -= boxes) {
                BoxWalk box;
                box.start = {rows_, 0};
                box.step = {rows, 0};
                box.extent = {rows, kRowBytes / 2};
                Phase phase;
                phase.count = std::min(left, boxes);
                phase.loads = {box};
                program.phases.push_back(phase);
            }
            place(program, sm, boxes * rows);
        }
        kinds_.emplace_back(readers.sms.size(), static_cast<double>(steps * rows * kRowBytes));
    }

    int in_flight_ = 1;
    std::int64_t lone_loads_ = 0;
    std::int64_t rows_ = 0;
    Kernel kernel_;
    LaunchSchedule placed_;
    std::vector<std::pair<std::size_t, double>> kinds_;  // CTAs, bytes of one
};

}  // namespace l2lens::test
