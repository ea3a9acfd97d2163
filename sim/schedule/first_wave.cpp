// SPDX-License-Identifier: Apache-2.0
#include "schedule/first_wave.hpp"

#include <algorithm>
#include <cmath>

#include "machine/topology.hpp"

namespace l2lens {
namespace {

// How many SMs the first wave takes before the lowest of their GPC, with which that GPC's turn begins (H200:
// traces/h200/topology.csv).
int sms_apart(const Machine& machine) {
    std::vector<int> by_position(machine.sms.size());
    for (std::size_t id = 0; id < machine.sms.size(); ++id)
        by_position[static_cast<std::size_t>(machine.sms[id].first_wave_position)] = static_cast<int>(id);
    const auto gpc_of = [&](int id) { return machine.sms[static_cast<std::size_t>(id)].gpc; };
    const int gpc = gpc_of(by_position.front());
    const auto lowest =
        std::find_if(machine.sms.begin(), machine.sms.end(), [&](const Sm& sm) { return sm.gpc == gpc; });
    const auto turn = std::find_if(by_position.begin(), by_position.end(), [&](int id) {
        return gpc_of(id) != gpc || id == lowest - machine.sms.begin();
    });
    return turn == by_position.end() ? 0 : static_cast<int>(turn - by_position.begin());
}

// Where the first seed is. GPC 0, whose SMs those apart are, would be no typical beginning: its 16 SMs then
// come together, so that GPCs have whole rows of 16 tiles. Of what Triton's loops ask for such a launch
// merges 0.52, those that begin on the seven other GPCs 0.45 to 0.49 (tests/recorded/rounds.cpp, counted
// 0.45).
constexpr double kTypical = 0.375;

// In [0, 1), from kTypical on: the bits of `seed` the other way round (van der Corput's sequence).
double evenly_spread(std::uint64_t seed) {
    double value = kTypical;
    for (double half = 0.5; seed > 0; seed >>= 1, half /= 2)
        if ((seed & 1) != 0) value += half;
    return value - std::floor(value);
}

}  // namespace

FirstWave::FirstWave(const Machine& machine, std::uint64_t seed)
    : machine_(machine),
      apart_(sms_apart(machine)),
      turn_of_gpc_(static_cast<std::size_t>(machine.gpcs), 0),
      number_(numbers_in_gpcs(machine)) {
    if (!machine.launch.rotates) return;
    const int first = static_cast<int>(evenly_spread(seed) * machine.gpcs);
    for (int gpc = 0; gpc < machine.gpcs; ++gpc)
        turn_of_gpc_[static_cast<std::size_t>(gpc)] = (gpc - first + machine.gpcs) % machine.gpcs;
}

FirstWave::Turn FirstWave::of_cta(std::int32_t id) const {
    const Sm& sm = machine_.sms[static_cast<std::size_t>(id)];
    if (sm.first_wave_position < apart_) return {0, 0, 0, sm.first_wave_position};
    return {1, 0, turn_of_gpc_[static_cast<std::size_t>(sm.gpc)], sm.first_wave_position};
}

FirstWave::Turn FirstWave::of_cluster(std::int32_t id) const {
    Turn turn = of_cta(id);
    if (turn.apart == 0) return turn;
    turn.place = id;
    if (machine_.launch.rotates) turn.round = number_[static_cast<std::size_t>(id)];
    return turn;
}

}  // namespace l2lens
