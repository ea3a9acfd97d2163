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
// cost_of());
// 3. or the one with the largest share of its bytes live;
// 4. or, where nothing that waits has to do with what is live, the first one that waits, and a block around
// it. All ties fall to who comes first in launch order. Each time that a piece comes or goes its readers are
// looked at: 10 ms for 64 x 64 tiles of a GEMM, 0.7 s for 256 x 256.
//
// The orders of Boost.Graph that make a matrix' envelope or wavefront small (Cuthill-McKee, King, Sloan) were
// tried on the same graph: they keep few pieces live over the whole launch, where the L2 asks for few within
// a wave, so a GEMM becomes a raster and an 8192 cube reads 4.4 to 5.7 GB from DRAM, where this order
// reads 1.7, as group_m:12 does.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/range/iterator_range.hpp>

#include "base/error.hpp"
#include "base/random.hpp"
#include "kernel/shared_pieces.hpp"
#include "order/cluster.hpp"
#include "order/families.hpp"

namespace l2lens {
namespace {

using Vertex = std::uint32_t;
constexpr Vertex kNone = ~Vertex{0};

// Bipartite, with an edge each way: the tiles, numbered as in their plane, and after them the pieces.
using Csr = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                               boost::no_property, Vertex, Vertex>;

class SharingGraph {
public:
    explicit SharingGraph(const SharedPieces& shared)
        : shared_(shared), tiles_(static_cast<Vertex>(shared.tiles())), graph_(edges_of(shared)) {}

    Vertex tiles() const { return tiles_; }
    Vertex pieces() const { return static_cast<Vertex>(shared_.bytes.size()); }
    std::int64_t bytes(Vertex piece) const { return shared_.bytes[piece]; }
    std::span<const Vertex> pieces_of(Vertex tile) const { return shared_.of_tile(tile); }
    auto readers(Vertex piece) const {
        return boost::make_iterator_range(boost::adjacent_vertices(tiles_ + piece, graph_));
    }
    std::int64_t reader_count(Vertex piece) const { return boost::out_degree(tiles_ + piece, graph_); }

private:
    static Csr edges_of(const SharedPieces& shared) {
        const auto tiles = static_cast<Vertex>(shared.tiles());
        std::vector<std::pair<Vertex, Vertex>> edges;
        edges.reserve(2 * shared.piece.size());
        for (Vertex tile = 0; tile < tiles; ++tile) {
            for (const Vertex piece : shared.of_tile(tile)) {
                edges.emplace_back(tile, tiles + piece);
                edges.emplace_back(tiles + piece, tile);
            }
        }
        const auto vertices = tiles + static_cast<Vertex>(shared.bytes.size());
        return {boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), vertices};
    }

    const SharedPieces& shared_;
    Vertex tiles_;
    Csr graph_;
};

// Does a step that keeps old pieces in use pay for it?
enum class Rent { Free, Paid };

// The tiles placed so far, what is live, and which tiles that makes good ones to go on with.
class Placement {
public:
    Placement(const SharingGraph& graph, std::int64_t wave)
        : graph_(graph),
          wave_(static_cast<std::size_t>(wave)),
          tiles_(graph.tiles()),
          pieces_(graph.pieces()) {
        for (Vertex t = 0; t < graph.tiles(); ++t) {
            for (const Vertex p : graph.pieces_of(t)) {
                ++pieces_[p].waiting;
                ++tiles_[t].missing;
                tiles_[t].missing_sum ^= p;
                tiles_[t].bytes += graph.bytes(p);
            }
        }
    }

    const std::vector<Vertex>& placed() const { return placed_; }
    bool waits(Vertex tile) const { return !tiles_[tile].placed; }

    // kNone when no tile that waits shares anything that is live.
    Vertex next(Rent rent) {
        if (!ready_.empty()) return *ready_.begin();
        if (!completing_.empty()) return first_completed_by(best_piece(rent));
        return partly_live_.empty() ? kNone : partly_live_.begin()->tile;
    }
    Vertex first_waiting() {
        while (scanned_ < graph_.tiles() && !waits(scanned_)) ++scanned_;
        return scanned_ < graph_.tiles() ? scanned_ : kNone;
    }

    void place(Vertex tile) {
        uncount(tile);
        tiles_[tile].placed = true;
        placed_.push_back(tile);
        const std::size_t now = placed_.size();
        for (const Vertex p : graph_.pieces_of(tile)) {
            if (pieces_[p].live) by_use_.erase({pieces_[p].last_use, p});
            pieces_[p].last_use = now;
            if (pieces_[p].live)
                by_use_.insert({now, p});
            else
                set_live(p, true);
        }
        while (!by_use_.empty() && by_use_.begin()->first < now &&
               (by_use_.begin()->first + wave_ <= now || live_bytes_ > most_live_))
            set_live(by_use_.begin()->second, false);
        for (const Vertex p : graph_.pieces_of(tile))
            if (--pieces_[p].waiting == 0) set_live(p, false);
    }
    void allow_live(std::int64_t bytes) { most_live_ = bytes; }

    // Takes the last `count` tiles back, before which nothing was live.
    std::vector<Vertex> take_back(std::size_t count) {
        std::vector<Vertex> taken(placed_.end() - static_cast<std::ptrdiff_t>(count), placed_.end());
        placed_.resize(placed_.size() - count);
        for (const Vertex t : taken)
            for (const Vertex p : graph_.pieces_of(t))
                if (pieces_[p].live) set_live(p, false);
        for (const Vertex t : taken) {
            tiles_[t].placed = false;
            for (const Vertex p : graph_.pieces_of(t)) ++pieces_[p].waiting;
            scanned_ = std::min(scanned_, t);
        }
        return taken;
    }

private:
    struct Tile {
        Vertex missing = 0;            // pieces that are not live
        Vertex missing_sum = 0;        // these xored: the one, where it is one
        std::uint64_t live_names = 0;  // a sum of hashes that names those that are
        std::int64_t live_bytes = 0;
        std::int64_t bytes = 0;
        bool placed = false;
    };
    struct Piece {
        bool live = false;
        std::size_t last_use = 0;
        std::int64_t waiting = 0;    // readers
        std::int64_t completes = 0;  // tiles that wait, lack this piece alone, and have others live
        std::uint64_t kept = 0;      // the names of what those keep in use
    };
    // Pieces that complete most tiles per byte first; those that cost the same stand side by side.
    struct Completing {
        double per_byte;
        std::uint64_t kept;
        Vertex piece;
        friend bool operator<(const Completing& a, const Completing& b) {
            if (a.per_byte != b.per_byte) return a.per_byte > b.per_byte;
            return std::pair(a.kept, a.piece) < std::pair(b.kept, b.piece);
        }
    };
    struct PartlyLive {
        double share;
        Vertex tile;
        friend bool operator<(const PartlyLive& a, const PartlyLive& b) {
            return a.share != b.share ? a.share > b.share : a.tile < b.tile;
        }
    };

    Completing completing(Vertex p) const {
        const Piece& piece = pieces_[p];
        return {static_cast<double>(piece.completes) / static_cast<double>(graph_.bytes(p)), piece.kept, p};
    }

    // What a waiting tile is good for, in the sets that next() chooses from.
    void count(Vertex t) {
        const Tile& tile = tiles_[t];
        if (tile.live_bytes == 0) return;
        if (tile.missing == 0) {
            ready_.insert(t);
            return;
        }
        partly_live_.insert({share_of(tile), t});
        if (tile.missing == 1) change_completes(tile, +1);
    }
    void uncount(Vertex t) {
        const Tile& tile = tiles_[t];
        if (tile.live_bytes == 0) return;
        if (tile.missing == 0) {
            ready_.erase(t);
            return;
        }
        partly_live_.erase({share_of(tile), t});
        if (tile.missing == 1) change_completes(tile, -1);
    }
    static double share_of(const Tile& tile) {
        return static_cast<double>(tile.live_bytes) / static_cast<double>(tile.bytes);
    }
    void change_completes(const Tile& tile, int by) {
        Piece& piece = pieces_[tile.missing_sum];
        if (piece.completes > 0) completing_.erase(completing(tile.missing_sum));
        piece.completes += by;
        piece.kept += by > 0 ? tile.live_names : 0 - tile.live_names;
        if (piece.completes > 0) completing_.insert(completing(tile.missing_sum));
    }

    void set_live(Vertex p, bool live) {
        for (const Vertex t : graph_.readers(p)) {
            Tile& tile = tiles_[t];
            if (!tile.placed) uncount(t);
            tile.missing += live ? ~Vertex{0} : Vertex{1};
            tile.missing_sum ^= p;
            tile.live_names += live ? mix64(p + 1) : 0 - mix64(p + 1);
            tile.live_bytes += live ? graph_.bytes(p) : -graph_.bytes(p);
            if (!tile.placed) count(t);
        }
        pieces_[p].live = live;
        live_bytes_ += live ? graph_.bytes(p) : -graph_.bytes(p);
        if (live)
            by_use_.insert({pieces_[p].last_use, p});
        else
            by_use_.erase({pieces_[p].last_use, p});
    }

    // The bytes of a piece, and rent for the live ones that the tiles it completes keep in use: their bytes
    // for the part of a wave by which that lengthens their stay. Over a launch the rents add up to the bytes
    // live in the mean, times the waves. A strip of tiles goes on the way it went, since the pieces it needs
    // were used just now; without rent it would grow to both sides, until a wave touches a row and a column
    // of everything.
    double cost_of(Vertex p) {
        used_.clear();
        for (const Vertex t : graph_.readers(p)) {
            if (!waits(t) || tiles_[t].missing != 1) continue;
            for (const Vertex q : graph_.pieces_of(t))
                if (q != p) used_.push_back(q);
        }
        std::ranges::sort(used_);
        used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
        double rent = 0;
        for (const Vertex q : used_)
            rent += static_cast<double>(graph_.bytes(q)) *
                    static_cast<double>(placed_.size() - pieces_[q].last_use);
        return static_cast<double>(graph_.bytes(p)) + rent / static_cast<double>(wave_);
    }

    // The piece that completes most tiles for its cost, the first of several. A cost is at least the bytes,
    // so those that cannot be better than what was found are not looked at; nor are all of those alike.
    Vertex best_piece(Rent rent) {
        constexpr int kMostTried =
            256;  // kinds, which only a plane without rhyme or reason has; any will do there
        double best = 0;
        Vertex chosen = kNone;
        auto at = completing_.begin();
        for (int tried = 0; at != completing_.end() && at->per_byte >= best && tried < kMostTried; ++tried) {
            const double good = rent == Rent::Free
                                    ? at->per_byte
                                    : static_cast<double>(pieces_[at->piece].completes) / cost_of(at->piece);
            if (good > best || (good == best && at->piece < chosen)) {
                best = good;
                chosen = at->piece;
            }
            at = completing_.upper_bound({at->per_byte, at->kept, kNone});
        }
        return chosen;
    }
    Vertex first_completed_by(Vertex p) const {
        for (const Vertex t : graph_.readers(p))
            if (waits(t) && tiles_[t].missing == 1) return t;
        return kNone;
    }

    const SharingGraph& graph_;
    std::size_t wave_;
    std::vector<Tile> tiles_;
    std::vector<Piece> pieces_;
    std::set<std::pair<std::size_t, Vertex>> by_use_;  // what is live, the longest unused first
    std::int64_t live_bytes_ = 0;
    std::int64_t most_live_ = std::numeric_limits<std::int64_t>::max();
    std::set<Vertex> ready_;
    std::set<Completing> completing_;
    std::set<PartlyLive> partly_live_;
    std::vector<Vertex> placed_;
    std::vector<Vertex> used_;
    Vertex scanned_ = 0;  // all before it are placed
};

// Some of the tiles, ascending, and what they read.
SharedPieces part_of(const SharedPieces& shared, const std::vector<Vertex>& tiles) {
    std::vector<Vertex> pieces;
    for (const Vertex t : tiles)
        pieces.insert(pieces.end(), shared.of_tile(t).begin(), shared.of_tile(t).end());
    std::ranges::sort(pieces);
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
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
        std::ranges::sort(own);
        own.erase(std::unique(own.begin(), own.end()), own.end());
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
