// SPDX-License-Identifier: Apache-2.0
#include "line_stream.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"
#include "kernel/box_lines.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "machine/topology.hpp"
#include "order/order.hpp"

#include "predict.hpp"

namespace l2lens::bench {
namespace {

constexpr std::int64_t kWaves = 2;
// Of a 128x128x64 step, which takes an H200 430 ns. Nothing here waits for an answer, so the pace has to be
// one that DRAM and the fabric can keep, or their queues grow without end.
constexpr Picoseconds kStep = 600'000;
constexpr Picoseconds kRandomStep = 1'000'000;
constexpr std::int64_t kRandomBytes = 100 << 20;

const Kernel& large_gemm() {
    static const Kernel kernel = load_kernel("gemm", {"m=8192", "n=8192", "k=8192"}, &h200());
    return kernel;
}

struct Asker {
    std::uint8_t gpc;
    std::uint8_t sm;  // of the GPC
};

// The SMs in the order in which the first wave fills them.
std::vector<Asker> asker_of_place() {
    const Machine& machine = h200();
    const std::vector<std::uint8_t> numbers = numbers_in_gpcs(machine);
    std::vector<Asker> askers(machine.sms.size());
    for (std::size_t i = 0; i < askers.size(); ++i) {
        const Sm& sm = machine.sms[i];
        askers[static_cast<std::size_t>(sm.first_wave_position)] = {static_cast<std::uint8_t>(sm.gpc),
                                                                    numbers[i]};
    }
    return askers;
}

class StreamBuilder {
public:
    explicit StreamBuilder(const LaneSample& sample) : sample_(sample), map_(h200()) {}

    void add(Picoseconds time, LineNumber line, Asker asker) {
        const int lane = sample_.index(map_.lane(line));
        if (lane < 0) return;
        stream_.events.push_back({time, line, static_cast<std::uint8_t>(lane), asker.gpc, asker.sm});
    }

    LineStream finish() {
        std::stable_sort(stream_.events.begin(), stream_.events.end(),
                         [](const LineEvent& a, const LineEvent& b) { return a.time < b.time; });
        stream_.duration = stream_.events.back().time + kRandomStep;
        return std::move(stream_);
    }

private:
    const LaneSample& sample_;
    AddressMap map_;
    LineStream stream_;
};

LineStream gemm_stream(const std::string& order, const LaneSample& sample) {
    const Kernel& kernel = large_gemm();
    const std::vector<Asker> askers = asker_of_place();
    const auto wave = static_cast<std::int64_t>(askers.size());
    const TileSequence tiles = make_order(order, grid_of(kernel));
    StreamBuilder builder(sample);
    for (std::int64_t id = 0; id < kWaves * wave; ++id) {
        const TileCoord tile = tiles[static_cast<std::size_t>(id)];
        const Asker asker = askers[static_cast<std::size_t>(id % wave)];
        const auto number = static_cast<std::size_t>(tile.row * kernel.tile_columns() + tile.column);
        const Phase& phase = kernel.programs[number].phases.front();
        for (std::int64_t k = 0; k < phase.count; ++k) {
            Picoseconds time = (id / wave * phase.count + k) * kStep;
            for (const BoxWalk& box : phase.loads) {
                const Tensor& tensor = kernel.tensors[static_cast<std::size_t>(box.tensor)];
                for_each_line(tensor, box, k, [&](const LineRequest& request) {
                    builder.add(time += 500, request.line, asker);  // a line a cycle
                });
            }
        }
    }
    return builder.finish();
}

LineStream random_stream(const LaneSample& sample) {
    const auto lines = static_cast<std::uint32_t>(kRandomBytes / kLineBytes);
    const auto wave = static_cast<std::int64_t>(h200().sms.size());
    const std::vector<Asker> askers = asker_of_place();
    StreamBuilder builder(sample);
    RandomStream random(1, 0);
    constexpr std::int64_t kLinesPerStep = 256;
    const std::int64_t steps = kWaves * 128;
    for (std::int64_t i = 0; i < steps * wave * kLinesPerStep; ++i) {
        const Picoseconds time = i * kRandomStep / (wave * kLinesPerStep);
        builder.add(time, random.below(lines), askers[static_cast<std::size_t>(i % wave)]);
    }
    return builder.finish();
}

}  // namespace

const Machine& h200() {
    static const Machine machine = load_machine("h200");
    return machine;
}

LineStream make_stream(const std::string& pattern, const LaneSample& sample) {
    return pattern == "random" ? random_stream(sample) : gemm_stream(pattern, sample);
}

}  // namespace l2lens::bench
