// SPDX-License-Identifier: Apache-2.0
// The table of metrics against identities of the hardware's counters, on the row_major row of
// traces/h200/gemm.csv (8192 x 8192 x 8192, 128 x 128 x 64).
#include "counters/metrics.hpp"

#include <cmath>
#include <set>

#include "support/catch.hpp"

using namespace l2lens;

namespace {

// The recorded counters of that row, as the events that cause them.
Events recorded_row() {
    Events e;
    e[Event::CoalescableRequests] = 134221820;
    e[Event::CoalescableSectors] = 536875072;
    e[Event::MergedSectors] = 83616400;
    e[Event::TexRequests] = 114466216;
    e[Event::TexReadSectors] = 453262278;
    e[Event::TexReadHits] = 268675710;
    e[Event::TexReadMisses] = 184586568;
    e[Event::TexWriteSectors] = 4194304;
    e[Event::FabricReadSectors] = 106495067;
    e[Event::FabricReadHits] = 48424557;
    e[Event::FabricReadMisses] = 58070510;
    e[Event::FabricWriteSectors] = 2097152;
    e[Event::FillSectors] = 136392486;
    e[Event::WritebackSectors] = 4130448;
    e[Event::DeliveredSectors] = 536875005;
    return e;
}

double value(const Events& events, const char* id, const RunTotals& totals = {}) {
    const Metric* metric = find_metric(id);
    REQUIRE(metric != nullptr);
    return metric->value(events, totals);
}

}  // namespace

TEST_CASE("The table reproduces the recorded counters of a row from its events") {
    const Events e = recorded_row();
    // Counters of one row come from several replays: 2 % between them.
    CHECK(value(e, "lts__t_sectors.sum") == Approx(565970710).epsilon(0.02));
    CHECK(value(e, "lts__t_requests.sum") == Approx(168642682).epsilon(0.02));
    CHECK(value(e, "lts__t_sectors_op_write.sum") == Approx(6302074).epsilon(0.02));
    CHECK(value(e, "lts__t_sectors_lookup_hit.sum") == Approx(323731135).epsilon(0.02));
    CHECK(value(e, "lts__t_sectors_lookup_miss.sum") == Approx(243160511).epsilon(0.02));
    CHECK(value(e, "lts__t_sector_hit_rate.pct") == Approx(57.20).epsilon(0.01));
    CHECK(value(e, "lrc__lts2lrc_sectors_op_read.sum") == Approx(453262278).epsilon(0.001));
    CHECK(value(e, "dram__bytes_read.sum") == 32.0 * 136392486);
    CHECK(value(e, "merged_pct") == Approx(100.0 * 83616400 / 536875072));
    // Fills are the near-homed misses and what the home partition had to fetch.
    CHECK(value(e, "lts__t_sectors_srcunit_tex_lookup_miss.sum") - 106495067 + 58070510 ==
          Approx(value(e, "lts__d_sectors_fill_device.sum")).epsilon(0.01));
}

TEST_CASE("Promoted sectors are misses but not lookups") {
    Events e;
    e[Event::TexReadSectors] = 200;
    e[Event::TexReadHits] = 100;
    e[Event::TexReadMisses] = 100;
    e[Event::TexReadPromoted] = 100;
    CHECK(value(e, "lts__t_sectors.sum") == 200);
    CHECK(value(e, "lts__t_sectors_srcunit_tex_lookup_miss.sum") == 200);
    CHECK(value(e, "lts__t_sector_hit_rate.pct") == 50);  // hit / sectors, not hit / (hit + miss)
}

TEST_CASE("A sample is scaled up, seeds are averaged, rates stay") {
    const Events e = recorded_row();
    RunTotals sixteenth;
    sixteenth.scale = 16;
    CHECK(value(e, "lts__d_sectors_fill_device.sum", sixteenth) == 16.0 * 136392486);
    CHECK(value(e, "lts__t_sector_hit_rate.pct", sixteenth) ==
          Approx(value(e, "lts__t_sector_hit_rate.pct")));
}

TEST_CASE("What a run does not know is absent") {
    const auto counters = evaluate_metrics(MetricKind::Hardware, recorded_row(), {});
    CHECK(counters.count("gpu__time_duration.sum") == 0);
    CHECK(counters.count("lts__t_sectors.avg") == 0);  // no number of slices given
    CHECK(counters.count("lts__t_sectors.sum") == 1);

    RunTotals totals;
    totals.time_ns = 1758464;
    totals.l2_ghz = 1.706;
    totals.slices = 94;
    const auto known = evaluate_metrics(MetricKind::Hardware, recorded_row(), totals);
    CHECK(known.at("gpu__time_duration.sum") == 1758464);
    CHECK(known.at("lts__cycles_elapsed.avg") == Approx(3004581).epsilon(0.005));
    CHECK(known.at("lts__t_sectors.avg") == Approx(6020965.01).epsilon(0.02));
    CHECK(evaluate_metrics(MetricKind::Neutral, recorded_row(), totals).at("time_us") == Approx(1758.464));
}

TEST_CASE("Nothing counted gives zeros, not a division by zero") {
    for (const auto& [id, number] : evaluate_metrics(MetricKind::Hardware, Events{}, {})) {
        INFO(id);
        CHECK(number == 0);
    }
}

TEST_CASE("Each row of the table is complete and named once") {
    std::set<std::string_view> ids;
    for (const Metric& metric : all_metrics()) {
        INFO(metric.id);
        CHECK(ids.insert(metric.id).second);
        CHECK_FALSE(metric.formula.empty());
        CHECK_FALSE(metric.meaning.empty());
        CHECK_FALSE(unit_name(metric.unit).empty());
        CHECK(find_metric(metric.id) == &metric);
    }
    CHECK(find_metric("lts__t_sector.sum") == nullptr);
}
