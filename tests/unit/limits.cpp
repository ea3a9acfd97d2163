// SPDX-License-Identifier: Apache-2.0
// What the model's small integers cannot hold is refused, and what they just hold works.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "load/machine_file.hpp"
#include "machine/check.hpp"
#include "machine/parameters.hpp"
#include "machine/topology.hpp"
#include "memory/line_place.hpp"
#include "memory/messages.hpp"
#include "schedule/landing.hpp"
#include "schedule/simulation.hpp"
#include "support/catch.hpp"
#include "support/kernels.hpp"

using namespace l2lens;

namespace {

double highest(const std::string& key) {
    for (const ParameterInfo& parameter : parameter_table())
        if (parameter.key == key) return parameter.most;
    return -1;
}

SimulationResult run(const Machine& machine, const Kernel& kernel, int ctas_per_sm) {
    SerialExecutor serial;
    const auto launches = test::in_order(kernel);
    const SimulationOptions options;
    return Simulation(machine, kernel, launches, ctas_per_sm, options).run(serial);
}

}  // namespace

TEST_CASE("A pipeline may have as many stages as a CTA has room for in the model, and no more") {
    const Machine machine = load_machine("tiny");
    const std::vector<std::string> small{"m=64", "n=64", "k=1024", "bm=64", "bn=64", "bk=16"};
    auto arguments = small;
    arguments.push_back("stages=" + std::to_string(kMaxStages));
    const Kernel deepest = test::gemm(arguments, machine);
    const auto result = run(machine, deepest, 1);
    CHECK(result.time > 0);
    CHECK(result.events[Event::CoalescableSectors] == 2 * 64 * 1024 * 2 / 32);
    arguments.back() = "stages=" + std::to_string(kMaxStages + 1);
    CHECK_THROWS_AS(test::gemm(arguments, machine), BadInput);
}

TEST_CASE("A GPC may hold as many CTAs as a landing numbers") {
    Machine machine = load_machine("tiny");  // two SMs a GPC
    Kernel kernel = test::one_cta(1, 10, 1);
    kernel.grid = {2000, 1};
    kernel.programs.resize(2000, kernel.programs[0]);
    const int fits = kMaxCtasOfGpc / 2;
    CHECK(run(machine, kernel, fits).events[Event::CoalescableRequests] == 2000);
    CHECK_THROWS_AS(run(machine, kernel, fits + 1), BadInput);
}

TEST_CASE("A machine file may not ask for more than the memory's messages can say") {
    CHECK(highest("coalescer.max_requesters") == kMaxRequesters);
    CHECK(highest("l2.slices_per_partition") <= 256);  // a byte numbers the simulated ones
    const auto last_set =
        static_cast<std::uint32_t>(highest("l2.slice") * 1024 / kLineBytes) - 1;  // of one way
    const auto last_home = static_cast<int>(highest("topology.partitions")) - 1;
    const LinePlace place(last_set, last_home);
    CHECK(place.known());
    CHECK(place.set() == last_set);
    CHECK(place.home() == last_home);
    Topology topology;
    for (int sm = 0; sm <= kMaxGpcs; ++sm) {
        topology.sms_of_gpc.push_back({sm});
        topology.partition_of_gpc.push_back(0);
        topology.first_wave.push_back(sm);
    }
    CHECK(check(topology, 1).size() == 1);
    topology.sms_of_gpc.pop_back();
    topology.partition_of_gpc.pop_back();
    topology.first_wave.pop_back();
    CHECK(check(topology, 1).empty());
}
