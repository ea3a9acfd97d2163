// SPDX-License-Identifier: Apache-2.0
#include "order/stream_k.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/units.hpp"

namespace l2lens {
namespace {

void check_size(const char* what, Index value, Index most = Index{1} << 27) {
    if (value < 1 || value > most)
        throw BadInput("Stream-K: " + std::string(what) + " = " + std::to_string(value) +
                       " is outside 1 to " + std::to_string(most));
}

// `total` steps over `units`, the first ones longer by one where it does not divide.
struct EvenShare {
    Index each;
    Index longer;
    EvenShare(Index total, Index units) : each(total / units), longer(total % units) {}
    Index begin(Index unit) const { return unit * each + std::min(unit, longer); }
};

void add_whole_tiles(WorkPlan& plan, Index tiles, Index k_steps) {
    for (Index tile = plan.stream_k_tiles; tile < tiles; ++tile)
        plan.items.push_back({plan.stream_k_units + tile - plan.stream_k_tiles, tile, 0, k_steps});
}

// Steps [begin, end) of a stream of whole tiles, as pieces of tiles, the last tile first.
template <class TileOf>
void add_stream(WorkPlan& plan, Index unit, Index begin, Index end, Index k_steps, TileOf tile_of) {
    while (end > begin) {
        const Index place = (end - 1) / k_steps;
        const Index from = std::max(begin, place * k_steps);
        plan.items.push_back({unit, tile_of(place), from - place * k_steps, end - place * k_steps});
        end = from;
    }
}

// --- CUTLASS 2
// -----------------------------------------------------------------------------------------------------

struct Choice {
    Index blocks = 0;
    Index savings = -1;  // K steps saved over whole tiles; negative: not worth it
};

// What the CTAs of a tile spend on adding their partial sums, in K steps. The constants are CUTLASS's.
Index fixup_cost(Index blocks, Index tiles, Index waves, Index steps) {
    const bool aligned = blocks % tiles == 0;
    const auto peers = static_cast<float>(aligned ? blocks / tiles : ceil_div(blocks, tiles) + 1);
    const float per_step = aligned ? 0.0f : 0.02f * peers * static_cast<float>(steps);
    return static_cast<Index>(2.0f * static_cast<float>(waves) + per_step + 2.0f * peers);
}

Choice choose_blocks(Index tiles, Index k_steps, Index sms, Index occupancy, bool partial_wave) {
    constexpr Index kLeastSteps = 2;  // per Stream-K CTA
    const Index total = tiles * k_steps;
    const Index whole_tiles_cost = k_steps * ceil_div(tiles, sms);
    const Index first = partial_wave ? std::min(sms, tiles + 1) : sms;
    const Index last = std::min(sms * occupancy, total / kLeastSteps);
    Choice best;
    bool any = false;
    for (Index blocks = first; blocks <= last; ++blocks) {
        const Index waves = ceil_div(blocks, sms);
        const Index steps = ceil_div(total, blocks) * waves;
        const Index savings = whole_tiles_cost - steps - fixup_cost(blocks, tiles, waves, steps);
        if (!any || savings >= best.savings) best = {blocks, savings};
        any = true;
    }
    return best;
}

// Sets stream_k_tiles and stream_k_units, or leaves them 0.
void divide_waves(WorkPlan& plan, Index tiles, Index k_steps, Index sms, Index occupancy) {
    const Index full = tiles / sms;
    const Index partial = tiles % sms;
    if (partial == 0) return;
    const auto take = [&](Index stream_tiles, Index most_occupancy, bool partial_wave) {
        const Choice choice = choose_blocks(stream_tiles, k_steps, sms, most_occupancy, partial_wave);
        if (choice.savings < 0) return false;
        plan.stream_k_tiles = stream_tiles;
        plan.stream_k_units = choice.blocks;
        return true;
    };
    if (full < occupancy) {  // the GPU is not full: the last wave alone
        take(partial, occupancy - full, true);
        return;
    }
    if (full % occupancy == occupancy - 1 && take(partial, 1, true)) return;
    take(partial + sms, occupancy - (full - 1) % occupancy, false);  // the last full wave joins in
}

// --- CUTLASS 3
// -----------------------------------------------------------------------------------------------------

constexpr Index kLeastSm90Steps = 8;  // per unit, and the least that may be left at a tile's edge

Index sm90_stream_tiles(Index tiles, Index k_steps, const Sm90StreamK& settings) {
    const Index full = tiles / settings.wave;
    const Index rest = tiles % settings.wave;
    if (rest == 0 || k_steps <= kLeastSm90Steps) return 0;
    if (settings.heuristic && 2 * rest >= settings.wave) return 0;
    const Index stream = tiles - std::max<Index>(full - 1, 0) * settings.wave;
    return stream / settings.cluster_size * settings.cluster_size;
}

// The most groups that divide the units, and if possible the tiles, with enough steps for each unit.
Index sm90_groups(Index cluster_tiles, Index cluster_units, Index k_steps, Index most) {
    const auto fits = [&](Index groups, bool divide_tiles) {
        if (cluster_units % groups != 0 || groups > cluster_tiles) return false;
        if (divide_tiles && cluster_tiles % groups != 0) return false;
        return cluster_tiles / groups * k_steps / (cluster_units / groups) >= kLeastSm90Steps;
    };
    for (const bool divide_tiles : {true, false})
        for (Index groups = most; groups > 1; --groups)
            if (fits(groups, divide_tiles)) return groups;
    return 1;
}

// A boundary less than 8 steps from a tile's edge moves to the edge, for the unit that ends there and for the
// one that begins alike.
Index snapped(Index step, Index k_steps) {
    const Index inside = step % k_steps;
    if (inside < kLeastSm90Steps) return step - inside;
    if (k_steps - inside < kLeastSm90Steps) return step - inside + k_steps;
    return step;
}

void add_sm90_streams(WorkPlan& plan, Index k_steps, Index cluster_size) {
    const Index cluster_tiles = plan.stream_k_tiles / cluster_size;
    const Index units_per_group = plan.stream_k_units / cluster_size / plan.groups;
    for (Index linear = 0; linear < plan.stream_k_units; ++linear) {
        const Index cluster = linear / cluster_size;
        const Index in_cluster = linear % cluster_size;
        const Index group = cluster % plan.groups;
        const Index unit = cluster / plan.groups;
        const Index group_tiles = (cluster_tiles - group + plan.groups - 1) / plan.groups;
        const EvenShare share(group_tiles * k_steps, units_per_group);
        const Index begin = plan.splits > 1 ? share.begin(unit) : snapped(share.begin(unit), k_steps);
        const Index end = plan.splits > 1 ? share.begin(unit + 1) : snapped(share.begin(unit + 1), k_steps);
        add_stream(plan, linear, begin, end, k_steps,
                   [&](Index place) { return (place * plan.groups + group) * cluster_size + in_cluster; });
    }
}

// Every tile in as many equal parts, one tile after the other.
void add_sm90_splits(WorkPlan& plan, Index k_steps, Index cluster_size) {
    plan.groups = plan.stream_k_tiles / cluster_size;
    add_sm90_streams(plan, k_steps, cluster_size);
}

}  // namespace

WorkPlan cutlass2_stream_k_plan(Index tiles, Index k_steps, Index sms, Index occupancy) {
    check_size("tiles", tiles);
    check_size("K steps", k_steps);
    check_size("SMs", sms, 1 << 16);
    check_size("CTAs per SM", occupancy, 32);
    WorkPlan plan;
    divide_waves(plan, tiles, k_steps, sms, occupancy);
    if (plan.stream_k_units > 0) {
        const bool split =
            plan.stream_k_units % plan.stream_k_tiles == 0 && plan.stream_k_units > plan.stream_k_tiles;
        const Index regions = split ? plan.stream_k_tiles : 1;  // split: a region is a tile
        if (split) plan.splits = plan.stream_k_units / plan.stream_k_tiles;
        const Index blocks = plan.stream_k_units / regions;
        const Index steps = plan.stream_k_tiles * k_steps / regions;
        const EvenShare share(steps, blocks);
        for (Index unit = 0; unit < plan.stream_k_units; ++unit) {
            const Index region = unit % regions;  // regions are interleaved over the launch
            const Index block = unit / regions;
            add_stream(plan, unit, region * steps + share.begin(block),
                       region * steps + share.begin(block + 1), k_steps, [](Index place) { return place; });
        }
    }
    add_whole_tiles(plan, tiles, k_steps);
    return plan;
}

WorkPlan sm90_stream_k_plan(Index tiles, Index k_steps, const Sm90StreamK& settings) {
    check_size("tiles", tiles);
    check_size("K steps", k_steps);
    check_size("CTAs of a wave", settings.wave);
    check_size("CTAs of a cluster", settings.cluster_size, 16);
    check_size("groups", settings.most_groups);
    const Index cluster = settings.cluster_size;
    WorkPlan plan;
    plan.stream_k_tiles = sm90_stream_tiles(tiles, k_steps, settings);
    const Index most_units = plan.stream_k_tiles * k_steps / kLeastSm90Steps;
    plan.stream_k_units = std::min(settings.wave, most_units) / cluster * cluster;
    if (plan.stream_k_units == 0) plan.stream_k_tiles = 0;
    if (plan.stream_k_tiles > 0) {
        if (plan.stream_k_tiles < plan.stream_k_units && plan.stream_k_units % plan.stream_k_tiles == 0) {
            plan.splits = plan.stream_k_units / plan.stream_k_tiles;
            add_sm90_splits(plan, k_steps, cluster);
        } else {
            plan.groups = sm90_groups(plan.stream_k_tiles / cluster, plan.stream_k_units / cluster, k_steps,
                                      std::min<Index>(settings.most_groups, 8));
            add_sm90_streams(plan, k_steps, cluster);
        }
    }
    add_whole_tiles(plan, tiles, k_steps);
    return plan;
}

}  // namespace l2lens
