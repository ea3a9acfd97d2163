// SPDX-License-Identifier: Apache-2.0
// Which tiles read which pieces, in Boost.Graph's compressed rows.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/range/iterator_range.hpp>

#include "kernel/shared_pieces.hpp"

namespace l2lens {

using Vertex = std::uint32_t;
inline constexpr Vertex kNone = ~Vertex{0};

class SharingGraph {
public:
    // `shared` has to live as long as this.
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
    // Bipartite, with an edge each way: the tiles, numbered as in their plane, and after them the pieces.
    using Csr = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                   boost::no_property, Vertex, Vertex>;

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

}  // namespace l2lens
