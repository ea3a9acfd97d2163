// SPDX-License-Identifier: Apache-2.0
// Traces of other tools. The expected requests are counted by hand from what the lanes touch.
#include "import/import.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "load/machine_file.hpp"
#include "machine/topology.hpp"
#include "support/catch.hpp"
#include "support/complaint.hpp"

#include "import/access_csv.hpp"
#include "import/coalesce.hpp"
#include "import/nvbit.hpp"

using namespace l2lens;

namespace {

WarpAccess lanes_at(std::uint64_t first, std::uint64_t stride, int lanes, std::uint32_t width,
                    Operation operation = Operation::Read) {
    WarpAccess access;
    access.operation = operation;
    access.width = width;
    access.lanes = lanes;
    for (int lane = 0; lane < lanes; ++lane)
        access.address[static_cast<std::size_t>(lane)] = first + static_cast<std::uint64_t>(lane) * stride;
    return access;
}

std::vector<ByteRun> runs_of(const WarpAccess& access) {
    std::vector<ByteRun> runs;
    coalesce(access, runs);
    return runs;
}

std::string fixture() {
    std::ifstream file(std::string(L2LENS_SOURCE_DIR) + "/tests/unit/fixtures/vectoradd.traceg");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<WarpAccess> accesses_of(const std::string& text, ForeignLaunch* launch = nullptr) {
    std::vector<WarpAccess> all;
    std::istringstream in(text);
    const ForeignLaunch read = read_nvbit(in, "t.traceg", [&](const WarpAccess& a) { all.push_back(a); });
    if (launch != nullptr) *launch = read;
    return all;
}

ImportedTrace import_text(const std::string& text, ForeignFormat format, const Machine& machine,
                          int ctas = 0) {
    std::istringstream in(text);
    return import_trace(in, "t", format, machine, ctas);
}

std::string error_of(const std::string& text, ForeignFormat format) {
    return test::complaint_of([&] { import_text(text, format, load_machine("h200")); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return text;
}

}  // namespace

TEST_CASE("Neighbouring lanes make one request a line, scattered ones a sector each", "[import]") {
    // 32 lanes x 4 B from a line's begin: one whole line.
    CHECK(runs_of(lanes_at(1280, 4, 32, 4)) == std::vector<ByteRun>{{1280, 128}});
    // x 16 B: four lines.
    CHECK(runs_of(lanes_at(1280, 16, 32, 16)).size() == 4);
    // Shifted by 4 B: 31 lanes in one line, the last in the next, of which one sector is asked for.
    CHECK(runs_of(lanes_at(1284, 4, 32, 4)) == std::vector<ByteRun>{{1280, 128}, {1408, 32}});
    // Every 64 B: two separate sectors of each of 16 lines.
    const auto strided = runs_of(lanes_at(0, 64, 32, 4));
    REQUIRE(strided.size() == 32);
    CHECK(strided[0] == ByteRun{0, 32});
    CHECK(strided[1] == ByteRun{64, 32});
    // All lanes at one address: a sector once.
    CHECK(runs_of(lanes_at(4096, 0, 32, 4)) == std::vector<ByteRun>{{4096, 32}});
    // In whichever order the lanes stand.
    WarpAccess backwards = lanes_at(1280, 4, 32, 4);
    std::reverse(backwards.address.begin(), backwards.address.end());
    CHECK(runs_of(backwards) == std::vector<ByteRun>{{1280, 128}});
}

TEST_CASE("What Morton order within 4 x 4 tiles does to a warp's requests", "[import]") {
    // The texture of Composable Kernel's Morton example: fp32, 32 cells wide. A warp reads 32 cells of a row
    // or of a column, or two neighbouring tiles, stored in rows or in Morton order tile by tile.
    const auto in_rows = [](std::uint64_t y, std::uint64_t x) { return 4 * (32 * y + x); };
    const auto in_morton = [](std::uint64_t y, std::uint64_t x) {
        const std::uint64_t in_tile = (y & 2) << 2 | (x & 2) << 1 | (y & 1) << 1 | (x & 1);
        return 4 * (16 * (y / 4 * 8 + x / 4) + in_tile);
    };
    struct Count {
        std::size_t lines, sectors;
    };
    const auto count = [](auto&& address_of_lane) {
        WarpAccess access;
        access.lanes = 32;
        for (std::size_t lane = 0; lane < 32; ++lane) access.address[lane] = address_of_lane(lane);
        Count counted{0, 0};
        std::uint64_t last = ~std::uint64_t{0};
        for (const ByteRun& run : runs_of(access)) {
            if (run.address / 128 != last) ++counted.lines;
            last = run.address / 128;
            counted.sectors += run.bytes / 32u;
        }
        return counted;
    };
    const auto row = [&](auto&& at) { return count([&](std::uint64_t lane) { return at(0, lane); }); };
    const auto column = [&](auto&& at) { return count([&](std::uint64_t lane) { return at(lane, 0); }); };
    const auto tiles = [&](auto&& at) {
        return count([&](std::uint64_t lane) { return at(lane % 16 / 4, lane / 16 * 4 + lane % 4); });
    };
    CHECK((row(in_rows).lines == 1 && row(in_rows).sectors == 4));
    CHECK((column(in_rows).lines == 32 && column(in_rows).sectors == 32));
    CHECK((tiles(in_rows).lines == 4 && tiles(in_rows).sectors == 4));
    CHECK((row(in_morton).lines == 4 && row(in_morton).sectors == 8));  // half of each sector goes unused
    CHECK((column(in_morton).lines == 8 && column(in_morton).sectors == 16));
    CHECK((tiles(in_morton).lines == 1 && tiles(in_morton).sectors == 4));
}

TEST_CASE("Stores keep the bytes that they write", "[import]") {
    CHECK(runs_of(lanes_at(1284, 4, 3, 4, Operation::Write)) == std::vector<ByteRun>{{1284, 12}});
    // Two bytes of every four: a run each.
    CHECK(runs_of(lanes_at(0, 4, 4, 2, Operation::Write)).size() == 4);
}

TEST_CASE("An NVBit trace as Accel-Sim writes it: addresses in all three forms", "[import]") {
    ForeignLaunch launch;
    const auto all = accesses_of(fixture(), &launch);
    CHECK(launch.kernel == "_Z9vectorAddPKfS0_Pfi");
    CHECK(launch.resources.threads == 64);
    CHECK(launch.resources.registers_per_thread == 16);
    REQUIRE(all.size() == 2 * 3 + 3 + 2);
    CHECK(all[0].address[31] == 0x7f2b3fc0007c);  // base and stride
    CHECK(all[0].instruction == 1);
    CHECK(all[2].operation == Operation::Write);
    CHECK(all[3].warp == 1);
    CHECK(all[7].lanes == 16);  // base and differences, half of the warp
    CHECK(all[7].address[15] == 0x7f2b3fc0113c);
    CHECK(all[9].cta == 1);
    CHECK(all[9].lanes == 1);  // of a generic load's two lanes one reads shared memory
    CHECK(all[9].address[0] == 0x7f2b3fc00140);
    CHECK(all[9].width == 8);
    CHECK(all[10].adds);
}

TEST_CASE("An imported vector addition asks the L2 for each line once", "[import]") {
    Machine machine = load_machine("h200");
    const ImportedTrace trace = import_text(fixture(), ForeignFormat::Nvbit, machine);
    CHECK(trace.ctas == 2);
    CHECK(trace.ctas_per_sm == 32);
    CHECK(trace.warp_accesses == 11);
    // CTA 0: two lines of A, B and C each; CTA 1: half a line of each, a sector of A again (it lies in the
    // next 64 B) and a sector that is added to.
    CHECK(trace.sectors == 3 * 8 + 3 * 2 + 1 + 1);
    std::uint64_t reads = 0;
    for (const LineRecord& request : trace.requests) {
        CHECK(request.address < (1u << 21));  // one page of virtual addresses, now the lowest
        reads += request.operation == Operation::Read ? 1 : 0;
        CHECK(request.sm < machine.sms.size());
    }
    CHECK(reads == 2 * 2 + 2 + 1);
    // CTAs go to different SMs, the first two of the machine's table.
    CHECK(machine.sms[trace.requests.front().sm].first_wave_position < 2);
}

TEST_CASE("What a CTA reads again on its SM comes from the L1", "[import]") {
    // One warp reads a line, and then again.
    const std::string text =
        "cta,warp,instruction,op,address,bytes\n0,0,0,R,0x1000,128\n0,0,5,R,0x1000,128\n0,1,9,R,4096,64\n";
    const Machine h200 = load_machine("h200");
    const ImportedTrace with = import_text(text, ForeignFormat::Csv, h200);
    CHECK(with.l1_sectors == 4 + 4 + 2);
    CHECK(with.l1_hits == 4 + 2);
    CHECK(with.requests.size() == 1);
    Machine without = h200;
    without.sm.l1_bytes = 0;
    CHECK(import_text(text, ForeignFormat::Csv, without).requests.size() == 3);
}

TEST_CASE("CSV rows of one instruction are lanes of one access", "[import]") {
    std::string text = "cta,warp,instruction,op,address,bytes,path\n";
    for (int lane = 0; lane < 32; ++lane)
        text += "0,0,7,R," + std::to_string(8192 + 4 * lane) + ",4,cp.async\n";
    text += "0,0,8,A,8192,4,\n";
    const ImportedTrace trace = import_text(text, ForeignFormat::Csv, load_machine("h200"));
    CHECK(trace.warp_accesses == 2);
    REQUIRE(trace.requests.size() == 2);
    CHECK(trace.requests[0].bytes == 128);
    CHECK(trace.requests[0].path == Path::CpAsync);
    CHECK(trace.requests[1].operation == Operation::Write);
    CHECK(trace.requests[1].reduce);
    CHECK_FALSE(trace.requests[0].reduce);
    CHECK(trace.l1_sectors == 0);
}

TEST_CASE("CTAs follow one another where a place falls free, in turn over the dies of an MI300X",
          "[import]") {
    std::string text = "cta,warp,instruction,op,address,bytes\n";
    for (int cta = 0; cta < 40; ++cta)
        text += std::to_string(cta) + ",0,0,R," + std::to_string(4096 * cta) + ",32\n";
    Machine machine = load_machine("mi300x");
    for (const LineRecord& request : import_text(text, ForeignFormat::Csv, machine).requests) {
        const auto cta = request.address / 4096;
        CHECK(machine.sms[request.sm].partition == static_cast<int>(cta % 8));
    }
    keep_sms(machine, 8);
    std::vector<int> ctas_of_sm(8, 0);
    for (const LineRecord& request : import_text(text, ForeignFormat::Csv, machine).requests)
        ++ctas_of_sm[request.sm];
    CHECK(ctas_of_sm == std::vector<int>(8, 5));
    // Dies that keep no SM are passed over.
    keep_sms(machine, 3);
    std::vector<int> ctas_of_three(3, 0);
    for (const LineRecord& request : import_text(text, ForeignFormat::Csv, machine).requests)
        ++ctas_of_three[request.sm];
    std::ranges::sort(ctas_of_three);
    CHECK(ctas_of_three == std::vector<int>{13, 13, 14});
}

TEST_CASE("Cells of a CSV may be quoted", "[import]") {
    const std::string plain = "cta,warp,instruction,op,address,bytes,path\n0,1,7,W,0x1000,64,ld\n";
    const std::string quoted =
        "\"cta\",\"warp\",instruction,\"op\",address, \"bytes\" ,path\r\n"
        "\"0\",1,\"7\", \"W\",\"0x1000\",\"64\",\"ld\"\r\n";
    const Machine machine = load_machine("h200");
    const auto requests = import_text(plain, ForeignFormat::Csv, machine).requests;
    CHECK(requests.size() == 1);
    CHECK(import_text(quoted, ForeignFormat::Csv, machine).requests == requests);
}

TEST_CASE("What does not parse is refused with its line", "[import]") {
    const std::string good = fixture();
    const auto nvbit = [&](const std::string& from, const std::string& to) {
        return error_of(replaced(good, from, to), ForeignFormat::Nvbit);
    };
    CHECK(nvbit("0010 ffffffff", "0010 xyz").find("t:24: mask 'xyz' is no number") != std::string::npos);
    CHECK(nvbit("4 1 0x7f2b3fc00000", "4 3 0x7f2b3fc00000").find("address format 3") != std::string::npos);
    CHECK(nvbit("#END_TB\n\n#BEGIN_TB", "#BEGIN_TB").find("inside a thread block") != std::string::npos);
    CHECK(nvbit("version = 4", "version = 2").find("version 3") != std::string::npos);
    CHECK(nvbit("LDG.E.SYS", "UTMALDG.2D").find("bulk copies are not read") != std::string::npos);
    CHECK(error_of(good.substr(0, good.rfind("#END_TB")), ForeignFormat::Nvbit).find("#END_TB is missing") !=
          std::string::npos);
    CHECK(error_of("hello\n", ForeignFormat::Nvbit).find("outside a thread block") != std::string::npos);
    CHECK(error_of("", ForeignFormat::Nvbit).find("no thread block") != std::string::npos);

    const std::string header = "cta,warp,instruction,op,address,bytes\n";
    CHECK(error_of("", ForeignFormat::Csv).find("has no header") != std::string::npos);
    CHECK(error_of("cta,warp\n", ForeignFormat::Csv).find("'instruction' is missing") != std::string::npos);
    CHECK(error_of("cta,wrap\n", ForeignFormat::Csv).find("unknown column 'wrap'") != std::string::npos);
    CHECK(error_of(header + "0,0,0,X,1,4\n", ForeignFormat::Csv).find("t:2: op 'X'") != std::string::npos);
    CHECK(error_of(header + "0,0,0,R,1\n", ForeignFormat::Csv).find("t:2: 5 cells") != std::string::npos);
    CHECK(error_of(header + "0,0,0,R,1,0\n", ForeignFormat::Csv).find("0 bytes") != std::string::npos);
    const auto csv = [&](const std::string& row) { return error_of(header + row, ForeignFormat::Csv); };
    CHECK(csv("0,0,0,R,1,4\n0,64,0,R,1,4\n0,0,1,R,1,4\n") == "t:3: warp 64; a CTA has warps 0 to 31");
    CHECK(csv("0,0,0,R,1,4\n9999999,0,0,R,1,4\n").starts_with("t:3: CTA 9999999 comes after 1 CTAs"));
    CHECK(csv("0,0,9223372036854775807,R,1,4\n") ==
          "t:2: instruction '9223372036854775807' is out of range; at most 4294967294");
    CHECK(csv("0,0,4294967295,R,1,4\n").starts_with("t:2: instruction '4294967295' is out of range"));
    CHECK(csv("0,0,0x,R,1,4\n") == "t:2: instruction '0x' is no number");
    CHECK(csv("0,0,0,R,0,4\n0,0,0,R,0xffffffffffffffff,16\n") ==
          "t:3: the 16 bytes at 0xffffffffffffffff reach beyond 64 bits");
    CHECK(csv("0,0,0,R,0xfffffffffffffff0,16\n").empty());
    CHECK(csv("0,0,0,\"R,1,4\n") == "t:2: a quoted cell is never closed");
    CHECK(csv("0,0,0,\"R\"W,1,4\n") == "t:2: something stands between a quoted cell and the next comma");
    CHECK(error_of("cta,warp,op,op\n", ForeignFormat::Csv) == "t:1: column 'op' is there twice");
    CHECK(nvbit("4 1 0x7f2b3fc00000", "4 1 0xfffffffffffffffe").find("reach beyond 64 bits") !=
          std::string::npos);
    CHECK(error_of(header, ForeignFormat::Csv).find("no access") != std::string::npos);
}
