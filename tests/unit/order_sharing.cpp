// SPDX-License-Identifier: Apache-2.0
// What do CTAs read in common, and does the order that follows from it keep a wave's reading small?
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>

#include "base/error.hpp"
#include "base/random.hpp"
#include "kernel/kernel.hpp"
#include "kernel/shared_pieces.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "order/cluster.hpp"
#include "support/catch.hpp"
#include "support/order.hpp"

using namespace l2lens;
using l2lens::test::is_bijection;

namespace {

// The pieces of a GEMM: rows of A, then columns of B. `name` says which tile of the product a launched tile
// is.
template <class Name>
SharedPieces gemm_pieces(GridShape launched, GridShape product, std::int64_t a_bytes, std::int64_t b_bytes,
                         Name name) {
    SharedPieces shared{launched.rows, launched.columns, {0}, {}, {}};
    for (std::int32_t r = 0; r < product.rows; ++r) shared.bytes.push_back(a_bytes);
    for (std::int32_t c = 0; c < product.columns; ++c) shared.bytes.push_back(b_bytes);
    for (std::int32_t i = 0; i < launched.tiles(); ++i) {
        const TileCoord tile = name(i);
        shared.piece.push_back(static_cast<std::uint32_t>(tile.row));
        shared.piece.push_back(static_cast<std::uint32_t>(product.rows + tile.column));
        shared.first.push_back(static_cast<std::uint32_t>(shared.piece.size()));
    }
    return shared;
}
SharedPieces gemm_pieces(GridShape grid, std::int64_t a_bytes = 1, std::int64_t b_bytes = 1) {
    return gemm_pieces(grid, grid, a_bytes, b_bytes, [&](std::int32_t i) {
        return TileCoord{i / grid.columns, i % grid.columns};
    });
}

TileSequence by_sharing(const SharedPieces& shared, std::int64_t wave) {
    OrderContext context;
    context.shared = &shared;
    context.wave = wave;
    return make_order("sharing",
                      {static_cast<std::int32_t>(shared.rows), static_cast<std::int32_t>(shared.columns)},
                      context);
}

// Bytes of the distinct pieces that a wave reads, in the mean over all windows of so many tiles.
double mean_wave_bytes(const SharedPieces& shared, const TileSequence& sequence, std::size_t wave) {
    std::vector<std::int64_t> readers(shared.bytes.size(), 0);
    std::int64_t bytes = 0;
    double sum = 0;
    const auto each = [&](std::size_t id, auto&& change) {
        const TileCoord tile = sequence[id];
        for (const std::uint32_t p :
             shared.of_tile(static_cast<std::size_t>(tile.row * shared.columns + tile.column)))
            change(p);
    };
    for (std::size_t id = 0; id < sequence.size(); ++id) {
        each(id, [&](std::uint32_t p) { bytes += readers[p]++ == 0 ? shared.bytes[p] : 0; });
        if (id >= wave)
            each(id - wave, [&](std::uint32_t p) { bytes -= --readers[p] == 0 ? shared.bytes[p] : 0; });
        if (id + 1 >= wave) sum += static_cast<double>(bytes);
    }
    return sum / static_cast<double>(sequence.size() - wave + 1);
}

Kernel kernel_of(const std::string& name, const std::vector<std::string>& arguments) {
    const Machine machine = load_machine("h200");
    return load_kernel(name, arguments, &machine);
}

std::int64_t readers_of(const SharedPieces& shared, std::uint32_t piece) {
    return std::ranges::count(shared.piece, piece);
}

}  // namespace

// By hand, with rows of A called a, columns of B called b. A block of four: 00 opens a0 and b0; every piece
// would let one tile go on, so the first, a1: 10; b1 lets two, 01 and 11. Placed by the readers of a0: 00 01,
// then 10 11. Ages are now a0 2, b0 1, others 0: a2 lets 20 and 21 go on for 1 + 1/4, b2 02 and 12 for 1 +
// 2/4, so a2; then a3 for the same, as b0 is again one old and b2 would use a1, two old. No row is left, b2
// and b3 follow along a2 and a3, then a0 and a1 along b2 and b3.
TEST_CASE("A GEMM of four by four tiles in waves of four becomes a strip, a turn and a strip", "[order]") {
    CHECK(test::text_of(by_sharing(gemm_pieces({4, 4}), 4)) ==
          "00 01 10 11 20 21 30 31 22 32 23 33 02 03 12 13");
}

// The least that a wave of W tiles of rows of a and columns of b bytes can read: r rows and W / r columns
// with r a = W / r b, which is 2 sqrt(W a b).
TEST_CASE("A wave of a GEMM reads hardly more than the squarest block", "[order]") {
    constexpr std::int64_t kWave = 132;
    for (const std::int64_t b_bytes : {1, 2, 3}) {
        for (const GridShape grid : {GridShape{64, 64}, {128, 32}, {57, 33}, {32, 200}}) {
            INFO(grid.rows << " x " << grid.columns << ", B " << b_bytes);
            const SharedPieces shared = gemm_pieces(grid, 1, b_bytes);
            const TileSequence sequence = by_sharing(shared, kWave);
            REQUIRE(is_bijection(sequence, grid));
            const double least = 2 * std::sqrt(static_cast<double>(kWave * b_bytes));
            CHECK(mean_wave_bytes(shared, sequence, kWave) < 1.15 * least);
        }
    }
}

TEST_CASE("It finds the blocks of a GEMM launched along one axis, and of one whose tiles were shuffled",
          "[order]") {
    constexpr GridShape product{48, 48};
    constexpr std::int64_t kWave = 132;
    std::vector<std::int32_t> tiles(static_cast<std::size_t>(product.tiles()));
    std::iota(tiles.begin(), tiles.end(), 0);
    const auto named = [&](std::int32_t i) {
        const std::int32_t tile = tiles[static_cast<std::size_t>(i)];
        return TileCoord{tile / product.columns, tile % product.columns};
    };
    const GridShape flat{static_cast<std::int32_t>(product.tiles()), 1};
    const double least = 2 * std::sqrt(static_cast<double>(kWave));

    const SharedPieces in_order = gemm_pieces(flat, product, 1, 1, named);
    CHECK(mean_wave_bytes(in_order, by_sharing(in_order, kWave), kWave) < 1.15 * least);

    RandomStream random(11, 0);
    for (std::size_t left = tiles.size(); left > 1; --left)
        std::swap(tiles[left - 1], tiles[random.below(static_cast<std::uint32_t>(left))]);
    const SharedPieces shuffled = gemm_pieces(flat, product, 1, 1, named);
    const TileSequence sequence = by_sharing(shuffled, kWave);
    CHECK(is_bijection(sequence, flat));
    CHECK(mean_wave_bytes(shuffled, sequence, kWave) < 1.25 * least);
    CHECK(sequence == by_sharing(shuffled, kWave));
}

// C = A A^T reads a row of A as a row and as a column, so that sixteen rows are enough for a wave of a
// clique.
TEST_CASE("It finds the blocks of a triangle, which no grid has", "[order]") {
    constexpr std::int32_t kRows = 64, kTiles = kRows * (kRows + 1) / 2;
    constexpr std::int64_t kWave = 132;
    SharedPieces shared{kTiles, 1, {0}, {}, std::vector<std::int64_t>(kRows, 1)};
    for (std::uint32_t i = 0; i < kRows; ++i) {
        for (std::uint32_t j = 0; j <= i; ++j) {
            shared.piece.push_back(j);
            if (j != i) shared.piece.push_back(i);
            shared.first.push_back(static_cast<std::uint32_t>(shared.piece.size()));
        }
    }
    const TileSequence sequence = by_sharing(shared, kWave);
    CHECK(is_bijection(sequence, {kTiles, 1}));
    const double least = 2 * std::sqrt(static_cast<double>(kWave));  // of a block off the diagonal
    CHECK(mean_wave_bytes(shared, sequence, kWave) < 1.15 * least);
    CHECK(mean_wave_bytes(shared, make_order("row_major", {kTiles, 1}), kWave) > 1.5 * least);
}

TEST_CASE("By sharing, every grid of small GEMMs is covered, in waves of any size", "[order]") {
    test::for_each_grid(9, [&](GridShape grid) {
        for (const std::int64_t wave : {1, 2, 7, 1000}) {
            const TileSequence sequence = by_sharing(gemm_pieces(grid), wave);
            if (!is_bijection(sequence, grid) || std::ssize(sequence) != grid.tiles())
                FAIL_CHECK(grid.rows << " x " << grid.columns << " in waves of " << wave << ": "
                                     << check_order(sequence, grid).describe());
        }
    });
    SUCCEED("all grids visited");
}

TEST_CASE("What shares nothing stays in launch order, and what shares with few is not torn apart",
          "[order]") {
    SharedPieces none{3, 4, std::vector<std::uint32_t>(13, 0), {}, {}};
    CHECK(by_sharing(none, 4) == make_order("row_major", {3, 4}));

    // Graphs of random pairs: each component is finished before the next one begins.
    RandomStream random(5, 0);
    for (int trial = 0; trial < 20; ++trial) {
        constexpr std::uint32_t kTiles = 60, kPieces = 30;
        SharedPieces shared{kTiles, 1, {0}, {}, std::vector<std::int64_t>(kPieces, 128)};
        boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph(kTiles + kPieces);
        for (std::uint32_t t = 0; t < kTiles; ++t) {
            std::set<std::uint32_t> own{random.below(kPieces)};
            if (random.below(4) == 0) own.insert(random.below(kPieces));
            for (const std::uint32_t p : own) boost::add_edge(t, kTiles + p, graph);
            shared.piece.insert(shared.piece.end(), own.begin(), own.end());
            shared.first.push_back(static_cast<std::uint32_t>(shared.piece.size()));
        }
        std::vector<int> component(kTiles + kPieces);
        boost::connected_components(graph, component.data());
        std::set<int> finished;
        int current = -1;
        for (const TileCoord tile : by_sharing(shared, kTiles)) {
            const int own = component[static_cast<std::size_t>(tile.row)];
            if (own == current) continue;
            CHECK(finished.insert(own).second);
            current = own;
        }
    }
}

TEST_CASE("Clusters go together, and remaps of dies stand before it", "[order]") {
    constexpr GridShape grid{9, 8};
    const SharedPieces shared = gemm_pieces(grid);
    OrderContext context;
    context.shared = &shared;
    context.wave = 8;
    context.cluster_rows = 2;
    const TileSequence sequence = make_order("sharing", grid, context);
    CHECK(launches_clusters(sequence, {2, 1}));
    CHECK(is_bijection(sequence, grid));
    CHECK(sequence ==
          expand_clusters(make_order("sharing", cluster_grid(grid, {2, 1}), context), grid, {2, 1}));

    // Two rows of A come and go together: 66 clusters read r rows and 132 / r columns, as single tiles do.
    const SharedPieces large = gemm_pieces({64, 64});
    context.shared = &large;
    context.wave = 132;
    CHECK(mean_wave_bytes(large, make_order("sharing", {64, 64}, context), 132) <
          1.15 * 2 * std::sqrt(132.0));
    context.shared = &shared;
    context.wave = 8;

    context.cluster_rows = 1;
    CHECK(is_bijection(make_order("xcd_tall+sharing:9", grid, context), grid));
    CHECK(follows_from_kernel("outer_fastest:xcd_tall+sharing:9"));
    CHECK_FALSE(follows_from_kernel("xcd_tall+group_m:8"));
    CHECK_THROWS_WITH(make_order("sharing", {4, 4}, context), ContainsSubstring("9 x 8 tiles"));
    CHECK_THROWS_WITH(make_order("sharing", grid), ContainsSubstring("order show: --kernel NAME"));
}

TEST_CASE("A GEMM's pieces are its rows of A and columns of B, whole", "[kernel]") {
    const SharedPieces shared = shared_pieces(kernel_of("gemm", {"m=1024", "n=768", "k=512"}));
    CHECK(shared.rows == 8);
    CHECK(shared.columns == 6);
    REQUIRE(shared.bytes.size() == 8 + 6);
    for (const std::int64_t bytes : shared.bytes) CHECK(bytes == 128 * 512 * 2);
    CHECK(shared.piece.size() == 48 * 2);
    CHECK(readers_of(shared, shared.of_tile(0)[0]) + readers_of(shared, shared.of_tile(0)[1]) == 8 + 6);
}

// Blocks of 32 x 128 of 4 bytes on 3 x 3: each has halos of one row above and below and of a line to the left
// and right, rounded out.
TEST_CASE("Blocks of a stencil share their halos, cut where boxes begin and end", "[kernel]") {
    const SharedPieces shared = shared_pieces(kernel_of("stencil2d", {"m=96", "n=384", "radius=1"}));
    const auto common = [&](std::size_t a, std::size_t b) {
        std::int64_t bytes = 0;
        for (const std::uint32_t p : shared.of_tile(a))
            if (std::ranges::binary_search(shared.of_tile(b), p)) bytes += shared.bytes[p];
        return bytes;
    };
    CHECK(common(3, 4) == 2 * 32 * 128);  // a line of 32 rows of either
    CHECK(common(1, 4) == 2 * 128 * 4);   // a row of either
    CHECK(common(0, 4) == 2 * 128);       // at the corner, of the halos below and to the right
    CHECK(common(0, 2) == 0);
}

TEST_CASE("Causal blocks of queries share the keys that the shorter one reads", "[kernel]") {
    const Kernel kernel = kernel_of("attention", {"heads=2", "seq=512", "bq=128", "bk=128", "causal=true"});
    const SharedPieces shared = shared_pieces(kernel);
    CHECK(shared.columns == 4);
    for (std::size_t tile = 0; tile < 4; ++tile)
        CHECK(shared.of_tile(tile).size() ==
              std::min<std::size_t>(tile + 1, 3));  // the last one's keys are its own
    for (const std::int64_t bytes : shared.bytes) CHECK(bytes == 2 * 128 * 128 * 2);  // keys and values
}

TEST_CASE("Boxes with gaps between them share what both read, not what lies between", "[kernel]") {
    Kernel kernel;
    Tensor tensor;
    tensor.name = "X";
    tensor.rank = 1;
    tensor.shape[0] = 1024;
    tensor.stride_bytes[0] = tensor.element_bytes = 128;
    kernel.tensors.push_back(tensor);
    kernel.grid = {2, 1};
    for (std::int64_t tile = 0; tile < 2; ++tile) {
        BoxWalk walk;
        walk.start[0] = tile;
        walk.step[0] = 2;
        walk.extent[0] = 1;
        BoxWalk last = walk;
        last.start[0] = 100;
        last.step[0] = 0;
        kernel.programs.push_back({{{10, 0, 0, {walk}, {}}, {1, 0, 0, {last}, {}}}});
    }
    const SharedPieces shared = shared_pieces(kernel);
    CHECK(shared.bytes == std::vector<std::int64_t>{128});
    CHECK(shared.piece == std::vector<std::uint32_t>{0, 0});
}
