// SPDX-License-Identifier: Apache-2.0
#include "kernel/shared_pieces.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "base/make_set.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "kernel/kernel.hpp"

namespace l2lens {
namespace {

// Most pairs of a tile and what it reads between two cuts: 32 MiB, and what an order by sharing takes some
// seconds for.
constexpr std::size_t kMostPairs = std::size_t{1} << 23;

// All that a walk reads of a tensor: the last dimension in lines, since a line is what the L2 keeps.
struct Region {
    int tensor = 0;
    Index low{};
    Index high{};
    bool operator==(const Region&) const = default;
};

struct RegionHash {
    std::size_t operator()(const Region& region) const {
        std::uint64_t h = mix64(static_cast<std::uint64_t>(region.tensor));
        for (const Index* index : {&region.low, &region.high})
            for (const std::int64_t i : *index) h = mix64(h ^ static_cast<std::uint64_t>(i));
        return h;
    }
};

// The steps [begin, end) of a walk as one region, cut to the tensor; empty where it lies outside.
Region region_of(const Tensor& tensor, const BoxWalk& box, std::int64_t begin, std::int64_t end) {
    Region region{box.tensor, {}, {}};
    const auto rank = static_cast<std::size_t>(tensor.rank);
    for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t a = box.start[d] + begin * box.step[d];
        const std::int64_t b = box.start[d] + (end - 1) * box.step[d];
        region.low[d] = std::clamp<std::int64_t>(std::min(a, b), 0, tensor.shape[d]);
        region.high[d] = std::clamp<std::int64_t>(std::max(a, b) + box.extent[d], 0, tensor.shape[d]);
    }
    std::int64_t& low = region.low[rank - 1];
    std::int64_t& high = region.high[rank - 1];
    low = low * tensor.element_bytes / kLineBytes;
    high = ceil_div(high * tensor.element_bytes, std::int64_t{kLineBytes});
    return region;
}

bool is_empty(const Region& region, int rank) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d)
        if (region.low[d] >= region.high[d]) return true;
    return false;
}

// Does each step begin where or before the one before it ends?
bool leaves_no_gaps(const Tensor& tensor, const BoxWalk& box) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d)
        if (std::abs(box.step[d]) > box.extent[d]) return false;
    return true;
}

void check_pairs(std::size_t pairs) {
    if (pairs > kMostPairs)
        throw BadInput("the boxes of the CTAs overlap in too many pieces: more than " +
                       std::to_string(kMostPairs) + " pairs of a CTA and a piece");
}

// The distinct regions of a kernel, and which of them each tile reads.
class Regions {
public:
    explicit Regions(const Kernel& kernel) : kernel_(kernel) {}

    std::vector<std::uint32_t> of_program(const Program& program) {
        std::vector<std::uint32_t> ids;
        for (const Phase& phase : program.phases)
            for (const BoxWalk& box : phase.loads) add(box, phase.count, ids);
        make_set(ids);
        return ids;
    }
    const std::vector<Region>& all() const { return regions_; }

private:
    void add(const BoxWalk& box, std::int64_t count, std::vector<std::uint32_t>& ids) {
        const Tensor& tensor = kernel_.tensors[static_cast<std::size_t>(box.tensor)];
        const std::int64_t together = leaves_no_gaps(tensor, box) ? count : 1;
        for (std::int64_t k = 0; k < count; k += together) {
            const Region region = region_of(tensor, box, k, k + together);
            if (is_empty(region, tensor.rank)) continue;
            const auto [place, fresh] = ids_.try_emplace(region, static_cast<std::uint32_t>(regions_.size()));
            if (fresh) regions_.push_back(region);
            ids.push_back(place->second);
            check_pairs(ids.size());
        }
    }

    const Kernel& kernel_;
    std::unordered_map<Region, std::uint32_t, RegionHash> ids_;
    std::vector<Region> regions_;
};

// The cells that the cuts at all ends of all regions divide a tensor into.
class Cells {
public:
    Cells(const Kernel& kernel, const std::vector<Region>& regions)
        : kernel_(kernel), cuts_(kernel.tensors.size()), ids_(kernel.tensors.size()) {
        for (const Region& region : regions) {
            const auto t = static_cast<std::size_t>(region.tensor);
            for (std::size_t d = 0; d < rank(t); ++d) {
                cuts_[t][d].push_back(region.low[d]);
                cuts_[t][d].push_back(region.high[d]);
            }
        }
        for (auto& tensor : cuts_) {
            for (std::vector<std::int64_t>& cuts : tensor) make_set(cuts);
        }
    }

    // Ids of the cells of a region, numbered as they are first seen.
    std::vector<std::uint32_t> of_region(const Region& region) {
        const auto t = static_cast<std::size_t>(region.tensor);
        std::array<std::size_t, kMaxRank> low{}, high{}, at{};
        std::size_t cells = 1;
        for (std::size_t d = 0; d < rank(t); ++d) {
            low[d] = at[d] = place(t, d, region.low[d]);
            high[d] = place(t, d, region.high[d]);
            cells *= high[d] - low[d];
            check_pairs(cells);
        }
        std::vector<std::uint32_t> ids;
        ids.reserve(cells);
        for (std::size_t i = 0; i < cells; ++i) {
            ids.push_back(id_of(t, at));
            for (std::size_t d = rank(t); d-- > 0 && ++at[d] == high[d];) at[d] = low[d];
        }
        return ids;
    }
    const std::vector<std::int64_t>& bytes() const { return bytes_; }

private:
    std::size_t rank(std::size_t tensor) const {
        return static_cast<std::size_t>(kernel_.tensors[tensor].rank);
    }
    std::size_t place(std::size_t tensor, std::size_t d, std::int64_t cut) const {
        const std::vector<std::int64_t>& cuts = cuts_[tensor][d];
        return static_cast<std::size_t>(std::ranges::lower_bound(cuts, cut) - cuts.begin());
    }
    std::uint32_t id_of(std::size_t tensor, const std::array<std::size_t, kMaxRank>& at) {
        std::uint64_t key = 0;
        for (std::size_t d = 0; d < rank(tensor); ++d) key = key * cuts_[tensor][d].size() + at[d];
        const auto [place, fresh] = ids_[tensor].try_emplace(key, static_cast<std::uint32_t>(bytes_.size()));
        if (fresh) {
            std::int64_t bytes = kLineBytes;
            for (std::size_t d = 0; d < rank(tensor); ++d)
                bytes *= cuts_[tensor][d][at[d] + 1] - cuts_[tensor][d][at[d]];
            bytes_.push_back(bytes);
        }
        return place->second;
    }

    const Kernel& kernel_;
    std::vector<std::array<std::vector<std::int64_t>, kMaxRank>> cuts_;
    std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> ids_;  // by place among the cuts
    std::vector<std::int64_t> bytes_;
};

// Which piece each becomes of those with the same readers; none for those of a single reader.
constexpr std::uint32_t kAlone = ~std::uint32_t{0};

std::vector<std::uint32_t> by_readers(const SharedPieces& shared) {
    std::vector<std::uint32_t> readers(shared.bytes.size(), 0);
    std::vector<std::uint64_t> who(shared.bytes.size(), 0);  // a sum of hashes stands for the set of readers
    for (std::size_t tile = 0; tile < shared.tiles(); ++tile) {
        for (const std::uint32_t piece : shared.of_tile(tile)) {
            ++readers[piece];
            who[piece] += mix64(tile + 1);
        }
    }
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    std::vector<std::uint32_t> number(shared.bytes.size(), kAlone);
    for (const std::uint32_t piece : shared.piece)
        if (readers[piece] > 1)
            number[piece] =
                numbers.try_emplace(who[piece], static_cast<std::uint32_t>(numbers.size())).first->second;
    return number;
}

}  // namespace

SharedPieces merged_by_readers(const SharedPieces& shared) {
    const std::vector<std::uint32_t> number = by_readers(shared);
    SharedPieces merged{shared.rows, shared.columns, {0}, {}, {}};
    for (std::size_t piece = 0; piece < number.size(); ++piece) {
        if (number[piece] == kAlone) continue;
        if (merged.bytes.size() <= number[piece]) merged.bytes.resize(number[piece] + 1, 0);
        merged.bytes[number[piece]] += shared.bytes[piece];
    }
    std::vector<std::uint32_t> own;
    for (std::size_t tile = 0; tile < shared.tiles(); ++tile) {
        own.clear();
        for (const std::uint32_t piece : shared.of_tile(tile))
            if (number[piece] != kAlone) own.push_back(number[piece]);
        make_set(own);
        merged.add_tile(own);
    }
    return merged;
}

SharedPieces shared_pieces(const Kernel& kernel) {
    Regions regions(kernel);
    std::vector<std::vector<std::uint32_t>> regions_of_tile;
    const std::int64_t tiles = kernel.tile_rows() * kernel.tile_columns();
    for (std::int64_t tile = 0; tile < tiles; ++tile)
        regions_of_tile.push_back(regions.of_program(kernel.programs[static_cast<std::size_t>(tile)]));

    Cells cells(kernel, regions.all());
    std::vector<std::vector<std::uint32_t>> cells_of_region;
    std::size_t total = 0;
    for (const Region& region : regions.all()) {
        cells_of_region.push_back(cells.of_region(region));
        check_pairs(total += cells_of_region.back().size());
    }

    SharedPieces all{kernel.tile_rows(), kernel.tile_columns(), {0}, {}, cells.bytes()};
    std::vector<std::uint32_t> own;
    for (const std::vector<std::uint32_t>& ids : regions_of_tile) {
        own.clear();
        for (const std::uint32_t region : ids)
            own.insert(own.end(), cells_of_region[region].begin(), cells_of_region[region].end());
        make_set(own);
        all.add_tile(own);
        check_pairs(all.piece.size());
    }
    return merged_by_readers(all);
}

}  // namespace l2lens
