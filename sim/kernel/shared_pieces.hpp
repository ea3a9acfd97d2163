// SPDX-License-Identifier: Apache-2.0
// What the CTAs of a kernel read in common. Boxes of different CTAs may overlap without being equal (a
// stencil's halos, a causal head's keys), so the tensors are cut wherever a box begins or ends: a piece is
// what lies between such cuts, and each CTA reads it wholly or not at all. The pieces are as few as there are
// different sets of readers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace l2lens {

struct Kernel;

// The tiles of the ordered plane and the pieces that two of them or more load, in compressed rows.
struct SharedPieces {
    std::int64_t rows = 0;  // tiles of the plane, row-major
    std::int64_t columns = 0;
    std::vector<std::uint32_t> first;  // of a tile, and one past the last
    std::vector<std::uint32_t> piece;  // what it reads, ascending
    std::vector<std::int64_t> bytes;   // of a piece, in whole lines

    std::size_t tiles() const { return first.size() - 1; }
    std::span<const std::uint32_t> of_tile(std::size_t tile) const {
        return {piece.data() + first[tile], first[tile + 1] - first[tile]};
    }
    void add_tile(std::span<const std::uint32_t> pieces) {
        piece.insert(piece.end(), pieces.begin(), pieces.end());
        first.push_back(static_cast<std::uint32_t>(piece.size()));
    }
};

// Of the first plane, where axes run outside of it. Throws BadInput when the boxes are cut into too many
// pieces.
SharedPieces shared_pieces(const Kernel& kernel);

// Pieces with the same readers as one, and without those of a single reader.
SharedPieces merged_by_readers(const SharedPieces& shared);

}  // namespace l2lens
