// SPDX-License-Identifier: Apache-2.0
#include "schedule/dispatcher.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "schedule/first_wave.hpp"

namespace l2lens {
namespace {

// 2^64 over the golden ratio, as splitmix64 steps: neighbouring seeds differ in all bits.
constexpr std::uint64_t kSpreadsSeeds = 0x9E3779B97F4A7C15ull;

// None of the CTAs is a no-op.
bool all_run(std::span<const std::int32_t> tiles) {
    return std::all_of(tiles.begin(), tiles.end(), [](std::int32_t tile) { return tile >= 0; });
}

}  // namespace

Dispatcher::Dispatcher(const Machine& machine, std::span<const std::int32_t> launches, Mode mode,
                       int ctas_per_sm, int cluster, std::uint64_t seed, const LaunchSchedule* recorded)
    : launches_(launches),
      mode_(mode),
      ctas_per_sm_(ctas_per_sm),
      cluster_(cluster),
      seed_(seed),
      gap_(from_ns(mode == Mode::Grid ? machine.launch.cta_gap_ns : machine.launch.persistent_gap_ns)),
      start_jitter_(mode == Mode::Grid ? from_ns(machine.launch.start_jitter_ns) : 0),
      interval_(mode == Mode::Grid ? from_ns(machine.launch.interval_ns) : 0),
      stagger_(from_ns(machine.launch.stagger_ns)),
      recorded_(recorded) {
    if (mode == Mode::Grid && cluster > 1) gap_ += from_ns(machine.launch.cluster_gap_ns);
    next_start_.resize(static_cast<std::size_t>(machine.gpcs));
    form_gangs(machine);
    if (gangs_.empty()) {
        throw BadInput("a cluster of " + std::to_string(cluster) + " CTAs is more than a GPC of " +
                       machine.name + " has SMs");
    }
    if (recorded_ != nullptr) queue_recorded();
    const int rounds = mode == Mode::Grid ? ctas_per_sm : 1;
    // Where the hardware deals CTAs to the partitions in turn, they draw so, too.
    const bool draws = mode == Mode::Dynamic && !machine.launch.round_robin;
    const std::vector<std::int32_t> first = draws ? order_of_draws(machine) : order_of_launches();
    for (int round = 0; round < rounds; ++round)
        for (std::int32_t gang : first) first_places_.push_back(gang * ctas_per_sm + round);
    const std::size_t places = gangs_.size() * static_cast<std::size_t>(ctas_per_sm);
    occupancy_.resize(places);
    static_next_.assign(places, -1);
    drawn_.assign(places, -1);
    for (std::size_t i = 0; i < first_places_.size(); ++i) {
        static_next_[static_cast<std::size_t>(first_places_[i])] = static_cast<std::int64_t>(i);
    }
}

// A GPC's SMs, `cluster` at a time in id order (so that two CTAs share a TPC); what is left over stays empty.
void Dispatcher::form_gangs(const Machine& machine) {
    std::vector<Gang> open(static_cast<std::size_t>(machine.gpcs));
    gang_of_sm_.assign(machine.sms.size(), -1);
    for (std::size_t sm = 0; sm < machine.sms.size(); ++sm) {
        Gang& gang = open[static_cast<std::size_t>(machine.sms[sm].gpc)];
        gang.push_back(static_cast<std::int32_t>(sm));
        if (static_cast<int>(gang.size()) == cluster_) gangs_.push_back(std::exchange(gang, {}));
    }
    const FirstWave first_wave(machine, seed_);
    const auto turn = [&](const Gang& gang) {
        return cluster_ == 1 ? first_wave.of_cta(gang.front()) : first_wave.of_cluster(gang.front());
    };
    std::sort(gangs_.begin(), gangs_.end(), [&](const Gang& a, const Gang& b) { return turn(a) < turn(b); });
    for (std::size_t gang = 0; gang < gangs_.size(); ++gang) {
        for (std::int32_t sm : gangs_[gang])
            gang_of_sm_[static_cast<std::size_t>(sm)] = static_cast<std::int32_t>(gang);
        const Sm& first = machine.sms[static_cast<std::size_t>(gangs_[gang].front())];
        gpc_of_gang_.push_back(first.gpc);
        partition_of_gang_.push_back(first.partition);
    }
    if (!machine.launch.round_robin || mode_ != Mode::Grid) return;
    next_of_partition_.assign(static_cast<std::size_t>(machine.partitions), -1);
    for (int partition = 0; partition < machine.partitions; ++partition) {
        if (std::ranges::count(partition_of_gang_, partition) > 0)
            next_of_partition_[static_cast<std::size_t>(partition)] = dealt_to_++;
    }
}

std::vector<std::int32_t> Dispatcher::order_of_launches() const {
    std::vector<std::int32_t> gangs(gangs_.size());
    std::iota(gangs.begin(), gangs.end(), 0);
    return gangs;
}

// In which order a first wave draws its tiles: GPCs launch side by side, in each of them one SM of every TPC
// and then the other ones, and those draw first whose side has the counter. Which side has is not known: the
// first one stands for it (first waves of two boards, traces/h200/triton_schedules*.csv).
std::vector<std::int32_t> Dispatcher::order_of_draws(const Machine& machine) const {
    struct Turn {
        int partition, second_of_tpc, round, gpc;
        std::int32_t gang;
    };
    std::vector<Turn> turns;
    std::vector<std::array<int, 2>> rounds(static_cast<std::size_t>(machine.gpcs));
    for (std::size_t gang = 0; gang < gangs_.size(); ++gang) {
        const int gpc = gpc_of_gang_[gang];
        const int second = cluster_ == 1 ? gangs_[gang].front() % 2 : 0;
        int& round = rounds[static_cast<std::size_t>(gpc)][static_cast<std::size_t>(second)];
        turns.push_back({partition_of_gang_[gang], second, round++, gpc, static_cast<std::int32_t>(gang)});
    }
    const auto key = [](const Turn& t) { return std::tie(t.partition, t.second_of_tpc, t.round, t.gpc); };
    std::sort(turns.begin(), turns.end(), [&](const Turn& a, const Turn& b) { return key(a) < key(b); });
    std::vector<std::int32_t> gangs;
    for (const Turn& turn : turns) gangs.push_back(turn.gang);
    return gangs;
}

// The first CTA of the cluster that is none of the no-ops stands for it.
const CtaStay* Dispatcher::recorded_stay(std::int64_t cluster) const {
    for (std::int64_t id = cluster * cluster_; id < (cluster + 1) * cluster_; ++id) {
        const auto i = static_cast<std::size_t>(id);
        if (launches_[i] >= 0) return &(*recorded_)[i];
    }
    return nullptr;
}

void Dispatcher::queue_recorded() {
    queues_.resize(gangs_.size());
    const auto clusters = static_cast<std::int64_t>(launches_.size()) / cluster_;
    for (std::int64_t cluster = 0; cluster < clusters; ++cluster) {
        const CtaStay* stay = recorded_stay(cluster);
        if (stay == nullptr) continue;
        const std::int32_t gang = gang_of_sm_[static_cast<std::size_t>(stay->sm)];
        if (gang < 0) {
            throw BadInput("the schedule has a cluster of " + std::to_string(cluster_) + " CTAs on SM " +
                           std::to_string(stay->sm) + ", where none fits");
        }
        queues_[static_cast<std::size_t>(gang)].push_back(cluster);
    }
    for (auto& queue : queues_) {
        std::stable_sort(queue.begin(), queue.end(), [&](std::int64_t a, std::int64_t b) {
            return recorded_stay(a)->start < recorded_stay(b)->start;
        });
    }
}

std::vector<Start> Dispatcher::first_wave(Picoseconds now) {
    launched_at_ = now;
    for (std::size_t i = 0; i < first_places_.size(); ++i) {
        // At least a picosecond apart, so that consecutive launches get consecutive places.
        const auto start = static_cast<Picoseconds>(i) * cluster_ * std::max<Picoseconds>(stagger_, 1);
        free_.push({recorded_ != nullptr ? now : now + start - gap_, first_places_[i], gap_});
    }
    return follow({}, now);
}

std::vector<Start> Dispatcher::follow(std::span<const Exit> exits, Picoseconds not_before) {
    for (const Exit& exit : exits) {
        const std::int32_t place = place_of_slot(exit.slot);
        Occupancy& there = occupancy_[static_cast<std::size_t>(place)];
        there.last_exit = std::max(there.last_exit, exit.time);
        if (--there.ctas == 0) free_.push({there.last_exit, place, gap_after(there.last_exit, place)});
    }
    std::vector<Start> starts;
    while (!free_.empty()) {
        const FreePlace free = free_.top();
        free_.pop();
        const std::int64_t cluster = take_cluster(free.place);
        if (cluster < 0) continue;
        launched_ += cluster_;
        Picoseconds time = std::max(start_time(cluster, free), not_before);
        if (interval_ > 0 && !exits.empty() && recorded_ == nullptr) time = in_turn(time, free.place);
        start_cluster(cluster, free.place, time, starts);
        if (occupancy_[static_cast<std::size_t>(free.place)].ctas == 0)
            free_.push({time, free.place, gap_});  // all no-ops
    }
    return starts;
}

std::vector<Next> Dispatcher::draw(std::span<const Draw> draws) {
    std::vector<Next> known;
    if (mode_ != Mode::Dynamic) return known;
    std::vector<Draw> in_order(draws.begin(), draws.end());
    std::sort(in_order.begin(), in_order.end(), [](const Draw& a, const Draw& b) {
        return a.time != b.time ? a.time < b.time : a.slot < b.slot;
    });
    for (const Draw& draw : in_order) {
        const std::int32_t place = place_of_slot(draw.slot);
        const std::int64_t cluster = next_cluster(place);
        if (cluster < 0) continue;
        drawn_[static_cast<std::size_t>(place)] = cluster;
        const auto tiles = tiles_of(cluster);
        if (!all_run(tiles)) continue;
        for (std::size_t rank = 0; rank < tiles.size(); ++rank)
            known.push_back({draw.time, slot_of(place, rank), tiles[rank]});
    }
    return known;
}

std::span<const std::int32_t> Dispatcher::tiles_of(std::int64_t cluster) const {
    return launches_.subspan(static_cast<std::size_t>(cluster * cluster_),
                             static_cast<std::size_t>(cluster_));
}

std::int32_t Dispatcher::slot_of(std::int32_t place, std::size_t rank) const {
    const Gang& gang = gangs_[static_cast<std::size_t>(place / ctas_per_sm_)];
    return gang[rank] * ctas_per_sm_ + place % ctas_per_sm_;
}

std::int32_t Dispatcher::place_of_slot(std::int32_t slot) const {
    return gang_of_sm_[static_cast<std::size_t>(slot / ctas_per_sm_)] * ctas_per_sm_ + slot % ctas_per_sm_;
}

void Dispatcher::start_cluster(std::int64_t cluster, std::int32_t place, Picoseconds time,
                               std::vector<Start>& starts) {
    const auto ids = tiles_of(cluster);
    Occupancy& there = occupancy_[static_cast<std::size_t>(place)];
    there = Occupancy{};
    std::uint32_t members = 0;
    for (std::size_t rank = 0; rank < ids.size(); ++rank) {
        if (ids[rank] < 0) continue;
        members |= 1u << rank;
        ++there.ctas;
    }
    for (std::size_t rank = 0; rank < ids.size(); ++rank) {
        if (ids[rank] < 0) continue;
        starts.push_back(
            {time, slot_of(place, rank), ids[rank], {static_cast<std::uint8_t>(rank), members}, -1});
    }
    const std::int64_t next = settled_next(place);
    if (next < 0) return;
    const auto of_next = tiles_of(next);
    if (!all_run(ids) || !all_run(of_next)) return;
    for (std::size_t rank = 0; rank < ids.size(); ++rank)
        starts[starts.size() - ids.size() + rank].next = of_next[rank];
}

// The cluster that a place takes after the one it has just taken: a static launch has settled that before.
std::int64_t Dispatcher::settled_next(std::int32_t place) const {
    if (mode_ != Mode::Static) return -1;
    if (recorded_ != nullptr) {
        const auto& queue = queues_[static_cast<std::size_t>(place / ctas_per_sm_)];
        return queue.empty() ? -1 : queue.front();
    }
    const std::int64_t next = static_next_[static_cast<std::size_t>(place)];
    return next < static_cast<std::int64_t>(launches_.size()) / cluster_ ? next : -1;
}

// When a cluster begins in a place.
Picoseconds Dispatcher::start_time(std::int64_t cluster, const FreePlace& free) const {
    if (recorded_ != nullptr) return std::max(launched_at_ + recorded_stay(cluster)->start, free.time);
    return free.time + free.gap;
}

// From an exit to the next start, but for its turn (in_turn). What follows in a GPC at once is sooner or
// later together (traces/h200/triton_schedules*.csv).
Picoseconds Dispatcher::gap_after(Picoseconds exit, std::int32_t place) const {
    if (start_jitter_ == 0) return gap_;
    // What leaves a GPC at one moment draws alike.
    RandomStream random(static_cast<std::uint64_t>(exit) ^ seed_ * kSpreadsSeeds,
                        static_cast<std::uint64_t>(gpc_of_place(place)));
    return gap_ + static_cast<Picoseconds>(random.uniform() * static_cast<double>(start_jitter_));
}

// A GPC's CTAs that follow others start one after the other, also where the dispatcher has heard of their
// places together (traces/h200/triton_schedules*.csv).
Picoseconds Dispatcher::in_turn(Picoseconds time, std::int32_t place) {
    Picoseconds& free_from = next_start_[static_cast<std::size_t>(gpc_of_place(place))];
    time = std::max(time, free_from);
    free_from = time + interval_;
    return time;
}

// What the place has drawn, or the next one.
std::int64_t Dispatcher::take_cluster(std::int32_t place) {
    const std::int64_t drawn = std::exchange(drawn_[static_cast<std::size_t>(place)], -1);
    return drawn >= 0 ? drawn : next_cluster(place);
}

std::int64_t Dispatcher::next_cluster(std::int32_t place) {
    if (recorded_ != nullptr) {
        auto& queue = queues_[static_cast<std::size_t>(place / ctas_per_sm_)];
        if (queue.empty()) return -1;
        const std::int64_t next = queue.front();
        queue.pop_front();
        return next;
    }
    const auto total = static_cast<std::int64_t>(launches_.size()) / cluster_;
    if (mode_ == Mode::Static) {
        std::int64_t& next = static_next_[static_cast<std::size_t>(place)];
        if (next < 0 || next >= total) return -1;
        const std::int64_t cluster = next;
        next += static_cast<std::int64_t>(first_places_.size());
        return cluster;
    }
    if (!next_of_partition_.empty()) {
        const auto gang = static_cast<std::size_t>(place / ctas_per_sm_);
        std::int64_t& next = next_of_partition_[static_cast<std::size_t>(partition_of_gang_[gang])];
        const std::int64_t cluster = next < total ? next : -1;
        next += dealt_to_;
        return cluster;
    }
    return next_ < total ? next_++ : -1;
}

}  // namespace l2lens
