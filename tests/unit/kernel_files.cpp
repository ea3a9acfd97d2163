// SPDX-License-Identifier: Apache-2.0
// Do the shipped kernels move what their algorithms say? Expected bytes are closed forms of each algorithm,
// written here from its definition, not from the kernel files.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernel/box_lines.hpp"
#include "kernel/kernel.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "report/kernel_traffic.hpp"
#include "support/catch.hpp"

using namespace l2lens;

namespace {

using Arguments = std::vector<std::string>;

struct Moved {
    double loaded = 0;
    double stored = 0;
};

std::map<std::string, Moved> moved_by(const std::string& name, const Arguments& arguments) {
    std::map<std::string, Moved> moved;
    for (const TensorTraffic& tensor : kernel_traffic(load_kernel(name, arguments)))
        moved[tensor.tensor] = {tensor.loaded_bytes, tensor.stored_bytes};
    return moved;
}

// Sectors asked for by all loads of all CTAs of a tensor.
std::int64_t loaded_sectors(const Kernel& kernel, const std::string& tensor) {
    std::int64_t sectors = 0;
    std::vector<LineRequest> requests;
    for (const Program& program : kernel.programs) {
        for (const Phase& phase : program.phases) {
            for (const BoxWalk& box : phase.loads) {
                const Tensor& t = kernel.tensors[static_cast<std::size_t>(box.tensor)];
                if (t.name != tensor) continue;
                for (std::int64_t step = 0; step < phase.count; ++step) expand(t, box, step, requests);
            }
        }
    }
    for (const LineRequest& request : requests) sectors += __builtin_popcount(request.sectors);
    return sectors;
}

// Requests of all stores of all CTAs to a tensor.
std::size_t store_requests(const Kernel& kernel, const std::string& tensor) {
    std::vector<LineRequest> requests;
    for (const Program& program : kernel.programs) {
        for (const Phase& phase : program.phases) {
            for (const BoxWalk& box : phase.stores) {
                const Tensor& t = kernel.tensors[static_cast<std::size_t>(box.tensor)];
                if (t.name != tensor) continue;
                for (std::int64_t step = 0; step < phase.count; ++step) expand(t, box, step, requests);
            }
        }
    }
    return requests.size();
}

}  // namespace

TEST_CASE("Are there at least fourteen kernels, and does each load with its defaults?", "[kernels]") {
    const std::vector<std::string> names = list_kernels();
    CHECK(names.size() >= 14);
    for (const std::string& name : names) {
        INFO(name);
        CHECK_FALSE(describe_kernel(name).about.empty());
        const Kernel kernel = load_kernel(name, {});
        CHECK(kernel.tiles() == std::ssize(kernel.programs));
        for (const Kernel& next : kernel.then) CHECK(next.tiles() == std::ssize(next.programs));
        // What a kernel computes is written once, whatever else it stores.
        for (const TensorTraffic& tensor : kernel_traffic(kernel)) {
            INFO(tensor.tensor);
            CHECK((tensor.loaded_bytes > 0 || tensor.stored_bytes > 0));
        }
    }
}

TEST_CASE("Does a GEMM read A once per tile column and B once per tile row, and C only with beta?",
          "[kernels]") {
    // 3 x 4 tiles, the last ones ragged: A is read by 4 columns, B by 3 rows.
    const Arguments sizes{"m=300", "n=500", "k=192", "bm=128", "bn=128"};
    auto moved = moved_by("gemm", sizes);
    CHECK(moved["A"].loaded == 4.0 * 300 * 192 * 2);
    CHECK(moved["B"].loaded == 3.0 * 500 * 192 * 2);
    CHECK(moved["C"].stored == 300.0 * 500 * 2);
    CHECK(moved["C"].loaded == 0);
    Arguments with_beta = sizes;
    with_beta.push_back("beta=true");
    CHECK(moved_by("gemm", with_beta)["C"].loaded == 300.0 * 500 * 2);
}

TEST_CASE("Do batched and grouped GEMMs read each batch's and each expert's operands?", "[kernels]") {
    auto batched = moved_by("gemm_batched", {"batch=3", "m=256", "n=384", "k=128"});
    CHECK(batched["A"].loaded == 3.0 * 3 * 256 * 128 * 2);
    CHECK(batched["B"].loaded == 3.0 * 2 * 384 * 128 * 2);
    CHECK(batched["C"].stored == 3.0 * 256 * 384 * 2);
    auto shared = moved_by("gemm_batched", {"batch=3", "m=256", "n=384", "k=128", "shared_b=true"});
    CHECK(shared["B"].loaded == batched["B"].loaded);

    // A tile row belongs to one expert and reads all columns of its B, so totals are those of one GEMM,
    // however the rows are spread.
    for (const char* skew : {"skew=0", "skew=0.5", "skew=1"}) {
        auto grouped = moved_by("gemm_grouped", {"groups=4", "m=2048", "n=256", "k=128", skew});
        CHECK(grouped["A"].loaded == 2.0 * 2048 * 128 * 2);
        CHECK(grouped["B"].loaded == 16.0 * 256 * 128 * 2);
        CHECK(grouped["C"].stored == 2048.0 * 256 * 2);
    }
}

TEST_CASE("Does a split depth cost a workspace of fp32 sums, written and read once, or reductions?",
          "[kernels]") {
    const double c = 256.0 * 384;
    const Arguments sizes{"m=256", "n=384", "k=1024", "split=4"};
    auto stored = moved_by("gemm_split_k", sizes);
    // Each slice reads its quarter of the depth: A and B as often as without the split.
    CHECK(stored["A"].loaded == 3.0 * 256 * 1024 * 2);
    CHECK(stored["B"].loaded == 2.0 * 384 * 1024 * 2);
    CHECK(stored["W"].stored == 4 * c * 4);
    CHECK(stored["W"].loaded == 4 * c * 4);
    CHECK(stored["C"].stored == c * 2);

    Arguments reduced = sizes;
    reduced.push_back("sum=reduce");
    auto added = moved_by("gemm_split_k", reduced);
    CHECK(added["C"].stored == 4 * c * 4);
    CHECK(added.count("W") == 0);
    CHECK(load_kernel("gemm_split_k", reduced).then.empty());
    CHECK(load_kernel("gemm_split_k", sizes).then.size() == 1);
}

TEST_CASE("Does Stream-K do every k-step once and fix up only the tiles that it cuts?", "[kernels]") {
    // 6 tiles of 8 steps over 4 CTAs: 12 steps each. CTAs 0 and 2 end in the middle of a tile, so two tiles
    // are cut, each into two parts: two partial sums.
    const Arguments sizes{"m=256", "n=384", "k=512", "ctas=4"};
    auto moved = moved_by("gemm_stream_k", sizes);
    CHECK(moved["A"].loaded == 3.0 * 256 * 512 * 2);
    CHECK(moved["B"].loaded == 2.0 * 384 * 512 * 2);
    CHECK(moved["C"].stored == 256.0 * 384 * 2);
    CHECK(moved["W"].stored == 2.0 * 128 * 128 * 4);
    CHECK(moved["W"].loaded == 2.0 * 128 * 128 * 4);
    // Whole tiles for every CTA: nothing to fix up.
    auto whole = moved_by("gemm_stream_k", {"m=256", "n=384", "k=512", "ctas=6"});
    CHECK(whole["W"].stored == 0);
    CHECK(whole["W"].loaded == 0);
}

TEST_CASE("Does Stream-K as CUTLASS divides it store, add and read partial sums of the divided tiles alone?",
          "[kernels]") {
    constexpr double kTile = 128.0 * 128 * 4;
    // CUTLASS 2, 7 x 19 tiles of 64 steps on 132 CTAs: the one that is left over is computed by six, of which
    // one stores, four add and the last one reads (tests/unit/order_stream_k.cpp).
    const Arguments one_over{"m=896", "n=2432", "k=4096", "ctas=132", "plan=cutlass2"};
    auto moved = moved_by("gemm_stream_k", one_over);
    CHECK(moved["A"].loaded == 133.0 * 128 * 4096 * 2);
    CHECK(moved["B"].loaded == 133.0 * 128 * 4096 * 2);
    CHECK(moved["C"].stored == 896.0 * 2432 * 2);
    CHECK(moved["W"].stored == 5 * kTile);
    CHECK(moved["W"].loaded == 1 * kTile);
    std::size_t added = 0;
    const Kernel kernel = load_kernel("gemm_stream_k", one_over);
    CHECK(kernel.grid[0] == 6 + 132);
    for (const Program& program : kernel.programs) {
        for (const Phase& phase : program.phases) {
            for (const BoxWalk& box : phase.stores) added += box.reduce ? 1 : 0;
        }
    }
    CHECK(added == 4);
    // CUTLASS 3: a quarter of a wave in four parts each, and no plan where tiles fill their waves.
    auto quarter = moved_by("gemm_stream_k", {"m=384", "n=1408", "k=4096", "ctas=132", "plan=sm90"});
    CHECK(quarter["W"].stored == 33 * 3 * kTile);
    CHECK(quarter["W"].loaded == 33 * kTile);
    auto full = moved_by("gemm_stream_k", {"m=1536", "n=2816", "k=4096", "ctas=132", "plan=sm90"});
    CHECK(full["W"].stored == 0);
    CHECK(full["W"].loaded == 0);
}

TEST_CASE("How often do softmax and layernorm read a row?", "[kernels]") {
    const double bytes = 100.0 * 3000 * 2;
    const Arguments sizes{"rows=100", "cols=3000"};
    const auto with = [&](std::initializer_list<std::string> more) {
        Arguments all = sizes;
        all.insert(all.end(), more);
        return all;
    };
    for (const char* name : {"softmax", "layernorm"}) {
        INFO(name);
        for (const int passes : {1, 2, 3}) {
            auto moved = moved_by(name, with({"passes=" + std::to_string(passes)}));
            CHECK(moved["X"].loaded == passes * bytes);
            CHECK(moved["Y"].stored == bytes);
        }
        // Each of 7 CTAs of a row reads all of it for each pass but the last, and then its own chunk.
        for (const int passes : {2, 3}) {
            auto moved = moved_by(name, with({"chunks=7", "passes=" + std::to_string(passes)}));
            CHECK(moved["X"].loaded == (7.0 * (passes - 1) + 1) * bytes);
            CHECK(moved["Y"].stored == bytes);
        }
        CHECK_THROWS_AS(load_kernel(name, with({"chunks=2"})), BadInput);
    }
    auto norm = moved_by("layernorm", with({"chunks=7", "passes=2"}));
    CHECK(norm["W"].loaded == bytes);  // every row once
    CHECK(norm["B"].loaded == bytes);
    CHECK(norm["mean"].stored == 100 * 4);
    CHECK(norm["rstd"].stored == 100 * 4);
}

TEST_CASE("Does a stencil read its halo, rounded out to sectors, and swap A and B?", "[kernels]") {
    // 2 x 3 blocks of 32 x 128 fp32 cells on 64 x 384, a halo of 2. Along m a block reads 32 + 2 rows (the
    // edge's halo is outside); along n only the columns that exist.
    const Arguments sizes{"m=64", "n=384", "bm=32", "bn=128", "radius=2", "shape=star"};
    auto star = moved_by("stencil2d", sizes);
    const double rows = 2 * 34.0 * 384 * 4;           // blocks with their rows above or below
    const double sides = 64.0 * 2 * (1 + 2 + 1) * 4;  // 4 inner sides, two cells wide
    CHECK(star["A"].loaded == rows + sides);
    CHECK(star["B"].stored == 64.0 * 384 * 4);
    // Each side is one sector a row, since two fp32 cells next to a multiple of 128 lie in one.
    const Kernel kernel = load_kernel("stencil2d", sizes);
    CHECK(loaded_sectors(kernel, "A") == (2 * 34 * 384 * 4) / 32 + 64 * 4);

    auto box = moved_by("stencil2d", {"m=64", "n=384", "bm=32", "bn=128", "radius=2", "shape=box"});
    CHECK(box["A"].loaded == 2 * 34.0 * (384 + 4 * 2) * 4);

    auto sweeps = moved_by("stencil2d", {"m=64", "n=384", "bm=32", "bn=128", "radius=2", "sweeps=3"});
    CHECK(sweeps["A"].loaded == 2 * (rows + sides));  // sweeps 1 and 3
    CHECK(sweeps["B"].loaded == rows + sides);
    CHECK(sweeps["A"].stored == 64.0 * 384 * 4);
    CHECK(sweeps["B"].stored == 2 * 64.0 * 384 * 4);
}

TEST_CASE("Does a convolution read each tap's shifted rectangle, clipped to the image?", "[kernels]") {
    // One image of 8 x 8 pixels, one tile, 3 x 3 taps: the rectangles lose a row or a column at each edge, so
    // along each axis the taps see 7 + 8 + 7 = 22 pixels.
    auto moved = moved_by("conv2d", {"images=1", "height=8", "width=8", "c=64", "k=128", "bp=8", "bq=8"});
    CHECK(moved["X"].loaded == 22.0 * 22 * 64 * 2);
    CHECK(moved["F"].loaded == 128.0 * 9 * 64 * 2);
    CHECK(moved["Y"].stored == 64.0 * 128 * 2);
}

TEST_CASE("Does attention read keys up to the diagonal, and a group's keys for each of its heads?",
          "[kernels]") {
    const double keys = 512.0 * 64 * 2;  // of one head
    const Arguments sizes{"batch=2", "heads=4", "seq=512", "dim=64", "bq=128", "bk=128"};
    auto all = moved_by("attention", sizes);
    CHECK(all["Q"].loaded == 8 * keys);
    CHECK(all["O"].stored == 8 * keys);
    CHECK(all["K"].loaded == 8 * 4 * keys);
    CHECK(all["V"].loaded == all["K"].loaded);
    CHECK(all["lse"].stored == 8.0 * 512 * 4);

    Arguments causal = sizes;
    causal.push_back("causal=true");
    // Blocks 0 to 3 read 1 to 4 quarters of the keys.
    CHECK(moved_by("attention", causal)["K"].loaded == 8 * (1 + 2 + 3 + 4) / 4.0 * keys);
    causal.push_back("block_order=down");
    CHECK(moved_by("attention", causal)["K"].loaded == 8 * (1 + 2 + 3 + 4) / 4.0 * keys);

    // The last 256 positions: blocks that read 3 and 4 quarters.
    Arguments last = causal;
    last.push_back("queries=256");
    auto moved = moved_by("attention", last);
    CHECK(moved["K"].loaded == 8 * (3 + 4) / 4.0 * keys);
    CHECK(moved["Q"].loaded == 8 * keys / 2);
    CHECK_THROWS_AS(load_kernel("attention", {"seq=512", "queries=1024"}), BadInput);

    Arguments in_turn = causal;
    in_turn.push_back("kv_loads=in_turn");
    const double keys_and_values =
        moved_by("attention", causal)["K"].loaded + moved_by("attention", causal)["V"].loaded;
    CHECK(moved_by("attention", in_turn)["KV"].loaded == keys_and_values);
    CHECK_THROWS_AS(load_kernel("attention", {"seq=500", "bk=64", "kv_loads=in_turn"}), BadInput);

    // Eight elements of 2 B an instruction: eight requests for a row of 64, which is a line, in either
    // layout.
    for (const char* layout : {"layout=bhsd", "layout=bshd"}) {
        Arguments pieces = sizes;
        pieces.insert(pieces.end(), {"path=cp.async", "o_store=8", layout});
        CHECK(moved_by("attention", pieces)["O"].stored == 8 * keys);
        CHECK(store_requests(load_kernel("attention", pieces), "O") == 8u * 512 * 8);
    }
    CHECK(store_requests(load_kernel("attention", sizes), "O") == 8u * 512);

    Arguments grouped = sizes;
    grouped.push_back("kv_heads=2");
    const Kernel kernel = load_kernel("attention", grouped);
    CHECK(kernel.tensors[1].bytes() == static_cast<std::int64_t>(2 * 2 * keys));
    CHECK(moved_by("attention", grouped)["K"].loaded == 8 * 4 * keys);
    CHECK_THROWS_AS(load_kernel("attention", {"heads=6", "kv_heads=4"}), BadInput);
}

TEST_CASE("Does TFLA's parallel kernel load what mlstm_kernels' fw_parallel loads?", "[kernels]") {
    // mlstm_kernels, xl_chunk/fw_parallel: 2 heads, 2 chunks of 256, query tiles of 64, so query tile y reads
    // (y + 1) tiles of keys and values, on average 2.5; Q is re-read for each of them and once more for the
    // state part, and the fp32 state by each query tile.
    const Arguments sizes{"batch=1", "heads=2", "seq=512", "dqk=128", "dhv=64", "chunk=256"};
    auto moved = moved_by("tfla_parallel", sizes);
    const double tiles = 2 * 2 * 4;
    CHECK(moved["Q"].loaded == tiles * (2.5 + 1) * 64 * 128 * 2);
    CHECK(moved["K"].loaded == tiles * 2.5 * 64 * 128 * 2);
    CHECK(moved["V"].loaded == tiles * 2.5 * 64 * 64 * 2);
    CHECK(moved["C"].loaded == tiles * 128 * 64 * 4);
    CHECK(moved["N"].loaded == tiles * 128 * 4);
    CHECK(moved["M"].loaded == tiles * 4);
    CHECK(moved["vecI"].loaded == tiles * 2.5 * 64 * 4);
    CHECK(moved["vecB"].loaded == tiles * (2.5 + 1) * 64 * 4);
    CHECK(moved["H"].stored == 2.0 * 512 * 64 * 2);
    CHECK(moved["n"].stored == 2.0 * 512 * 4);
    CHECK(moved["m"].stored == 2.0 * 512 * 4);

    // The grid is (value tiles, query tiles, chunks x heads), value fastest: here 2 value tiles of 32.
    Arguments narrow = sizes;
    narrow.push_back("bdv=32");
    const Kernel kernel = load_kernel("tfla_parallel", narrow);
    CHECK(kernel.grid == std::vector<std::int64_t>{2, 2, 8});
    auto split = moved_by("tfla_parallel", narrow);
    CHECK(split["Q"].loaded == 2 * moved["Q"].loaded);  // scores are computed again for each value tile
    CHECK(split["V"].loaded == moved["V"].loaded);
    CHECK(split["n"].stored == moved["n"].stored);  // by one of the value tiles

    Arguments fused = sizes;
    fused.push_back("fused=true");
    CHECK(moved_by("tfla_parallel", fused)["G"].loaded == 2.0 * 512 * 64 * 2);
}

TEST_CASE("Does TFLA's recurrent kernel read keys per value block and store every state once?", "[kernels]") {
    const Arguments sizes{"batch=1", "heads=2", "seq=1024", "dqk=128", "dhv=192", "chunk=256"};
    auto moved = moved_by("tfla_recurrent", sizes);
    CHECK(moved["K"].loaded == 3 * 2.0 * 1024 * 128 * 2);  // 3 blocks of values
    CHECK(moved["V"].loaded == 2 * 2.0 * 1024 * 192 * 2);  // 2 blocks of keys
    CHECK(moved["C"].stored == 2 * 5.0 * 128 * 192 * 4);   // before each of 4 chunks, and the last
    CHECK(moved["N"].stored == 2 * 5.0 * 128 * 4);
    CHECK(moved["M"].stored == 2 * 5.0 * 4);

    Arguments sparse = sizes;
    sparse.push_back("save_every=2");
    CHECK(moved_by("tfla_recurrent", sparse)["C"].stored == 2 * 3.0 * 128 * 192 * 4);
}

TEST_CASE("What do the unfused passes move beyond the fused one?", "[kernels]") {
    const double rows = 1000, tensor = rows * 64 * 2;
    auto fused = moved_by("norm_gate", {"rows=1000"});
    CHECK(fused["H"].loaded == tensor);
    CHECK(fused["G"].loaded == tensor);
    CHECK(fused["n"].loaded == rows * 4);
    CHECK(fused["O"].stored == tensor);
    auto unfused = moved_by("norm_gate", {"rows=1000", "fused=false"});
    CHECK(unfused["T"].stored == tensor);
    CHECK(unfused["T"].loaded == tensor);
    CHECK(unfused["O"].stored == tensor);
    CHECK(load_kernel("norm_gate", {"rows=1000", "fused=false"}).then.size() == 1);
}

TEST_CASE("Do copy, transpose and elementwise move every element once?", "[kernels]") {
    const double bytes = 300.0 * 200 * 2;
    for (const char* name : {"copy", "transpose"}) {
        auto moved = moved_by(name, {"m=300", "n=200"});
        CHECK(moved["A"].loaded == bytes);
        CHECK(moved["B"].stored == bytes);
    }
    auto moved = moved_by("elementwise", {"m=300", "n=200", "inputs=3"});
    for (const char* input : {"X1", "X2", "X3"}) CHECK(moved[input].loaded == bytes);
    CHECK(moved["Y"].stored == bytes);
}

TEST_CASE("Does the page on writing a kernel show the file that this test holds to its traffic?",
          "[kernels]") {
    const std::string folder = std::string(L2LENS_SOURCE_DIR) + "/docs/";
    const auto text_of = [](const std::string& path) {
        std::ifstream file(path);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    };
    const std::string path = folder + "examples/add_rmsnorm.lua";
    const std::string text = text_of(path);
    REQUIRE_FALSE(text.empty());
    CHECK(std::count(text.begin(), text.end(), '\n') <= 40);
    // The page shows all of it but the licence.
    CHECK(text_of(folder + "howto-kernel.md").find(text.substr(text.find("about"))) != std::string::npos);

    const double tensor = 1000.0 * 4096 * 2;
    auto moved = moved_by(path, {"tokens=1000"});
    CHECK(moved["X"].loaded == tensor);
    CHECK(moved["R"].loaded == tensor);
    CHECK(moved["W"].loaded == 250.0 * 4096 * 2);  // by each of 250 CTAs
    CHECK(moved["S"].stored == tensor);
    CHECK(moved["S"].loaded == 0);
    CHECK(moved["Y"].stored == tensor);
    CHECK(moved_by(path, {"tokens=1000", "keep=false"})["S"].loaded == tensor);
}

TEST_CASE("How many boxes of a walk hold nothing of their tensor?", "[kernels]") {
    Tensor tensor;
    tensor.rank = 2;
    tensor.shape = {8, 8};
    tensor.element_bytes = 2;
    BoxWalk walk;
    walk.extent = {4, 4};
    walk.step = {0, 4};
    CHECK(boxes_outside(tensor, walk, 2) == 0);  // columns 0 to 3 and 4 to 7
    CHECK(boxes_outside(tensor, walk, 5) == 3);  // 8, 12 and 16
    walk.start = {0, -7};
    CHECK(boxes_outside(tensor, walk, 2) == 1);  // -7 to -4, then -3 to 0
    walk.start = {8, 0};
    CHECK(boxes_outside(tensor, walk, 2) == 2);  // below the last row
    CHECK(boxes_outside(tensor, walk, 0) == 0);
}
