// SPDX-License-Identifier: Apache-2.0
// An SM's load engine and how long SMs are active, apart from any launch.
#include "schedule/epilogue.hpp"
#include "schedule/load_engine.hpp"
#include "schedule/power.hpp"
#include "schedule/sm_activity.hpp"
#include "support/catch.hpp"

using namespace l2lens;

TEST_CASE("A load waits for a stored box that has begun, and goes ahead of one that has not") {
    LoadEngine engine;
    CHECK(engine.begin_load(100) == 100);
    engine.end_load(110);
    CHECK(engine.begin_load(105) == 110);
    CHECK(engine.begin_store(105) == 110);
    engine.end_store(105, 150, 250, true);  // decided on at 105, leaves from 150 until 250
    CHECK(engine.begin_load(120) == 120);
    CHECK(engine.begin_load(150) == 250);
    CHECK(engine.begin_load(300) == 300);
    CHECK(engine.begin_store(160) == 250);
}

TEST_CASE("What plain stores write holds up stores alone") {
    LoadEngine engine;
    engine.end_store(0, 50, 90, false);
    CHECK(engine.begin_load(60) == 60);
    CHECK(engine.begin_store(60) == 90);
}

TEST_CASE("Of two stored boxes the second one holds loads as well, and what has passed does not") {
    LoadEngine engine;
    engine.end_store(0, 50, 90, true);
    engine.end_store(10, 90, 130, true);
    CHECK(engine.begin_load(60) == 130);
    engine.end_store(200, 300, 340, true);
    CHECK(engine.begin_load(250) == 250);
    CHECK(engine.begin_load(310) == 340);
}

TEST_CASE("SMs are active from their first CTA's start to their last one's end") {
    SmActivity activity(4);
    activity.began(0, 100);
    activity.ended(0, 300);
    activity.began(0, 320);
    activity.ended(0, 600);  // 500
    activity.began(1, 150);
    activity.began(1, 160);
    activity.ended(1, 400);
    activity.ended(1, 350);  // 250
    activity.began(2, 100);
    activity.ended(2, 150);  // 50, and SM 3 has none
    CHECK(activity.mean() == Approx((500 + 250 + 50) / 4.0));
}

TEST_CASE("The clock falls with math and with what crosses between SMs, slices and partitions") {
    Machine machine;
    machine.clock.sm_max_ghz = 2;
    machine.clock.power_base_ghz = 2.1;
    machine.clock.power_slope_ghz = 0.5;
    machine.clock.power_l2_ghz = 0.01;
    machine.clock.power_fabric_ghz = 0.05;
    CHECK(ghz_under_power(machine, 600, {5, 1}) == Approx(2.1 - 0.3 - 0.05 - 0.05));
    CHECK(ghz_under_power(machine, 100, {}) == Approx(2));  // not beyond the highest
    machine.clock.power_slope_ghz = 0;
    CHECK(ghz_under_power(machine, 600, {5, 1}) == Approx(2));
}

TEST_CASE("Traffic counts both ways, and each event for what it stands for") {
    Events events;
    events[Event::TexReadSectors] = 10;
    events[Event::TexWriteSectors] = 5;
    events[Event::FabricReadSectors] = 3;
    events[Event::FabricWriteSectors] = 1;
    const Traffic traffic = traffic_of(events, 16);
    CHECK(traffic.l2 == Approx(15 * 16 * 32));
    CHECK(traffic.fabric == Approx(4 * 16 * 32));
}

TEST_CASE(
    "A CTA that leaves waits for its last store, a persistent one until the rest of C is in its buffers") {
    Kernel kernel;
    kernel.epilogue_ns = 0.4;  // 400 ps
    kernel.epilogue_overlaps = false;
    CHECK(end_of_epilogue(kernel, 1000, 1300, 250, 0) == 1400);
    CHECK(end_of_epilogue(kernel, 1000, 2000, 250, 0) == 2000);
    kernel.epilogue_overlaps = true;  // half of the epilogue follows what is in the buffers
    CHECK(end_of_epilogue(kernel, 1000, 1300, 250, 0) == 1400);
    CHECK(end_of_epilogue(kernel, 1000, 2000, 250, 0) == 1950);
    CHECK(end_of_epilogue(kernel, 1000, 2000, 0, 0) == 2200);
    CHECK(end_of_epilogue(kernel, 1000, 2000, 250, -100) == 1850);
    CHECK(end_of_epilogue(kernel, 1000, 1000, 250, -900) == 1000);  // never before the math ends
}

TEST_CASE(
    "What the store buffers hold is stored at the SM's rate for stores, or for loads where that is not "
    "known") {
    Kernel kernel;
    kernel.store_buffer_bytes = 64 * kLineBytes;
    Machine machine;
    machine.bandwidth.issue_lines_per_cycle = 1;
    machine.bandwidth.store_lines_per_cycle = 0.25;
    CHECK(store_buffer_cycles(kernel, machine) == Approx(256));
    machine.bandwidth.store_lines_per_cycle = 0;
    CHECK(store_buffer_cycles(kernel, machine) == Approx(64));
}
