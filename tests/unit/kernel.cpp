// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernel/box_lines.hpp"
#include "kernel/residency.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "load/model_path.hpp"
#include "support/catch.hpp"
#include "support/complaint.hpp"
#include "support/temporary_file.hpp"

using namespace l2lens;

namespace {

using Arguments = std::vector<std::string>;

// A whole kernel, with one line to break.
std::string kernel_text(const std::string& returns, const std::string& params = "{\"m\", 256, \"rows\"}",
                        const std::string& before = "") {
    return "about = 'a test'\nparams = { " + params +
           " }\nfunction kernel(p, gpu)\n  local A = tensor('A', {256, 64}, 'bf16')\n  " + before +
           "\n  return { grid = {{'m', 2}, {'n', 1}}, program = function(m, n)\n    return {{loads = {box(A, "
           "{m * 128, 0}, {128, 64})}}}\n  end, " +
           returns + " }\nend\n";
}

Kernel load_text(const std::string& text, const Arguments& arguments = {}, const Machine* machine = nullptr) {
    const TemporaryFile file(".lua", text);
    return load_kernel(file.path(), arguments, machine);
}

std::string text_error(const std::string& text, const Arguments& arguments = {}) {
    std::string error = test::complaint_of([&] { load_text(text, arguments); });
    CHECK(error.find('\n') == std::string::npos);
    return error;
}

std::string gemm_error(const Arguments& arguments, const Machine* machine = nullptr) {
    return test::complaint_of([&] { load_kernel("gemm", arguments, machine); });
}

// Sectors that all loads or stores of a launch ask for, box by box and step by step.
std::int64_t sectors_of(const Kernel& kernel, std::vector<BoxWalk> Phase::*boxes) {
    std::int64_t sum = 0;
    for (const Program& program : kernel.programs) {
        for (const Phase& phase : program.phases) {
            for (const BoxWalk& box : phase.*boxes) {
                const Tensor& tensor = kernel.tensors[static_cast<std::size_t>(box.tensor)];
                for (std::int64_t step = 0; step < phase.count; ++step)
                    for_each_line(tensor, box, step,
                                  [&](const LineRequest& r) { sum += __builtin_popcount(r.sectors); });
            }
        }
    }
    return sum;
}

std::vector<std::map<std::string, std::string>> read_csv(const std::string& path) {
    std::ifstream file(path);
    REQUIRE(file);
    std::vector<std::map<std::string, std::string>> rows;
    std::vector<std::string> header;
    for (std::string line; std::getline(file, line);) {
        std::vector<std::string> cells;
        std::istringstream stream(line);
        for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
        if (header.empty()) {
            header = cells;
            continue;
        }
        auto& row = rows.emplace_back();
        for (std::size_t i = 0; i < std::min(cells.size(), header.size()); ++i) row[header[i]] = cells[i];
    }
    return rows;
}

}  // namespace

TEST_CASE("An 8192^3 GEMM asks for 536,870,912 sectors and stores 4,194,304") {
    // 4096 tiles x (128 + 128) rows x 8192 x 2 B / 32 B, and 8192 x 8192 x 2 B / 32 B.
    const Kernel gemm = load_kernel("gemm", {});
    CHECK(sectors_of(gemm, &Phase::loads) == 536'870'912);
    CHECK(sectors_of(gemm, &Phase::stores) == 4'194'304);
    CHECK(gemm.tiles() == 4096);
    CHECK(gemm.tile_rows() == 64);
    CHECK(gemm.outer_tiles() == 1);
    CHECK(gemm.flops() == 2.0 * 8192 * 8192 * 8192);
    CHECK(gemm.title == "gemm 8192x8192x8192 bf16 tn, tile 128x128x64, 4 stages");
}

TEST_CASE("Each layout asks for the same bytes when everything is aligned, from tensors of its own shape") {
    const std::string layout = GENERATE("tn", "tt", "nn", "nt");
    INFO(layout);
    const Kernel gemm = load_kernel("gemm", {"m=512", "n=1024", "k=256", "layout=" + layout});
    // (tiles_n x A + tiles_m x B) bytes.
    CHECK(sectors_of(gemm, &Phase::loads) == (8LL * 512 * 256 + 4LL * 1024 * 256) * 2 / 32);
    const bool a_by_m = layout == "tn" || layout == "tt", b_by_n = layout == "tn" || layout == "nn";
    CHECK(gemm.tensors[0].shape[0] == (a_by_m ? 512 : 256));
    CHECK(gemm.tensors[1].shape[0] == (b_by_n ? 1024 : 256));
}

TEST_CASE("Ragged GEMMs ask for what exists, no matter the tile") {
    // k = 1000: 2000 B a row; bk = 64 boxes end after 40 elements. Distinct sectors a row: ceil over its
    // alignment.
    const Kernel gemm = load_kernel("gemm", {"m=200", "n=136", "k=1024", "bm=128", "bn=128"});
    CHECK(gemm.tiles() == 4);
    CHECK(sectors_of(gemm, &Phase::loads) == (2LL * 200 + 2LL * 136) * 1024 * 2 / 32);
    CHECK(sectors_of(gemm, &Phase::stores) == 200LL * 136 * 2 / 32 + [] {
        // C has rows of 272 B = 8.5 sectors: odd rows begin in the middle of a sector, so each of their
        // pieces (two 128 B columns, then 16 B) touches half a sector more at either end.
        std::int64_t more = 0;
        for (int row = 0; row < 200; ++row) {
            const int shift = row % 2 == 0 ? 0 : 16;
            for (const auto& [begin, end] : {std::pair{0, 128}, {128, 256}, {256, 272}})
                more += (shift + end + 31) / 32 - (shift + begin) / 32;
        }
        return more - 200LL * 136 * 2 / 32;
    }());
}

TEST_CASE("Multicast clusters ask for each shared box once") {
    // 2x1: A as ever, B once per pair of CTAs: 268.4 M + 134.2 M = 402.65 M sectors (a published H100 count
    // with two CTAs along m is 1.086 and 0.896 times this).
    const Kernel along_m = load_kernel("gemm", {"cluster_m=2"});
    CHECK(sectors_of(along_m, &Phase::loads) == 402'653'184);
    CHECK(along_m.cluster == std::array<int, 2>{2, 1});
    const Kernel both = load_kernel("gemm", {"cluster_m=2", "cluster_n=2", "m=1024", "n=1024", "k=512"});
    CHECK(sectors_of(both, &Phase::loads) == 64LL * 256 * 512 * 2 / 32 / 2);
    // An odd edge: the last tile row has no partner and loads its B alone.
    const Kernel odd = load_kernel("gemm", {"cluster_m=2", "m=384", "n=128", "k=64"});
    CHECK(odd.programs[0].phases[0].loads[1].multicast == 2);
    CHECK(odd.programs[2].phases[0].loads[1].multicast == 1);
    CHECK(sectors_of(odd, &Phase::loads) == (3LL * 128 + 2LL * 128) * 64 * 2 / 32);
}

TEST_CASE("The CTAs per SM of every recorded launch come out") {
    const Machine h200 = load_machine("h200");
    int rows = 0;
    for (const char* name : {"gemm.csv", "gemm_more.csv"}) {
        for (auto& row : read_csv(std::string(L2LENS_SOURCE_DIR) + "/traces/h200/" + name)) {
            if (row["ctas_per_sm"].empty()) continue;  // read again, for counters alone
            // One tile is enough: residency does not depend on the size.
            const Kernel gemm = load_kernel(
                "gemm", {"m=64", "n=64", "k=64", "bm=" + row["bm"], "bn=" + row["bn"], "bk=" + row["bk"],
                         "stages=" + row["stages"], "warps=" + row["warps"], "dtype=" + row["dtype"],
                         "layout=" + row["layout"], "mode=" + row["mode"]});
            INFO(gemm.title << ", " << row["warps"] << " warps, " << row["mode"]);
            CHECK(ctas_per_sm(gemm.resources, h200) == std::stoi(row["ctas_per_sm"]));
            ++rows;
        }
    }
    CHECK(rows == 354);
}

TEST_CASE("Residency follows the scarcest resource") {
    Machine machine;
    machine.name = "x";
    machine.sm.shared_memory_bytes = 228 * 1024;
    machine.sm.shared_memory_per_cta = 227 * 1024;
    machine.sm.shared_memory_reserved = 1024;
    machine.sm.registers = 65536;
    machine.sm.threads = 2048;
    machine.sm.ctas = 32;
    CHECK(ctas_per_sm({0, 32, 32}, machine) == 32);          // CTAs
    CHECK(ctas_per_sm({0, 32, 256}, machine) == 8);          // threads
    CHECK(ctas_per_sm({75 * 1024, 32, 128}, machine) == 3);  // shared memory: 3 x 76 KiB = 228 KiB
    CHECK(ctas_per_sm({75 * 1024 + 1, 32, 128}, machine) == 2);
    CHECK(ctas_per_sm({0, 128, 128}, machine) == 4);  // registers
    CHECK(ctas_per_sm({0, 129, 128}, machine) == 3);  // 129 are handed out as 136
    CHECK(ctas_per_sm({227 * 1024 + 1, 32, 128}, machine) == 0);
    CHECK(why_no_cta_fits({228 * 1024, 32, 128}, machine) ==
          "needs 228 KiB of shared memory per CTA, x has 227 KiB");
    CHECK(why_no_cta_fits({0, 255, 1024}, machine) ==
          "needs 255 registers for each of 1024 threads, an SM of x has 65536");
    CHECK(why_no_cta_fits({0, 32, 32}, machine).empty());
}

TEST_CASE("Every kernel runs on every GPU with its default parameters") {
    for (const std::string& gpu : list_machines()) {
        const Machine machine = load_machine(gpu);
        for (const std::string& name : list_kernels()) {
            INFO(name << " on " << gpu);
            Kernel kernel = load_kernel(name, {}, &machine);
            CHECK(ctas_per_sm(kernel.resources, machine) >= 1);
            CHECK(static_cast<std::int64_t>(kernel.programs.size()) == kernel.tiles());
            const Tensor& last = kernel.tensors.back();
            CHECK(last.base + static_cast<std::uint64_t>(last.bytes()) <= std::uint64_t{16} << 30);
        }
    }
}

TEST_CASE("copy and transpose touch each byte once") {
    for (const std::string name : {"copy", "transpose"}) {
        const Kernel kernel = load_kernel(name, {"m=1024", "n=512"});
        CHECK(sectors_of(kernel, &Phase::loads) == 1024LL * 512 * 2 / 32);
        CHECK(sectors_of(kernel, &Phase::stores) == 1024LL * 512 * 2 / 32);
    }
}

TEST_CASE("Tensors lie one after another on 2 MiB boundaries, none as the one before it") {
    Kernel gemm = load_kernel("gemm", {"m=1000", "n=8192", "k=1024"});
    CHECK(gemm.tensors[0].base == 0);
    CHECK(gemm.tensors[0].bytes() == 1000 * 1024 * 2);
    // Behind 2,048,000 B, rounded up, and 9 and 3 times 2 MiB: floor(16 * frac(i / golden ratio)).
    CHECK(gemm.tensors[1].base == (2 + 9 * 2) << 20);
    CHECK(gemm.tensors[2].base == (2 + 9 * 2 + 16 + 3 * 2) << 20);  // B is exactly 16 MiB
    for (Tensor& tensor : gemm.tensors) tensor.stride_bytes[0] = std::int64_t{1} << 29;
    CHECK_THAT(test::complaint_of([&] { layout_tensors(gemm); }),
               ContainsSubstring("gemm: the tensors up to B take") && ContainsSubstring("end at 512 GiB"));
}

TEST_CASE("65,536 programs are read in a moment") {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(load_kernel("gemm", {"m=32768", "n=32768"}).programs.size() == 65536);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    CHECK(seconds < 10);  // 0.35 s on an idle core; sanitizers and busy machines included
}

TEST_CASE("Reading a large grid says how far it is, and stops where it is told to") {
    const Arguments large{"m=32768", "n=32768", "k=64"};
    std::vector<double> seen;
    load_kernel("gemm", large, nullptr, [&](double fraction) { seen.push_back(fraction); });
    CHECK(seen.size() >= 32);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK(seen.front() >= 0);
    CHECK(seen.back() < 1);

    int calls = 0;
    const auto stop = [&](double) {
        if (++calls == 3) throw Interrupted();
    };
    CHECK_THROWS_AS(load_kernel("gemm", large, nullptr, stop), Interrupted);
    CHECK(calls == 3);
}

TEST_CASE("A wrong parameter is one clear line") {
    const std::string value = GENERATE("8192x", "", "1e3", "-1", "0", "0x10", "8 ",
                                       "1000000000000000000000000000000", "2147483648", "3.0", "nan");
    CHECK(gemm_error({"m=" + value}) ==
          "gemm: m='" + value + "' is not a plain whole number from 1 to 2147483647");
}

TEST_CASE("Unknown, doubled and malformed parameters are named") {
    CHECK(gemm_error({"mm=3"}) == "gemm: unknown parameter 'mm'; did you mean 'm'?");
    CHECK(gemm_error({"stage=3"}) == "gemm: unknown parameter 'stage'; did you mean 'stages'?");
    CHECK(gemm_error({"m"}) == "gemm: 'm': parameters are given as name=value");
    CHECK(gemm_error({"m=1", "m=2"}) == "gemm: m is given twice");
    CHECK(gemm_error({"dtype=bf17"}) == "gemm: dtype='bf17' is not one of bf16, fp16, fp8, tf32, fp32");
    CHECK(gemm_error({"cluster_m=3"}) == "gemm: cluster_m='3' is not one of 1, 2");
    CHECK_THAT(test::complaint_of([] { load_kernel("gem", {}); }),
               ContainsSubstring("unknown kernel 'gem'; did you mean 'gemm'?"));
    CHECK_THAT(test::complaint_of([] { load_kernel("./no.lua", {}); }),
               ContainsSubstring("./no.lua: no such file"));
}

TEST_CASE("Sizes that cannot be are refused before anything is allocated") {
    CHECK_THAT(gemm_error({"m=2147483647", "k=2147483647"}),
               ContainsSubstring("tensor A takes 8.0 EiB; at most 512 GiB"));
    CHECK_THAT(
        gemm_error({"m=100000", "n=100000", "k=1", "bm=1", "bn=1"}),
        ContainsSubstring("a grid of 100000 x 100000 tiles needs 5.2 TiB of memory; at most 16777216 tiles"));
    CHECK_THAT(gemm_error({"bm=1024", "bn=1024"}), ContainsSubstring("registers per thread, a GPU has 255"));
    const Machine h200 = load_machine("h200");
    CHECK_THAT(gemm_error({"stages=8"}, &h200),
               ContainsSubstring("gemm: needs 256 KiB of shared memory per CTA, h200 has 227 KiB"));
    // 8 warps of 32 x 224 registers are all of an SM's 65536 that come in fours; the loads' four are among
    // them.
    const auto in_registers = [&](std::vector<std::string> more) {
        more.emplace_back("keep_q=registers");
        return test::complaint_of([&] { load_kernel("attention", more, &h200); });
    };
    CHECK_THAT(in_registers({}),
               ContainsSubstring("attention: keep_q=registers takes 224 registers of each of "
                                 "384 threads, an SM of h200 has 65536; take warps=4 or "
                                 "pipeline=multistage"));
    CHECK(in_registers({"warps=4"}) == in_registers({"pipeline=multistage"}));  // both fit
    CHECK_THAT(in_registers({"warps=12"}),
               ContainsSubstring("; take warps=4") && !ContainsSubstring("or pipe"));
    CHECK_THAT(in_registers({"warps=12", "pipeline=multistage"}), ContainsSubstring("; take warps=8"));
    const Machine v100 = load_machine("v100");
    CHECK_THAT(gemm_error({"dtype=fp8"}, &v100),
               ContainsSubstring("v100 has no tensor cores for this element type"));
}

TEST_CASE("A kernel chooses what the user left open, and says what it took") {
    const auto stages = [](const Kernel& kernel) {
        for (const auto& [name, value] : kernel.params)
            if (name == "stages") return value;
        return std::string("none");
    };
    const Machine v100 = load_machine("v100");
    CHECK(stages(load_kernel("gemm", {})) == "4");
    CHECK(stages(load_kernel("gemm", {}, &v100)) == "3");  // 96 KiB of 32 KiB each
    CHECK(stages(load_kernel("gemm", {"stages=2"}, &v100)) == "2");
}

TEST_CASE("A description has the parameters, their defaults and meanings") {
    const KernelDescription gemm = describe_kernel("gemm");
    CHECK(gemm.name == "gemm");
    CHECK_FALSE(gemm.about.empty());
    CHECK(gemm.declares("mode"));
    CHECK_FALSE(gemm.declares("mod"));
    REQUIRE(gemm.params.size() == 15);
    CHECK(gemm.params[0].name == "m");
    CHECK(gemm.params[0].default_value == "8192");
    CHECK(gemm.params[0].meaning == "rows of C");
    CHECK(gemm.params[8].domain() == "one of bf16, fp16, fp8, tf32, fp32");
}

TEST_CASE("A user's kernel of a few lines works, whatever kind its parameters are") {
    const std::string text = kernel_text(
        "stages = 7 / 2 * 2", "{'m', 256, ''}, {'x', 0.5, ''}, {'fast', true, ''}, {'s', 'a', ''}",
        "assert(p.x == 1.5 and p.fast == false and p.s == 'b' and p.m == 256)");
    const Kernel kernel = load_text(text, {"x=1.5", "fast=false", "s=b"});
    CHECK(kernel.stages == 7);  // 7.0 is whole
    CHECK(kernel.programs.size() == 2);
    CHECK(kernel.programs[1].phases[0].loads[0].start[0] == 128);
    CHECK(kernel.axes == std::vector<std::string>{"m", "n"});
    CHECK(kernel.resources.threads == 128);
    CHECK(kernel.title.ends_with(" m=256 x=1.5 fast=false s=b"));
    CHECK_THAT(text_error(text, {"x=a"}), ContainsSubstring("x='a' is not a number"));
    CHECK_THAT(text_error(text, {"x=inf"}), ContainsSubstring("x='inf' is not a number"));
    CHECK_THAT(text_error(text, {"fast=1"}), ContainsSubstring("fast='1' is not true or false"));
}

TEST_CASE("Outer axes come first and the program gets every coordinate") {
    const Kernel kernel = load_text(R"(
        function kernel(p)
            local A = tensor("A", {3, 4, 128, 64}, "fp8")
            return { grid = {{"batch", 3}, {"m", 4}, {"n", 2}}, program = function(b, m, n)
                return { {loads = box(A, {b, m, n * 64, 0}, {1, 1, 64, 64}, {path = "ld"})} }
            end }
        end)");
    CHECK(kernel.outer_tiles() == 3);
    CHECK(kernel.tiles() == 24);
    const BoxWalk& last = kernel.programs.back().phases[0].loads[0];
    CHECK(last.start == Index{2, 3, 64, 0, 0});
    CHECK(last.path == Path::Load);
    CHECK(kernel.tensors[0].stride_bytes == Index{4 * 128 * 64, 128 * 64, 64, 1, 0});
}

TEST_CASE("What is wrong in a kernel file is named with the file, and the line where Lua has one") {
    const auto check = [](const std::string& text, const std::string& expected) {
        INFO(text);
        CHECK_THAT(text_error(text), ContainsSubstring(expected));
    };
    const auto program = [](const std::string& phases) {
        return "function kernel(p)\n  local A = tensor('A', {256, 64}, 'bf16')\n  return { grid = {{'m', 2}, "
               "{'n', 1}}, program = function(m, n)\n    return " +
               phases + "\n  end }\nend\n";
    };
    check("", "defines no function kernel(p)");
    check("kernel = 3", "defines no function kernel(p)");
    check("function kernel(p) return 1 end", "kernel() must return a table, not a number");
    check("function kernel(p) return {} end", "kernel() makes no tensor(...)");
    check("function kernel(p) tensor('A', {1}, 'bf16') return {} end", "grid must be two to four axes");
    check("function kernel(p) tensor('A', {1}, 'bf16') return {grid = {{'m', 1}}} end",
          "grid must be two to four axes");
    check("function kernel(p) tensor('A', {1}, 'bf16') return {grid = {{'m', 0}, {'n', 1}}} end",
          "grid axis 'm' has 0 tiles");
    check("function kernel(p) tensor('A', {1}, 'bf16') return {grid = {{'m', 1.5}, {'n', 1}}} end",
          "grid axis 'm' has 1.5 tiles");
    check("function kernel(p) tensor('A', {1}, 'bf16') return {grid = {{'m', 1}, {'n', 1}}} end",
          "program must be a function");

    const auto plan = [](const std::string& arguments) {
        return "function kernel(p) local x = stream_k_plan(" + arguments + ") end";
    };
    check(plan("'sm80', 4, 8, 132"), ":1: stream_k_plan: 'sm80' is no plan; there are: cutlass2 sm90");
    check(plan("'sm90', 4.5, 8, 132"), "bad argument #2 to 'stream_k_plan' (a whole number is needed)");
    check(plan("'sm90', 1048577, 8, 132"), ":1: stream_k_plan: more than 1048576 tiles");
    check(plan("'sm90', 4, 0, 132"), ":1: Stream-K: K steps = 0 is outside 1 to 134217728");
    check(plan("'cutlass2', 4, 8, 1e6"), ":1: Stream-K: SMs = 1000000 is outside 1 to 65536");

    check(kernel_text("stagse = 2"), "unknown field 'stagse'; did you mean 'stages'?");
    check(kernel_text("stages = 0"), "stages is 0; it must be a whole number from 1 to 16");
    check(kernel_text("stages = 2.5"), "stages is 2.5");
    check(kernel_text("stages = 0/0"), "stages is ");
    check(kernel_text("stages = 'x'"), "stages is string");
    check(kernel_text("warps = 4, threads = 128"), "give warps or threads, not both");
    check(kernel_text("pipeline = 'fast'"), "pipeline is 'fast'");
    check(kernel_text("math = 'fp64'"), "math is 'fp64'");
    check(kernel_text("path = 'pcie'"), "path is 'pcie'; it must be tma, cp.async or ld");
    check(kernel_text("cluster = {0, 1}"), "cluster must be CTAs along the two ordered axes");
    check(kernel_text("cluster = 2"), "cluster must be CTAs along the two ordered axes");
    check(kernel_text("prologue_ns = -1"), "prologue_ns is -1; it must be a number from 0 to 1e6 ns (1 ms)");
    check(kernel_text("prologue_ns = 1e12"),
          "prologue_ns is 1000000000000.0; it must be a number from 0 to 1e6 ns");
    check(kernel_text("next_tile_ns = -1"), "next_tile_ns is -1; it must be a number from 0 to 1e6 ns");
    check(kernel_text("prologue_jitter_ns = -1"),
          "prologue_jitter_ns is -1; it must be a number from 0 to 1e6 ns");
    check(kernel_text("epilogue_ns = 1000001"),
          "epilogue_ns is 1000001; it must be a number from 0 to 1e6 ns");
    check(kernel_text("epilogue_jitter_ns = 2e6"), "epilogue_jitter_ns is 2000000.0; it must be a number");
    check(kernel_text("release_cycles = 60, release_jitter_cycles = 121"),
          "release_jitter_cycles must be at most twice release_cycles");
    check(kernel_text("step_gap_cycles = -1"),
          "step_gap_cycles is -1; it must be a number from 0 to 1e6 cycles");
    check(kernel_text("load_interval_cycles = 2e6"),
          "load_interval_cycles is 2000000.0; it must be a number");
    check(kernel_text("pace_spread = -0.1"), "pace_spread is -0.1; it must be a number from 0");
    check(kernel_text("pace_spread = 1.5"), "pace_spread is 1.5; it must be a number from 0 to 1");
    check(kernel_text("fences_per_tile = 0/0"), "; it must be a number from 0");
    check(kernel_text("fences_per_cta = 'one'"), "fences_per_cta is string; it must be a number from 0");
    check(kernel_text("epilogue_overlaps = 1"), "epilogue_overlaps must be true or false");
    check(kernel_text("store_buffer = -1"), "store_buffer is -1; it must be a whole number from 0");
    check(kernel_text("title = {}"), "title must be a string");

    check(kernel_text("", "{'m', {}, ''}"),
          "params[1] 'm': the default must be a number, a string or true/false");
    check(kernel_text("", "{1, 2}"), "params[1]: the first entry is the parameter's name");
    check(kernel_text("", "'m'"), "params[1]: write {\"m\", 8192");
    check(kernel_text("", "{'m', 1, ''}, {'m', 2, ''}"), "parameter 'm' is declared twice");
    check(kernel_text("", "{'m', 0, ''}"), "the default 0 is not a plain whole number from 1");
    check(kernel_text("", "{'m', 3, '', {1, 2}}"), "the default 3 is not one of 1, 2");

    check(kernel_text("", "{'m', 1, ''}", "tensor('B', {0, 4}, 'bf16')"),
          ".lua:5: shape of tensor B: entry 1 is 0");
    check(kernel_text("", "{'m', 1, ''}", "tensor('B', {4, -4}, 'bf16')"),
          "shape of tensor B: entry 2 is -4");
    check(kernel_text("", "{'m', 1, ''}", "tensor('B', {4, 1.5}, 'bf16')"), "entry 2 is 1.5");
    check(kernel_text("", "{'m', 1, ''}", "tensor('B', {}, 'bf16')"), "has 0 entries; 1 to 5 dimensions");
    check(kernel_text("", "{'m', 1, ''}", "tensor('B', {1,1,1,1,1,1}, 'bf16')"), "has 6 entries");
    check(kernel_text("", "{'m', 1, ''}", "tensor('B', 7, 'bf16')"), "must be a list of whole numbers");
    check(kernel_text("", "{'m', 1, ''}", "tensor('B', {7}, 'bf15')"), "type 'bf15' is none of bf16");
    check(kernel_text("", "{'m', 1, ''}", "tensor('B', {7})"), "type 'no value' is none of");
    check(kernel_text("", "{'m', 1, ''}", "tensor({7}, 'bf16')"), "the name must be a string");
    check(kernel_text("", "{'m', 1, ''}", "tensor('B', {1 << 38, 1 << 38, 1 << 38}, 'fp64')"),
          "at most 512 GiB");
    check(kernel_text("", "{'m', 1, ''}", "tensor('B', {1 << 20, 1 << 20}, 'bf16')"),
          "tensor B takes 2 TiB; at most 512 GiB");
    check(kernel_text("", "{'m', 1, ''}", "tensor('B', {4, 4}, 'bf16', {4, 2})"), "the last one is 1");
    check(kernel_text("", "{'m', 1, ''}", "for i = 1, 99 do tensor('B', {4}, 'bf16') end"),
          "more than 32 tensors");
    check(kernel_text("", "{'m', 1, ''}", "error('not this GPU', 0)"), ".lua: not this GPU");

    check(program("nil"), "program(0, 0): must return a list of phases, not a nil");
    check(program("{}"), "program(0, 0): must return a list of 1 to 4096 phases");
    check(program("{loads = {}}"), "must return a list of 1 to 4096 phases");
    check(program("{3}"), "phase 1 must be a table, not a number");
    check(program("{{load = {}}}"), "phase 1: 'load' is no field of a phase; did you mean 'loads'?");
    check(program("{{count = -1}}"), "phase 1: 'count' must be a whole number");
    check(program("{{count = 0.5}}"), "phase 1: 'count' must be a whole number");
    check(program("{{flops = 0/0}}"), "phase 1: 'flops' must be a number");
    check(program("{{cycles = -1}}"), "phase 1: 'cycles' must be a number");
    check(program("{{loads = {A}}}"), "phase 1: 'loads' entry 1 must be a box(...), not a userdata");
    const std::string boxed = "box(A, {0, 0}, {1, 8})";
    check(program("{{loads = {x = " + boxed + "}}}"), "phase 1: 'loads' has an entry 'x' beside its list");
    check(program("{{loads = {[2] = " + boxed + "}}}"), "phase 1: 'loads' ");
    check(program("{{loads = {" + boxed + ", [3] = " + boxed + "}}}"), "phase 1: 'loads' ");
    check(program("{{stores = {" + boxed + ", x = " + boxed + "}}}"),
          "phase 1: 'stores' has an entry 'x' beside its list; write {box(...), box(...)}");
    check(program("{{loads = " + boxed + "}, x = {loads = " + boxed + "}}"),
          "must return a list of phases; 'x' is beside it");
    check(program("{{stores = {box(A, {0, 0}, {1, 8}, {multicast = 3})}}}"),
          "phase 1: 'stores' a box of A with multicast, which is an option of loads");
    check(program("{{loads = {box(A, {0, 0}, {1, 8}, {reduce = true})}}}"),
          "phase 1: 'loads' a box of A with reduce, which is an option of stores");
    check(program("{{loads = 3}}"), "phase 1: 'loads' must be a list of box(...), not a number");
    check(program("{{}, {}, m == 1 and {x = 1} or {}}"), "program(1, 0): phase 3: 'x' is no field");
    check(program("{{loads = {box(A, {0}, {1, 1})}}}"),
          ".lua:4: box: tensor A has 2 dimensions; start has 1, extent 2, step 2");
    check(program("{{loads = {box(A, {0, 0}, {1, 0})}}}"), "box: extent: entry 2 is 0");
    check(program("{{loads = {box(A, {0, 0}, {1, -8})}}}"), "box: extent: entry 2 is -8");
    check(program("{{loads = {box(A, {0, 0/0}, {1, 8})}}}"), "box: start: entry 2 is");
    check(program("{{loads = {box(A, {0, 1 << 62}, {1, 8})}}}"), "box: start: entry 2 is");
    check(program("{{loads = {box(A, {0, 0}, {1000000, 1000000})}}}"), "may touch");
    check(program("{{loads = {box(A, {0, 0}, {1, 8}, {1})}}}"), "step 1");
    check(program("{{loads = {box('A', {0, 0}, {1, 8})}}}"),
          "the first argument must be a tensor, not a string");
    check(program("{{loads = {box(A, {0, 0}, {1, 8}, {path = 'x'})}}}"), "path is 'x'");
    check(program("{{loads = {box(A, {0, 0}, {1, 8}, {cast = 2})}}}"), "'cast' is no option of a box");
    check(program("{{loads = {box(A, {0, 0}, {1, 8}, {multicast = 0})}}}"), "multicast must be");
    check(program("{{loads = {box(A, {0, 0}, {1, 8}, nil, {multicast = 2, along = 'rows'})}}}"),
          "tile (0, 0) has a box with multicast = 2 along rows, where 1 of its cluster's CTAs run; multicast "
          "must be 1 or their number");
    check(program("{{count = 1 << 30, loads = {box(A, {0, 0}, {1, 8}, {0, 1 << 40})}}}"),
          "moves beyond any tensor");
    check(program("{{count = 2000000000, loads = {box(A, {0, 0}, {256, 64})}}, {count = 2000000000, loads = "
                  "{box(A, {0, 0}, {256, 64})}}}"),
          "asks for more than 1e12 cache lines");
    check(program("{tensor('B', {1}, 'bf16')}"), "tensor() belongs in kernel()");
    check(program("{m.x}"), ".lua:4: attempt to index a number value");
}
