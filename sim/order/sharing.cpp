// SPDX-License-Identifier: Apache-2.0
// The order that the sharing itself suggests, for kernels that nobody has written a swizzle for: from which
// tiles read which pieces of the tensors, and from nothing else. It knows no axes: the blocks of a triangle,
// or of a GEMM whose rows were shuffled, are found as those of a GEMM are.
//
// A piece is live while one of the last W tiles read it, W being a wave, and some tile that waits will, and
// while what is live is no more than a block of a wave needs; else what was not read for longest is dropped.
// What becomes live is what DRAM must bring, so the next tile is
// 1. one that lacks no piece;
// 2. or one that lacks a single piece: the piece that lets most tiles go on for what it costs (see
// Placement::cost_of());
// 3. or the one with the largest share of its bytes live;
// 4. or, where nothing that waits has to do with what is live, the first one that waits, and a block around
// it. All ties fall to who comes first in launch order. Each time that a piece comes or goes its readers are
// looked at: 10 ms for 64 x 64 tiles of a GEMM, half a second for 256 x 256.
//
// The orders of Boost.Graph that make a matrix' envelope or wavefront small (Cuthill-McKee, King, Sloan) were
// tried on the same graph: they keep few pieces live over the whole launch, where the L2 asks for few within
// a wave, so a GEMM becomes a raster and an 8192 cube reads 4.4 to 5.7 GB from DRAM, where this order
// reads 1.7, as group_m:12 does.
#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/make_set.hpp"
#include "kernel/shared_pieces.hpp"
#include "order/cluster.hpp"
#include "order/families.hpp"
#include "order/sharing_placement.hpp"

namespace l2lens {
namespace {

// Some of the tiles, ascending, and what they read.
SharedPieces part_of(const SharedPieces& shared, const std::vector<Vertex>& tiles) {
    std::vector<Vertex> pieces;
    for (const Vertex t : tiles)
        pieces.insert(pieces.end(), shared.of_tile(t).begin(), shared.of_tile(t).end());
    make_set(pieces);
    SharedPieces part{0, 0, {0}, {}, {}};
    for (const Vertex p : pieces) part.bytes.push_back(shared.bytes[p]);
    for (const Vertex t : tiles) {
        for (const Vertex p : shared.of_tile(t))
            part.piece.push_back(static_cast<Vertex>(std::ranges::lower_bound(pieces, p) - pieces.begin()));
        part.first.push_back(static_cast<Vertex>(part.piece.size()));
    }
    return part;
}

std::int64_t bytes_of(const SharedPieces& shared, const std::vector<Vertex>& tiles) {
    const SharedPieces part = part_of(shared, tiles);
    return std::accumulate(part.bytes.begin(), part.bytes.end(), std::int64_t{0});
}

// A block in the order in which it is left on one side: the readers of one piece of its first tile, then
// piece by piece what they let go on. The piece is the one that most of the block reads, for its bytes: each
// of the others' pieces then completes as many tiles as it has readers.
std::vector<Vertex> swept(const SharedPieces& shared, std::vector<Vertex> block, Vertex first) {
    std::ranges::sort(block);
    const SharedPieces part = part_of(shared, block);
    const SharingGraph graph(part);
    Placement placement(graph, std::ssize(block));
    const auto start = static_cast<Vertex>(std::ranges::lower_bound(block, first) - block.begin());
    const auto readers_per_byte = [&](Vertex p) {
        return static_cast<double>(graph.reader_count(p)) / static_cast<double>(graph.bytes(p));
    };
    placement.place(start);
    const std::span<const Vertex> own = graph.pieces_of(start);
    const Vertex spine = *std::ranges::max_element(own, {}, readers_per_byte);
    for (const Vertex t : graph.readers(spine))
        if (placement.waits(t)) placement.place(t);
    for (Vertex t = 0; t != kNone;) {
        t = placement.next(Rent::Free);
        if (t == kNone) t = placement.first_waiting();
        if (t != kNone) placement.place(t);
    }
    std::vector<Vertex> order;
    for (const Vertex t : placement.placed()) order.push_back(block[t]);
    return order;
}

std::vector<Vertex> order_of_tiles(const SharedPieces& shared, std::int64_t wave) {
    const SharingGraph graph(shared);
    Placement placement(graph, wave);
    std::int64_t most_live = 0;
    for (;;) {
        if (const Vertex next = placement.next(Rent::Paid); next != kNone) {
            placement.place(next);
            continue;
        }
        const Vertex first = placement.first_waiting();
        if (first == kNone) return placement.placed();
        placement.place(first);
        if (placement.next(Rent::Free) == kNone)
            continue;  // it shares with tiles that are placed, if with any
        // A block of a wave, grown without rent: as square as its bytes allow. No later wave needs more.
        placement.allow_live(std::numeric_limits<std::int64_t>::max());
        std::size_t block = 1;
        for (; std::cmp_less(block, wave); ++block) {
            const Vertex next = placement.next(Rent::Free);
            if (next == kNone) break;
            placement.place(next);
        }
        const std::vector<Vertex> tiles = placement.take_back(block);
        most_live = std::max(most_live, bytes_of(shared, tiles));
        placement.allow_live(most_live);
        for (const Vertex t : swept(shared, tiles, first)) placement.place(t);
    }
}

// The clusters of the plane and what each of them reads.
SharedPieces of_clusters(const SharedPieces& shared, ClusterShape cluster) {
    const GridShape tiles{static_cast<std::int32_t>(shared.rows), static_cast<std::int32_t>(shared.columns)};
    const GridShape clusters = cluster_grid(tiles, cluster);
    SharedPieces of_all{clusters.rows, clusters.columns, {0}, {}, shared.bytes};
    std::vector<Vertex> own;
    for (Index i = 0; i < clusters.tiles(); ++i) {
        own.clear();
        for (Index r = 0; r < cluster.rows; ++r) {
            for (Index c = 0; c < cluster.columns; ++c) {
                const Index row = i / clusters.columns * cluster.rows + r;
                const Index column = i % clusters.columns * cluster.columns + c;
                if (row >= tiles.rows || column >= tiles.columns) continue;
                const auto of = shared.of_tile(static_cast<std::size_t>(row * tiles.columns + column));
                own.insert(own.end(), of.begin(), of.end());
            }
        }
        make_set(own);
        of_all.add_tile(own);
    }
    return merged_by_readers(of_all);
}

}  // namespace

TileSequence sharing(const OrderArgs& args, GridShape grid, const OrderContext& context) {
    if (context.shared == nullptr)
        throw BadInput("order '" + args.text +
                       "' follows from what the CTAs of a kernel read: name one (order show: --kernel NAME)");
    const SharedPieces& shared = *context.shared;
    const GridShape tiles{static_cast<std::int32_t>(shared.rows), static_cast<std::int32_t>(shared.columns)};
    const ClusterShape cluster{context.cluster_rows, context.cluster_columns};
    const GridShape clusters = cluster_grid(tiles, cluster);
    const bool of_tiles = grid.rows == tiles.rows && grid.columns == tiles.columns;
    if (!of_tiles && (grid.rows != clusters.rows || grid.columns != clusters.columns))
        throw BadInput("order '" + args.text + "': the kernel has " + std::to_string(tiles.rows) + " x " +
                       std::to_string(tiles.columns) + " tiles");
    const Index wave = std::max<Index>(1, (args[0] > 0 ? args[0] : context.wave) / cluster.ctas());
    const std::vector<Vertex> order = cluster.ctas() == 1
                                          ? order_of_tiles(shared, wave)
                                          : order_of_tiles(of_clusters(shared, cluster), wave);
    TileSequence sequence = map_ids(std::ssize(order), [&](Index id) {
        const Index place = order[static_cast<std::size_t>(id)];
        return tile_at(place / clusters.columns, place % clusters.columns);
    });
    return of_tiles && cluster.ctas() > 1 ? expand_clusters(sequence, tiles, cluster) : sequence;
}

}  // namespace l2lens
