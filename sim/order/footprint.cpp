// SPDX-License-Identifier: Apache-2.0
// What a wave shares, before any cache is modelled: how many distinct rows (stripes of A) and columns
// (stripes of B) its tiles touch is the least it must fetch.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/error.hpp"
#include "order/order.hpp"

namespace l2lens {
namespace {

// No-op CTAs exit at once and free their slot, so they take no place in a wave.
TileSequence without_no_ops(std::span<const TileCoord> sequence) {
    TileSequence real;
    real.reserve(sequence.size());
    std::copy_if(sequence.begin(), sequence.end(), std::back_inserter(real),
                 [](TileCoord tile) { return tile != kNoTile; });
    return real;
}

double distinct(std::span<const TileCoord> window, std::int32_t TileCoord::*axis,
                std::vector<std::int32_t>& scratch) {
    scratch.clear();
    for (const TileCoord& tile : window) scratch.push_back(tile.*axis);
    std::sort(scratch.begin(), scratch.end());
    return static_cast<double>(std::unique(scratch.begin(), scratch.end()) - scratch.begin());
}

bool edge_neighbours(TileCoord a, TileCoord b) {
    return std::abs(std::int64_t{a.row} - b.row) + std::abs(std::int64_t{a.column} - b.column) == 1;
}

}  // namespace

WaveFootprint wave_footprint(std::span<const TileCoord> sequence, std::int64_t wave) {
    if (wave <= 0) throw BadInput("a wave of " + std::to_string(wave) + " CTAs; it must be at least 1");
    const TileSequence real = without_no_ops(sequence);
    WaveFootprint footprint;
    if (real.empty()) return footprint;
    for (std::size_t i = 1; i < real.size(); ++i)
        footprint.jumps += edge_neighbours(real[i - 1], real[i]) ? 0 : 1;

    // Whole waves only: the tail would pull the mean down. A grid smaller than a wave is its own wave.
    const std::size_t size = std::min(static_cast<std::size_t>(wave), real.size());
    const std::size_t whole = real.size() / size;
    std::vector<std::int32_t> scratch;
    for (std::size_t i = 0; i < whole; ++i) {
        const auto window = std::span(real).subspan(i * size, size);
        footprint.mean_rows += distinct(window, &TileCoord::row, scratch);
        footprint.mean_columns += distinct(window, &TileCoord::column, scratch);
    }
    footprint.mean_rows /= static_cast<double>(whole);
    footprint.mean_columns /= static_cast<double>(whole);
    footprint.waves = static_cast<double>(real.size()) / static_cast<double>(wave);
    return footprint;
}

}  // namespace l2lens
