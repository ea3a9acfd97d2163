// SPDX-License-Identifier: Apache-2.0
// Capacity, fetch granularity and writes: request streams through a few lanes against the counters of
// traces/h200/microbenchmarks.csv. Everything is per sector of the buffer, so that a few lanes stand for all.
// Where the model is off, the tolerance says by how much.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/recorded.hpp"
#include "support/streams.hpp"

using namespace l2lens;
using test::recorded_rows;
using test::Stream;
using test::StreamRun;

namespace {

constexpr const char* kFile = "microbenchmarks.csv";
constexpr int kSms = 132;
constexpr double kSectorsPerMiB = 32768;

// Per sector of the buffer.
struct Counts {
    double misses = 0;  // of the SMs' lookups, promoted ones included
    double fabric_misses = 0;
    double fabric_hits = 0;
    double fill = 0;
    double merged = 0;  // share of the sectors asked for
};

Counts per_sector(const Events& events, double sectors) {
    const auto count = [&](Event event) { return static_cast<double>(events[event]) / sectors; };
    return {count(Event::TexReadMisses) + count(Event::TexReadPromoted), count(Event::FabricReadMisses),
            count(Event::FabricReadHits), count(Event::FillSectors),
            count(Event::MergedSectors) / count(Event::CoalescableSectors)};
}

Counts per_sector(const test::RecordedCells& row, double sectors) {
    const auto count = [&](const char* counter) { return row[counter] / sectors; };
    return {count("lts__t_sectors_srcunit_tex_lookup_miss.sum"),
            count("lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum"),
            count("lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum"), count("lts__d_sectors_fill_device.sum"),
            count("lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum") /
                std::max(1e-9, count("lrc__request_sectors_op_read_coalescable.sum"))};
}

// The rows of a pattern by size.
std::map<int, Counts> measured(const std::string& pattern) {
    std::map<int, Counts> rows;
    for (const auto& row : recorded_rows(kFile, {{"pattern", pattern}}))
        rows[static_cast<int>(row["size"])] = per_sector(row, row["size"] * kSectorsPerMiB);
    return rows;
}

// Where a count first rises through `level`, between two sizes in proportion.
double knee(const std::map<int, Counts>& rows, double Counts::*count, double level) {
    auto before = rows.begin();
    for (auto row = std::next(before); row != rows.end(); before = row++) {
        const double low = before->second.*count, high = row->second.*count;
        if (low < level && high >= level)
            return before->first + (row->first - before->first) * (level - low) / (high - low);
    }
    return -1;
}

const Machine& h200() {
    static const Machine machine = load_machine("h200");
    return machine;
}

int gpc_of(int sm) {
    return h200().sms[static_cast<std::size_t>(sm)].gpc;
}

StreamRun four_lanes() {
    return {h200(), {3, 17, 30, 44}, 47.0 / 4};
}

// One SM walks the buffer three times.
Counts one_sm_reads_all(int mib) {
    StreamRun run = four_lanes();
    const auto lines = run.lines(0, std::int64_t{mib} << 13);
    Stream sm = test::reads(gpc_of(0), lines, 3);
    sm.in_flight = 16;
    run.run({sm});
    return per_sector(run.events(), 4.0 * static_cast<double>(lines.size()));
}

// Each SM walks its own 132nd three times.
Counts each_sm_own_part(int mib) {
    StreamRun run = four_lanes();
    const std::int64_t all = std::int64_t{mib} << 13;
    std::vector<std::vector<LineNumber>> parts;
    std::vector<Stream> sms;
    double sectors = 0;
    for (int sm = 0; sm < kSms; ++sm) {
        const std::int64_t first = all * sm / kSms;
        parts.push_back(run.lines(static_cast<LineNumber>(first), all * (sm + 1) / kSms - first));
        sectors += 4.0 * static_cast<double>(parts.back().size());
    }
    for (int sm = 0; sm < kSms; ++sm) {
        sms.push_back(test::reads(gpc_of(sm), parts[static_cast<std::size_t>(sm)], 3));
        sms.back().in_flight = 16;
    }
    run.run(sms);
    return per_sector(run.events(), sectors);
}

// All SMs walk all of the buffer, each from another 132nd (or the same: a rotation of 0). An SM takes 75
// B/ns, as in the recorded rows: one of a lane's lines each 80 ns.
Counts all_sms_share(int mib, int passes, int rotation) {
    StreamRun run(h200(), {20}, 47);
    const auto lines = run.lines(0, std::int64_t{mib} << 13);
    std::vector<Stream> sms;
    for (int sm = 0; sm < kSms; ++sm) {
        Stream stream = test::reads(gpc_of(sm), lines, passes);
        const std::size_t offset = lines.size() * static_cast<std::size_t>(sm * rotation) / kSms;
        stream.request = [&lines, offset](std::int64_t i) {
            Request request;
            request.line = lines[(static_cast<std::size_t>(i) + offset) % lines.size()];
            request.sectors = kWholeLine;
            return request;
        };
        stream.in_flight = 8;
        stream.gap = from_ns(80);
        sms.push_back(stream);
    }
    run.run(sms);
    return per_sector(run.events(), 4.0 * static_cast<double>(lines.size()));
}

// Sectors of a line in which an access of a strided walk from address 0 falls.
SectorMask touched(LineNumber line, std::uint64_t stride) {
    SectorMask mask = 0;
    const std::uint64_t begin = std::uint64_t{line} * kLineBytes;
    for (std::uint64_t at = (begin + stride - 1) / stride * stride; at < begin + kLineBytes; at += stride)
        mask = static_cast<SectorMask>(mask | 1u << (at - begin) / kSectorBytes);
    return mask;
}

struct Strided {
    std::vector<LineNumber> lines;
    std::vector<SectorMask> masks;
    double accesses = 0;  // as many as sectors: strides are at least 32 B
};

Strided strided_lines(const StreamRun& run, std::uint64_t stride) {
    Strided walk;
    for (LineNumber line : run.lines(0, std::int64_t{256} << 13)) {
        const SectorMask mask = touched(line, stride);
        if (mask == 0) continue;
        walk.lines.push_back(line);
        walk.masks.push_back(mask);
        walk.accesses += __builtin_popcount(mask);
    }
    return walk;
}

// The lines dealt to SMs of both partitions in turn.
std::vector<Stream> dealt(const Strided& walk, Operation operation, bool partial) {
    std::vector<Stream> sms;
    for (int sm = 0; sm < kSms; ++sm) {
        Stream stream;
        stream.gpc = gpc_of(sm);
        const auto first = static_cast<std::size_t>(sm);
        stream.count = first < walk.lines.size()
                           ? static_cast<std::int64_t>((walk.lines.size() - first - 1) / kSms + 1)
                           : 0;
        stream.in_flight = 8;
        stream.gap = operation == Operation::Write ? from_ns(200) : 0;
        stream.request = [&walk, first, operation, partial](std::int64_t i) {
            const std::size_t k = first + static_cast<std::size_t>(i) * kSms;
            Request request;
            request.line = walk.lines[k];
            request.sectors = walk.masks[k];
            request.operation = operation;
            if (partial) request.partial = request.sectors;
            return request;
        };
        sms.push_back(stream);
    }
    return sms;
}

}  // namespace

TEST_CASE("One SM that reads a buffer again keeps 28 MiB and nothing of 36, as recorded") {
    const auto hardware = measured("one_sm_reads_all");
    std::map<int, Counts> model;
    for (const auto& [mib, row] : hardware) {
        INFO(mib << " MiB");
        const Counts counts = model[mib] = one_sm_reads_all(mib);
        CHECK(counts.misses == Approx(row.misses).margin(0.25));
        CHECK(counts.fabric_misses == Approx(row.fabric_misses).margin(0.30));
        CHECK(counts.fill == Approx(row.fill).margin(0.30));
        CHECK(counts.merged == 0);
    }
    CHECK(model[24].misses == Approx(1));                        // each sector once
    CHECK(model[40].misses == Approx(3));                        // each sector in each pass
    CHECK(model[40].fabric_misses == Approx(0.5).margin(0.01));  // but far ones are still at home
    CHECK(knee(model, &Counts::misses, 2) == Approx(knee(hardware, &Counts::misses, 2)).margin(1.5));
    // The home partition of the far half is full when all of the L2 is.
    CHECK(knee(model, &Counts::fabric_misses, 1) ==
          Approx(knee(hardware, &Counts::fabric_misses, 1)).margin(2));
}

TEST_CASE("SMs that each read their own part start to miss at 40 MiB, the model at 37, and thrash at 45") {
    // A partition then holds half of the buffer at home and a quarter as copies. Where the first sets are
    // overfull depends on where the buffer begins: at 35 to 40 MiB (31, of nine places, at one).
    const auto hardware = measured("each_sm_own_part");
    std::map<int, Counts> model;
    for (const auto& [mib, row] : hardware) {
        INFO(mib << " MiB");
        const Counts counts = model[mib] = each_sm_own_part(mib);
        if (mib <= 32 || mib >= 58) {
            CHECK(counts.misses == Approx(row.misses).margin(0.08));
            CHECK(counts.fill == Approx(row.fill).margin(0.08));
        } else {
            CHECK(counts.misses >= 1);
            CHECK(counts.misses <= 3);
        }
    }
    CHECK(model[36].misses < 1.15);
    CHECK(knee(model, &Counts::misses, 1.15) == Approx(knee(hardware, &Counts::misses, 1.15)).margin(4));
    CHECK(knee(model, &Counts::misses, 2) == Approx(knee(hardware, &Counts::misses, 2)).margin(1));
}

TEST_CASE("SMs that share a buffer, each from another offset, start to miss where a partition is full") {
    // Each partition holds all of it. The model's first overfull sets miss 4 MiB early, since each of 132 SMs
    // comes by; above the knee its SMs keep their distance and miss three to four times as often as the
    // hardware's, which catch up with each other.
    const auto hardware = measured("all_sms_share_rotated");
    std::map<int, Counts> model;
    const std::vector<int> sizes = test::kSanitized ? std::vector{16, 36} : std::vector{16, 24, 28, 32, 36};
    for (const int mib : sizes) model[mib] = all_sms_share(mib, 3, 1);
    for (const int mib : sizes) {
        if (mib > 24) continue;
        INFO(mib << " MiB");
        CHECK(model[mib].fill == Approx(1).margin(0.01));
        CHECK(model[mib].misses == Approx(hardware.at(mib).misses).margin(0.1));
        CHECK(model[mib].fabric_misses == Approx(hardware.at(mib).fabric_misses).margin(0.1));
    }
    CHECK(model[36].fill > hardware.at(36).fill);
    if (!test::kSanitized)
        CHECK(knee(model, &Counts::fill, 2) == Approx(knee(hardware, &Counts::fill, 2)).margin(4.5));
}

TEST_CASE("SMs in lockstep over one buffer merge four at a time") {
    // 16 SMs of a GPC need 4 entries, 18 need 5: 1 - (6 x 4 + 2 x 5) / 132 = .742 of the sectors merge.
    const Counts row = measured("all_sms_share_lockstep").at(16);
    const Counts counts = all_sms_share(16, 1, 0);
    CHECK(counts.merged == Approx(row.merged).margin(0.02));
    CHECK(counts.fill == Approx(row.fill).margin(0.01));
    // Which side's SM comes first decides who misses: here a line's near SMs nearly always do.
    CHECK(counts.misses == Approx(row.misses).margin(0.25));
}

TEST_CASE("Strided reads of 4 B fetch 64 B around them") {
    for (const auto& row : recorded_rows(kFile, {{"pattern", "read_4B_per_stride"}})) {
        INFO("stride " << row["size"]);
        StreamRun run(h200(), {20}, 47);
        const Strided walk = strided_lines(run, static_cast<std::uint64_t>(row["size"]));
        run.run(dealt(walk, Operation::Read, false));
        const Events events = run.events();
        const auto model = per_sector(events, walk.accesses);
        const double asked = row["lrc__request_sectors_op_read_coalescable.sum"];
        const auto hardware = per_sector(row, asked);
        CHECK(model.fill == Approx(hardware.fill).margin(0.01));
        CHECK(model.misses == Approx(hardware.misses).margin(0.01));
        CHECK(static_cast<double>(events[Event::TexReadPromoted]) / walk.accesses ==
              Approx(row["lts__t_sectors_lookup_miss_data_promoted.sum"] / asked).margin(0.01));
        // Half of the lines are far: 12 % of a lane's lines at 4096 B, few, are the sampling error.
        CHECK(model.fabric_misses == Approx(hardware.fabric_misses).epsilon(0.13));
    }
}

TEST_CASE("Writes of whole sectors fill nothing, and half of them cross the fabric") {
    const auto row = recorded_rows(kFile, {{"pattern", "write_16B_per_thread"}}).front();
    const double written = row["lts__t_sectors_srcunit_tex.sum"];
    StreamRun run(h200(), {3, 20, 36}, 47.0 / 3);
    const Strided walk = strided_lines(run, 32);
    run.run(dealt(walk, Operation::Write, false));
    const auto share = [&](Event event) { return static_cast<double>(run.events()[event]) / walk.accesses; };
    CHECK(share(Event::TexWriteSectors) == 1);
    CHECK(share(Event::FillSectors) == 0);
    CHECK(row["lts__d_sectors_fill_device.sum"] / written < 0.001);
    CHECK(share(Event::FabricWriteSectors) ==
          Approx(row["lts__t_sectors_srcunit_ltcfabric.sum"] / written).margin(0.02));
    // The hardware leaves 26 MiB dirty at the end, the model all 58.75 MiB of the L2.
    CHECK(share(Event::WritebackSectors) == Approx(row["dram__sectors_write.sum"] / written).margin(0.15));
}

TEST_CASE("Writes of parts of sectors fetch them") {
    for (const auto& row : recorded_rows(kFile, {{"pattern", "write_4B_per_stride"}})) {
        INFO("stride " << row["size"]);
        StreamRun run(h200(), {20}, 47);
        const Strided walk = strided_lines(run, static_cast<std::uint64_t>(row["size"]));
        run.run(dealt(walk, Operation::Write, true));
        const auto share = [&](Event event) {
            return static_cast<double>(run.events()[event]) / walk.accesses;
        };
        const double written = row["lts__t_sectors_srcunit_tex.sum"];
        // The hardware joins 3 to 6 % of the partial writes before they fetch.
        CHECK(share(Event::FillSectors) ==
              Approx(row["lts__d_sectors_fill_device.sum"] / written).margin(0.06));
        CHECK(share(Event::FabricWriteSectors) ==
              Approx(row["lts__t_sectors_srcunit_ltcfabric.sum"] / written).margin(0.02));
    }
}
