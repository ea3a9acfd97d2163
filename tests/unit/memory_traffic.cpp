// SPDX-License-Identifier: Apache-2.0
// Traffic whose counts and latencies have closed forms, through a lane of the teaching GPU (gpus/tiny.toml:
// two partitions of 4 sets of 4 lines, even lines at home in partition 0, odd ones in partition 1).
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/streams.hpp"

using namespace l2lens;
using test::adds;
using test::reads;
using test::StreamRun;
using test::writes;

namespace {

constexpr int kNear = 0;  // a GPC of partition 0, and one of partition 1
constexpr int kFar = 1;

struct Tiny {
    Machine machine = load_machine("tiny");
    StreamRun run{machine, {0}, 1};

    Events events() const { return run.events(); }
    std::uint64_t operator[](Event event) const { return run.events()[event]; }
};

std::vector<LineNumber> range(LineNumber first, std::size_t count, LineNumber step = 1) {
    std::vector<LineNumber> lines(count);
    for (std::size_t i = 0; i < count; ++i) lines[i] = first + static_cast<LineNumber>(i) * step;
    return lines;
}

// The first `count` lines of a home that lie in set `set`.
std::vector<LineNumber> lines_of_set(const AddressMap& map, int home, std::uint32_t set, std::size_t count) {
    std::vector<LineNumber> lines;
    for (LineNumber line = 0; lines.size() < count; ++line)
        if (map.home(line) == home && map.set(line) == set) lines.push_back(line);
    return lines;
}

Picoseconds latency_of_one_read(Tiny& tiny, LineNumber line, SectorMask sectors = kWholeLine) {
    const std::vector<LineNumber> lines{line};
    tiny.run.run({reads(kNear, lines, 1, sectors)});
    return tiny.run.arrivals().back();
}

}  // namespace

TEST_CASE("A stream of lines fills each of them once") {
    Tiny tiny;
    const auto lines = range(0, 1000);
    tiny.run.run({reads(kNear, lines)});
    CHECK(tiny[Event::FillSectors] == 4000);  // bytes / 32
    CHECK(tiny[Event::TexReadSectors] == 4000);
    CHECK(tiny[Event::TexReadMisses] == 4000);
    CHECK(tiny[Event::TexReadHits] == 0);
    CHECK(tiny[Event::FabricReadSectors] == 2000);  // odd lines are at home over there
    CHECK(tiny[Event::FabricReadMisses] == 2000);
    CHECK(tiny[Event::WritebackSectors] == 0);
}

TEST_CASE("Half lines through a tensor map fill whole lines") {
    Tiny tiny;
    const auto lines = range(0, 1000);
    tiny.run.run({reads(kNear, lines, 1, 0x3, Fetch::Tensor)});
    CHECK(tiny[Event::TexReadMisses] == 2000);
    CHECK(tiny[Event::TexReadPromoted] == 2000);
    CHECK(tiny[Event::FillSectors] == 4000);
}

TEST_CASE("Plain reads of 4 B in every 64 or 128 B fetch 64 B, in every 32 B nothing extra") {
    // read_4B_per_stride in traces/h200/microbenchmarks.csv, per line: the sectors that a warp asks for.
    struct Row {
        SectorMask asked;
        std::uint64_t misses, promoted, fill;
    };
    for (const Row& row : {Row{0xF, 4, 0, 4}, Row{0x5, 2, 2, 4}, Row{0x1, 1, 1, 2}, Row{0x8, 1, 1, 2}}) {
        INFO("sectors " << int{row.asked});
        Tiny tiny;
        const auto lines = range(0, 100);
        tiny.run.run({reads(kNear, lines, 1, row.asked, Fetch::Plain)});
        CHECK(tiny[Event::TexReadMisses] == 100 * row.misses);
        CHECK(tiny[Event::TexReadPromoted] == 100 * row.promoted);
        CHECK(tiny[Event::FillSectors] == 100 * row.fill);
    }
}

TEST_CASE("A promoted sector is a hit for the next read") {
    Tiny tiny;
    const auto lines = range(0, 8);
    tiny.run.run({reads(kNear, lines, 1, 0x1, Fetch::Plain)});
    tiny.run.run({reads(kNear, lines, 1, 0x2, Fetch::Plain)});
    CHECK(tiny[Event::TexReadHits] == 8);
    CHECK(tiny[Event::FillSectors] == 16);
    tiny.run.run({reads(kNear, lines, 1, 0xF, Fetch::Plain)});  // the other half is still missing
    CHECK(tiny[Event::TexReadHits] == 8 + 16);
    CHECK(tiny[Event::FillSectors] == 32);
}

TEST_CASE("Blocks that fit are filled once however often they are read") {
    Tiny tiny;
    std::uint64_t fill = 0;
    std::uint64_t hits = 0;
    for (LineNumber block = 0; block < 10; ++block) {
        const auto lines = range(block * 16, 16);  // a partition full: near lines and copies
        tiny.run.run({reads(kNear, lines, 5)});
        fill += 16 * 4;
        hits += 4 * 16 * 4;
        CHECK(tiny[Event::FillSectors] == fill);
        CHECK(tiny[Event::TexReadHits] == hits);
        CHECK(tiny[Event::FabricReadSectors] == fill / 2);
    }
}

TEST_CASE("A cyclic sweep over a set and one line more misses every time, near lines in DRAM") {
    Tiny tiny;
    const auto lines = lines_of_set(tiny.run.map(), 0, 2, 5);
    tiny.run.run({reads(kNear, lines, 6)});
    CHECK(tiny[Event::TexReadHits] == 0);
    CHECK(tiny[Event::FillSectors] == 6 * 5 * 4);
    CHECK(tiny[Event::FabricReadSectors] == 0);
}

TEST_CASE("Copies that do not fit are fetched from the home partition again, not from DRAM") {
    // Eight lines of either home in each set of the reader would be overfull; four far ones fit at home.
    Tiny tiny;
    auto lines = lines_of_set(tiny.run.map(), 0, 1, 2);
    const auto far = lines_of_set(tiny.run.map(), 1, 1, 4);
    lines.insert(lines.end(), far.begin(), far.end());
    constexpr std::uint64_t kPasses = 5;
    tiny.run.run({reads(kNear, lines, kPasses)});
    CHECK(tiny[Event::TexReadHits] == 0);
    CHECK(tiny[Event::FabricReadSectors] == kPasses * 4 * 4);
    CHECK(tiny[Event::FabricReadMisses] == 4 * 4);
    CHECK(tiny[Event::FillSectors] == 4 * 4 + kPasses * 2 * 4);
}

TEST_CASE("A line read from both sides is filled once and held twice") {
    // Near reader first: one miss on each side, the home lookup hits. Far reader first: the home lookup
    // misses and the near reader hits.
    for (const bool near_first : {true, false}) {
        INFO(near_first);
        Tiny tiny;
        const auto lines = range(0, 8, 2);  // at home in partition 0
        tiny.run.run({reads(near_first ? kNear : kFar, lines)});
        tiny.run.run({reads(near_first ? kFar : kNear, lines)});
        CHECK(tiny[Event::FillSectors] == 32);
        CHECK(tiny[Event::TexReadMisses] == (near_first ? 64 : 32));
        CHECK(tiny[Event::FabricReadSectors] == 32);
        CHECK(tiny[Event::FabricReadMisses] == (near_first ? 0 : 32));
        tiny.run.reset_events();
        tiny.run.run({reads(kNear, lines), reads(kFar, lines)});
        CHECK(tiny[Event::TexReadHits] == 64);
        CHECK(tiny[Event::FabricReadSectors] == 0);
    }
}

TEST_CASE("Whole-sector writes fill nothing, and those of far lines cross the fabric") {
    Tiny tiny;
    const auto lines = range(0, 1000);
    tiny.run.run({writes(kNear, lines)});
    CHECK(tiny[Event::TexWriteSectors] == 4000);
    CHECK(tiny[Event::FabricWriteSectors] == 2000);
    CHECK(tiny[Event::FillSectors] == 0);
    CHECK(tiny[Event::TexWriteMisses] == 0);
    // All but what the two partitions of 16 lines still hold.
    CHECK(tiny[Event::WritebackSectors] <= 4000);
    CHECK(tiny[Event::WritebackSectors] >= 4000 - 2 * 16 * 4);
}

TEST_CASE("Writes that stay in the L2 reach DRAM only when they are pushed out") {
    Tiny tiny;
    const auto written = lines_of_set(tiny.run.map(), 0, 3, 4);
    tiny.run.run({writes(kNear, written, 0x3)});
    CHECK(tiny[Event::WritebackSectors] == 0);
    tiny.run.run({reads(kNear, written, 1, 0x3)});
    CHECK(tiny[Event::TexReadHits] == 8);
    const auto others = lines_of_set(tiny.run.map(), 0, 3, 8);
    const std::vector<LineNumber> new_ones(others.begin() + 4, others.end());
    tiny.run.run({reads(kNear, new_ones)});
    CHECK(tiny[Event::WritebackSectors] == 8);
}

TEST_CASE("What is added to is fetched once, where the line is at home") {
    Tiny tiny;
    const auto lines = range(0, 10);
    tiny.run.run({adds(kNear, lines, 0x1)});
    CHECK(tiny[Event::FillSectors] == 10);
    CHECK(tiny[Event::TexWriteMisses] == 5);
    CHECK(tiny[Event::FabricReadMisses] == 5);
    tiny.run.run({adds(kNear, lines, 0x1)});  // now they are there
    CHECK(tiny[Event::FillSectors] == 10);
}

TEST_CASE("Sectors written in part miss nothing, and are fetched when they are read or leave") {
    const auto lines = range(0, 10);
    Tiny read;
    read.run.run({writes(kNear, lines, 0x3, 0x1)});
    CHECK(read[Event::FillSectors] == 0);
    CHECK(read[Event::TexWriteMisses] == 0);
    read.run.run({reads(kNear, lines, 1, 0x1)});
    CHECK(read[Event::FillSectors] == 3 * 10);  // a miss fills the line, of which one sector is there
    Tiny pushed_out;
    const auto written = lines_of_set(pushed_out.run.map(), 0, 3, 4);
    pushed_out.run.run({writes(kNear, written, 0x3, 0x1)});
    const auto others = lines_of_set(pushed_out.run.map(), 0, 3, 12);  // each of the four stays for one more
    const std::vector<LineNumber> new_ones(others.begin() + 4, others.end());
    pushed_out.run.run({reads(kNear, new_ones)});
    CHECK(pushed_out[Event::WritebackSectors] == 8);
    CHECK(pushed_out[Event::FillSectors] == 8 * 4 + 4);
}

TEST_CASE("A line that was read to be evicted first leaves its home first, though it was read from afar") {
    Tiny tiny;
    const auto lines = lines_of_set(tiny.run.map(), 0, 3, 5);  // of a set of 4
    const std::vector<LineNumber> older(lines.begin(), lines.begin() + 3), hinted{lines[3]}, last{lines[4]};
    tiny.run.run({reads(kNear, older)});
    test::Stream far = reads(kFar, hinted);
    far.request = [request = far.request](std::int64_t i) {
        Request first = request(i);
        first.priority = SectorCache::Priority::EvictFirst;
        return first;
    };
    tiny.run.run({far});
    tiny.run.run({reads(kNear, last)});
    const std::uint64_t fills = tiny[Event::FillSectors];
    tiny.run.run({reads(kNear, older)});
    CHECK(tiny[Event::FillSectors] == fills);
}

TEST_CASE("A far write leaves a copy, which takes the place of another line") {
    Tiny tiny;
    const auto near = lines_of_set(tiny.run.map(), 0, 1, 4);
    const auto far = lines_of_set(tiny.run.map(), 1, 1, 1);
    tiny.run.run({reads(kNear, near)});
    tiny.run.run({writes(kNear, far)});
    tiny.run.reset_events();
    tiny.run.run({reads(kNear, far)});
    CHECK(tiny[Event::TexReadHits] == 4);
    CHECK(tiny[Event::FabricReadSectors] == 0);
    tiny.run.reset_events();
    const std::vector<LineNumber> youngest(near.begin() + 1, near.end());
    tiny.run.run({reads(kNear, youngest)});
    CHECK(tiny[Event::TexReadHits] == 12);
    const std::vector<LineNumber> oldest(near.begin(), near.begin() + 1);
    tiny.run.run({reads(kNear, oldest)});
    CHECK(tiny[Event::TexReadMisses] == 4);
}

TEST_CASE("A far write of parts of sectors leaves nothing to read") {
    Tiny tiny;
    const auto far = lines_of_set(tiny.run.map(), 1, 1, 1);
    tiny.run.run({writes(kNear, far, 0x3, 0x1)});
    tiny.run.reset_events();
    tiny.run.run({reads(kNear, far, 0x3)});
    CHECK(tiny[Event::TexReadHits] == 1);  // the sector that was written whole
}

TEST_CASE("A single read takes the sum of its way's latencies") {
    // gpus/tiny.toml: 20 ns to and from the slice, 10 from tag to data, 10 to a miss, 30 each way over the
    // fabric, 100 for DRAM and 2 for each sector of its bandwidth, 1 for four sectors through an output port,
    // 4 through the fabric.
    Tiny tiny;
    CHECK(latency_of_one_read(tiny, 0) == from_ns(20 + 10 + 8 + 100 + 1 + 20));
    CHECK(latency_of_one_read(tiny, 0) == from_ns(20 + 10 + 1 + 20));
    CHECK(latency_of_one_read(tiny, 1) == from_ns(20 + 10 + 30 + 10 + 8 + 100 + 4 + 30 + 1 + 20));
    CHECK(latency_of_one_read(tiny, 1) == from_ns(20 + 10 + 1 + 20));
    const std::vector<LineNumber> line{3};
    tiny.run.run({reads(kFar, line)});  // so that a far-homed line is at home and not here
    CHECK(latency_of_one_read(tiny, 3) == from_ns(20 + 10 + 30 + 10 + 4 + 30 + 1 + 20));
}

TEST_CASE("Reads of an outstanding line are hits that wait for it") {
    Tiny tiny;
    const std::vector<LineNumber> line{0};
    auto second = reads(kNear, line);
    second.latency = from_ns(60);  // joins the coalescer's entry
    auto other_sectors = reads(kNear, line, 1, 0x3);
    other_sectors.latency = from_ns(60);  // does not
    tiny.run.run({reads(kNear, line), second, other_sectors});
    CHECK(tiny[Event::MergedSectors] == 4);
    CHECK(tiny[Event::TexReadSectors] == 6);
    CHECK(tiny[Event::TexReadHits] == 2);
    CHECK(tiny[Event::FillSectors] == 4);
    CHECK(tiny.run.arrivals().size() == 2);
    const Picoseconds first = from_ns(20 + 10 + 8 + 100 + 1 + 20);
    CHECK(tiny.run.arrivals()[0] == first);
    CHECK(tiny.run.arrivals()[1] == first + from_ns(0.5));  // two sectors more through the output port
}

TEST_CASE("SMs in lockstep merge four to an entry, and only within a GPC") {
    // n = 2, 3, 4, 5, 6, 8: 2, 3, 4, 2.5, 3, 4 requests a sector, as measured on an H200.
    for (const int n : {1, 2, 3, 4, 5, 6, 8, 12}) {
        INFO(n << " SMs");
        Tiny tiny;
        const auto lines = range(0, 200);
        std::vector<test::Stream> sms;
        for (int sm = 0; sm < n; ++sm) sms.push_back(reads(kNear, lines));
        for (auto& sm : sms) sm.gap = from_ns(500);
        tiny.run.run(sms);
        const int entries = (n + 3) / 4;
        CHECK(tiny[Event::CoalescableSectors] == static_cast<std::uint64_t>(n) * 800);
        CHECK(tiny[Event::TexReadSectors] == static_cast<std::uint64_t>(entries) * 800);
        CHECK(tiny[Event::FillSectors] == 800);
        for (auto& sm : sms) sm.gpc = static_cast<int>(&sm - sms.data()) % 2;
        Tiny both;
        both.run.run(sms);
        const int of_each = ((n + 1) / 2 + 3) / 4 + (n / 2 + 3) / 4;
        CHECK(both[Event::TexReadSectors] == static_cast<std::uint64_t>(of_each) * 800);
    }
}

TEST_CASE("Sectors that are filled are those that missed on the way to DRAM") {
    // The identity that the recorded counters obey: fill = (tex misses - fabric reads) + fabric misses.
    RandomStream random(11, 0);
    for (int round = 0; round < 20; ++round) {
        INFO("round " << round);
        Tiny tiny;
        std::vector<std::vector<LineNumber>> lines(4);
        std::vector<test::Stream> streams;
        for (std::size_t s = 0; s < lines.size(); ++s) {
            for (int i = 0; i < 300; ++i) lines[s].push_back(random.below(60));
            const auto mask = static_cast<SectorMask>(1 + random.below(15));
            const int gpc = static_cast<int>(random.below(2));
            streams.push_back(s == 3 ? adds(gpc, lines[s], mask)
                                     : reads(gpc, lines[s], 1, mask, s == 0 ? Fetch::Plain : Fetch::Tensor));
        }
        tiny.run.run(streams);
        const Events e = tiny.events();
        CHECK(e[Event::FillSectors] == e[Event::TexReadMisses] + e[Event::TexReadPromoted] +
                                           e[Event::TexWriteMisses] - e[Event::FabricReadSectors] +
                                           e[Event::FabricReadMisses]);
        CHECK(e[Event::TexReadSectors] == e[Event::TexReadHits] + e[Event::TexReadMisses]);
        CHECK(e[Event::CoalescableSectors] == e[Event::TexReadSectors] + e[Event::MergedSectors]);
        CHECK(e[Event::DeliveredSectors] == e[Event::CoalescableSectors]);
        CHECK(e[Event::FabricReadSectors] >= e[Event::FabricReadHits]);
    }
}

TEST_CASE("A line stored to be evicted first leaves before older ones") {
    Tiny tiny;
    auto lines = lines_of_set(tiny.run.map(), 0, 2, 5);  // one more than the set holds
    const LineNumber hinted = lines[2];
    test::Stream stores = writes(kNear, lines);
    const auto plain = stores.request;
    stores.request = [plain, hinted](std::int64_t i) {
        Request request = plain(i);
        if (request.line == hinted) request.priority = SectorCache::Priority::EvictFirst;
        return request;
    };
    tiny.run.run({stores});
    tiny.run.reset_events();
    std::erase(lines, hinted);
    tiny.run.run({reads(kNear, lines)});
    CHECK(tiny[Event::TexReadMisses] == 0);
    tiny.run.run({reads(kNear, std::vector<LineNumber>{hinted})});
    CHECK(tiny[Event::TexReadMisses] == kSectorsPerLine);
}
