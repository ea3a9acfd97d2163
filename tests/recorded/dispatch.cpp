// SPDX-License-Identifier: Apache-2.0
// Who follows whom, when and on which GPC: whole schedules of an H200 (traces/h200/triton_schedules*.csv,
// gemm_schedules_128x128.csv) against the model's dispatcher (launch.exit_jitter, exit_round, start_jitter,
// cta_gap, interval) and clocks.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/model_run.hpp"
#include "load/machine_file.hpp"
#include "schedule/dispatcher.hpp"
#include "schedule/exit_reports.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/stays.hpp"

using namespace l2lens;
using test::recorded_stays;
using test::Stays;

namespace {

constexpr Picoseconds kTick = 32 * kPsPerNs;  // of the GPU's timer

// A CTA that follows another one in its place.
struct Follower {
    std::int64_t id;
    int gpc;
    Picoseconds left;  // when the other one ended
    Picoseconds began;
};

int gpc_of(const CtaStay& stay, const Machine& machine) {
    return machine.sms[static_cast<std::size_t>(stay.sm)].gpc;
}

// All but the first wave, by launch id. One CTA an SM.
std::vector<Follower> followers(const Stays& stays, const Machine& machine) {
    std::map<int, std::vector<std::pair<std::int64_t, CtaStay>>> of_sm;  // by start: an SM's ids grow
    for (const auto& [id, stay] : stays) of_sm[stay.sm].emplace_back(id, stay);
    std::vector<Follower> all;
    for (const auto& [sm, list] : of_sm)
        for (std::size_t i = 1; i < list.size(); ++i)
            all.push_back({list[i].first, gpc_of(list[i].second, machine), list[i - 1].second.end,
                           list[i].second.start});
    std::sort(all.begin(), all.end(), [](const Follower& a, const Follower& b) { return a.id < b.id; });
    return all;
}

// The share of launches on the GPC of the launch before.
double same_gpc(const std::vector<Follower>& all) {
    double same = 0;
    for (std::size_t i = 1; i < all.size(); ++i) same += all[i].gpc == all[i - 1].gpc ? 1 : 0;
    return same / static_cast<double>(all.size() - 1);
}

// Of pairs of neighbours in time that left a tick apart, the share that is followed in the other order.
double overtaken(const std::vector<Follower>& all) {
    double pairs = 0, turned = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < std::min(all.size(), i + 24); ++j) {
            if (std::abs(all[j].left - all[i].left) != kTick) continue;
            pairs += 1;
            turned += all[j].left < all[i].left ? 1 : 0;
        }
    return turned / pairs;
}

// Of CTAs of a GPC that start after one another, the share that does so within so many ticks of the timer.
double start_within(const std::vector<Follower>& all, int ticks) {
    std::map<int, std::vector<Picoseconds>> of_gpc;
    for (const Follower& one : all) of_gpc[one.gpc].push_back(one.began / kTick);
    double pairs = 0, within = 0;
    for (auto& [gpc, began] : of_gpc) {
        std::sort(began.begin(), began.end());
        for (std::size_t i = 1; i < began.size(); ++i) within += began[i] - began[i - 1] <= ticks ? 1 : 0;
        pairs += static_cast<double>(began.size() - 1);
    }
    return within / pairs;
}

// Of launches that follow each other on a GPC, in places left at one tick: how much later the second one
// starts in the mean, in ns.
double next_start(const std::vector<Follower>& all) {
    double pairs = 0, sum = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
        const Follower &first = all[i - 1], &second = all[i];
        if (first.left != second.left || first.gpc != second.gpc) continue;
        pairs += 1;
        sum += static_cast<double>(second.began - first.began) / kPsPerNs;
    }
    return sum / pairs;
}

// The recorded ends in the order in which the model's dispatcher would hear of them, `round_ns` as it is.
// What ended on a GPC at one tick ended together, some time within the tick; what parts such CTAs is in their
// ends already.
std::vector<Follower> as_heard(std::vector<Follower> all, Machine machine, double round_ns) {
    machine.launch.exit_round_ns = round_ns;
    if (round_ns > 0) machine.launch.exit_jitter_ns = 0;
    const ExitReports reports(machine, Mode::Grid);
    RandomStream random(1, 0);
    std::map<std::pair<int, Picoseconds>, Picoseconds> within_tick;
    std::vector<std::tuple<Picoseconds, int, std::int64_t, Follower>> order;
    for (const Follower& one : all) {
        const auto [entry, is_new] = within_tick.try_emplace({one.gpc, one.left}, 0);
        if (is_new) entry->second = static_cast<Picoseconds>(random.uniform() * static_cast<double>(kTick));
        const Picoseconds heard = reports.heard(one.left + entry->second, one.gpc, random);
        order.emplace_back(heard, one.gpc, one.id, one);
    }
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a)) <
               std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b));
    });
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::get<3>(order[i]);
    return all;
}

// A grid of Triton's GEMM of 8192 x 8192 x 8192.
Stays predicted(const Machine& machine, const std::string& order, std::uint64_t seed = 0,
                const std::vector<std::string>& tile = {}) {
    return test::predicted_stays(machine, cli::load_launched("gemm", tile, "", machine).kernel, order,
                                 Mode::Grid, seed);
}

// The SMs of a first wave, by the launch ids that they took.
std::vector<int> first_wave(const Stays& stays, const Machine& machine) {
    std::vector<int> sms;
    for (std::int64_t id = 0; id < std::ssize(machine.sms); ++id) sms.push_back(stays.at(id).sm);
    return sms;
}

std::vector<int> first_wave_of_model(const Machine& machine, Mode mode, int cluster = 1,
                                     std::uint64_t seed = 0) {
    std::vector<std::int32_t> ids(machine.sms.size());
    std::iota(ids.begin(), ids.end(), 0);
    Dispatcher dispatcher(machine, ids, mode, 1, cluster, seed);
    std::vector<int> sms(ids.size());
    for (const Start& start : dispatcher.first_wave()) sms[static_cast<std::size_t>(start.tile)] = start.slot;
    return sms;
}

// Which of the SMs that come first in any launch is the first of them differs, too.
void forget_order_of_first(std::vector<int>& sms) {
    constexpr int kApart = 8;
    std::sort(sms.begin(), sms.begin() + kApart);
}

// The share of SMs that follow one of their GPC.
double same_gpc(const std::vector<int>& sms, const Machine& machine) {
    const auto gpc = [&](std::size_t i) { return machine.sms[static_cast<std::size_t>(sms[i])].gpc; };
    double same = 0;
    for (std::size_t i = 1; i < sms.size(); ++i) same += gpc(i) == gpc(i - 1) ? 1 : 0;
    return same / static_cast<double>(sms.size() - 1);
}

// The share of TPCs (SMs 2i and 2i + 1) whose first SM comes before the second.
double first_of_tpc_first(const std::vector<int>& sms) {
    double first = 0;
    const auto place = [&](int sm) { return std::find(sms.begin(), sms.end(), sm); };
    for (int sm = 0; sm < static_cast<int>(sms.size()); sm += 2) first += place(sm) < place(sm + 1) ? 1 : 0;
    return first / (static_cast<double>(sms.size()) / 2);
}

// The standard deviation of the GPCs' mean times from start to end, as a share of the mean, of the launches
// from `first` to `last`.
double spread_of_gpcs(const Stays& stays, const Machine& machine, std::int64_t first, std::int64_t last) {
    std::map<int, std::pair<double, double>> of_gpc;  // sum, number
    for (const auto& [id, stay] : stays) {
        if (id < first || id >= last) continue;
        auto& [sum, number] = of_gpc[gpc_of(stay, machine)];
        sum += static_cast<double>(stay.end - stay.start);
        number += 1;
    }
    double sum = 0, squares = 0;
    for (const auto& [gpc, total] : of_gpc) {
        const double mean = total.first / total.second;
        sum += mean;
        squares += mean * mean;
    }
    const auto count = static_cast<double>(of_gpc.size());
    return std::sqrt(squares / count - sum * sum / count / count) / (sum / count);
}

}  // namespace

TEST_CASE("Launch ids follow exits, and those of one moment go GPC by GPC") {
    const Machine machine = load_machine("h200");
    REQUIRE(machine.launch.exit_round_ns > 0);
    for (const auto& [file, run] : {std::pair{"triton_schedules.csv", "group_m:8_grid"},
                                    std::pair{"triton_schedules.csv", "row_major_grid"},
                                    std::pair{"gemm_schedules_128x128.csv", "group_m:8_grid"}}) {
        const auto recorded = followers(recorded_stays(file, run), machine);
        const auto heard = as_heard(recorded, machine, machine.launch.exit_round_ns);
        INFO(file << " " << run << ": on the same GPC " << same_gpc(recorded) << ", as heard "
                  << same_gpc(heard) << "; overtaken " << overtaken(recorded) << ", as heard "
                  << overtaken(heard));
        CHECK(std::abs(same_gpc(heard) - same_gpc(recorded)) <= 0.03);
        CHECK(std::abs(overtaken(heard) - overtaken(recorded)) <= 0.04);
        // Nobody waits longer: with rounds of 128 ns three times as many would be overtaken.
        CHECK(overtaken(as_heard(recorded, machine, 128)) >= overtaken(recorded) + 0.08);
        // Each by itself, up to 48 ns late, as many would be overtaken and far fewer follow on their GPC.
        Machine each = machine;
        each.launch.exit_jitter_ns = 48;
        const auto apart = as_heard(recorded, each, 0);
        INFO("each by itself: on the same GPC " << same_gpc(apart));
        if (same_gpc(recorded) > 0.3) CHECK(same_gpc(apart) <= same_gpc(recorded) - 0.08);
    }
}

TEST_CASE("A dynamic first wave draws its tiles GPC by GPC in turn, with one SM of a TPC before the other") {
    const Machine machine = load_machine("h200");
    const auto model = first_wave_of_model(machine, Mode::Dynamic);
    for (const auto& [file, run] : {std::pair{"triton_schedules.csv", "group_m:8_dynamic"},
                                    std::pair{"triton_schedules_128x256.csv", "group_m:8_dynamic"},
                                    std::pair{"gemm_schedules_6144x9216.csv", "group_n:16_dynamic"}}) {
        const auto recorded = first_wave(recorded_stays(file, run), machine);
        INFO(file << ": " << same_gpc(recorded, machine) << " on the GPC of the one before, "
                  << first_of_tpc_first(recorded) << " of TPCs their first SM first");
        CHECK(same_gpc(model, machine) == Approx(same_gpc(recorded, machine)).margin(0.22));
        CHECK(first_of_tpc_first(model) == Approx(first_of_tpc_first(recorded)).margin(0.15));
    }
}

TEST_CASE("Each launch begins on another GPC and goes on in a ring, clusters from SM to SM") {
    const Machine machine = load_machine("h200");
    struct Recorded {
        const char *file, *run;
        int cluster = 1;
    };
    const std::vector<Recorded> launches{{"gemm_schedules.csv", "group_m:8_static"},
                                         {"gemm_schedules.csv", "group_m:8_grid"},
                                         {"gemm_schedules_128x128.csv", "group_m:8_grid"},
                                         {"gemm_schedules_6144x9216.csv", "group_n:16_grid"},
                                         {"gemm_schedules_64x128.csv", "group_n:16_static"},
                                         {"gemm_schedules_64x128.csv", "hilbert_static"},
                                         {"gemm_schedules_k1024.csv", "group_m:8_static"},
                                         {"gemm_schedules_k16384.csv", "group_m:8_static"},
                                         {"triton_schedules.csv", "group_m:8_grid"},
                                         {"triton_schedules.csv", "row_major_grid"},
                                         {"triton_schedules.csv", "group_m:8_static"},
                                         {"triton_schedules_128x256.csv", "group_m:8_grid"},
                                         {"triton_schedules_128x256.csv", "group_m:8_static"},
                                         {"triton_schedules_hilbert.csv", "hilbert_grid"},
                                         {"triton_schedules_k16384.csv", "row_major_grid"},
                                         {"attention_schedules.csv", "row_major_grid"},
                                         {"cluster_schedules.csv", "1x2_static", 2},
                                         {"cluster_schedules.csv", "1x2_grid", 2},
                                         {"cluster_schedules.csv", "2x1_static", 2},
                                         {"cluster_schedules.csv", "2x1_grid", 2}};
    std::set<std::uint64_t> seen;
    for (const auto& [file, run, cluster] : launches) {
        INFO(file << ' ' << run);
        auto recorded = first_wave(recorded_stays(file, run), machine);
        forget_order_of_first(recorded);
        std::set<std::uint64_t> alike;  // a seed for each GPC
        for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(machine.gpcs); ++seed) {
            auto model = first_wave_of_model(machine, Mode::Static, cluster, seed);
            forget_order_of_first(model);
            if (model == recorded) alike.insert(seed);
        }
        CHECK(alike.size() == 1);
        seen.merge(alike);
    }
    // One of schedules.csv, of several CTAs an SM, begins on the eighth.
    CHECK(std::ssize(seen) >= machine.gpcs - 1);
}

TEST_CASE("From a CTA's end to the next one's first instruction it takes what Triton's CTAs took") {
    const Machine machine = load_machine("h200");
    double sum = 0, squares = 0, least = 1e9, most = 0;
    const auto all = followers(recorded_stays("triton_schedules.csv", "group_m:8_grid"), machine);
    for (const Follower& one : all) {
        const double gap = static_cast<double>(one.began - one.left) / kPsPerNs;
        sum += gap / static_cast<double>(all.size());
        squares += gap * gap / static_cast<double>(all.size());
        least = std::min(least, gap);
        most = std::max(most, gap);
    }
    const auto& launch = machine.launch;
    INFO("recorded " << sum << " ns, " << least << " to " << most);
    CHECK(launch.cta_gap_ns + (launch.exit_jitter_ns + launch.exit_round_ns + launch.start_jitter_ns) / 2 ==
          Approx(sum).margin(10));
    // Both ends are read on a clock that ticks each 32 ns.
    double uniform = 2 * 32 * 32 / 12.0;
    for (const double width : {launch.exit_jitter_ns, launch.exit_round_ns, launch.start_jitter_ns})
        uniform += width * width / 12;
    CHECK(std::sqrt(uniform) == Approx(std::sqrt(squares - sum * sum)).margin(6));
}

TEST_CASE("A grid's CTAs start one after the other on a GPC") {
    const Machine machine = load_machine("h200");
    const auto& launch = machine.launch;
    for (const auto& [file, run] : {std::pair{"triton_schedules.csv", "group_m:8_grid"},
                                    std::pair{"triton_schedules.csv", "row_major_grid"},
                                    std::pair{"triton_schedules_128x256.csv", "group_m:8_grid"}}) {
        INFO(file << " " << run);
        const auto recorded = followers(recorded_stays(file, run), machine);
        CHECK(launch.interval_ns == Approx(next_start(recorded)).margin(3));
    }
}

TEST_CASE("As many CTAs of a GPC follow each other, and start together, in the model as on the GPU") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    // One launch differs from another by up to 0.03.
    const auto launches = [](const Machine& on, const char* order, const std::vector<std::string>& tile) {
        std::vector<std::vector<Follower>> all;
        for (std::uint64_t seed = 0; seed < 4; ++seed)
            all.push_back(followers(predicted(on, order, seed, tile), on));
        return all;
    };
    const auto mean = [](const std::vector<std::vector<Follower>>& all, auto&& share) {
        double sum = 0;
        for (const std::vector<Follower>& launch : all) sum += share(launch);
        return sum / static_cast<double>(all.size());
    };
    const auto same = [](const std::vector<Follower>& launch) { return same_gpc(launch); };
    const auto in_one = [](const std::vector<Follower>& launch) { return start_within(launch, 0); };
    const auto in_two = [](const std::vector<Follower>& launch) { return start_within(launch, 1); };
    struct Launch {
        const char* file;
        const char* order;
        std::vector<std::string> tile;
    };
    for (const auto& [file, order, tile] :
         {Launch{"triton_schedules.csv", "group_m:8", {}},
          Launch{"triton_schedules_128x256.csv", "group_m:8", {"bn=256", "warps=8", "stages=3"}}}) {
        const auto recorded = followers(recorded_stays(file, std::string(order) + "_grid"), machine);
        const auto model = launches(machine, order, tile);
        INFO(file << ": on the GPC of the one before " << same(recorded) << ", model " << mean(model, same)
                  << "; start within a tick " << in_one(recorded) << ", model " << mean(model, in_one)
                  << ", within two " << in_two(recorded) << ", model " << mean(model, in_two));
        CHECK(std::abs(mean(model, same) - same(recorded)) <= 0.095);      // seen: 0.086
        CHECK(std::abs(mean(model, in_one) - in_one(recorded)) <= 0.065);  // seen: 0.062
        CHECK(std::abs(mean(model, in_two) - in_two(recorded)) <= 0.09);
    }
    const auto recorded = followers(recorded_stays("triton_schedules.csv", "group_m:8_grid"), machine);
    Machine each = machine;
    each.launch.exit_round_ns = 0;
    const double apart = mean(launches(each, "group_m:8", {}), same);
    INFO("each exit heard of by itself " << apart);
    CHECK(apart <= same(recorded) - 0.01);  // seen: 0.585 for 0.600
    Machine at_once = machine;
    at_once.launch.interval_ns = at_once.launch.exit_jitter_ns = 0;
    const double together = mean(launches(at_once, "group_m:8", {}), in_one);
    INFO("all that are heard of start at once, and leave so: within a tick " << together);
    CHECK(together >= in_one(recorded) + 0.07);  // seen: 0.078
}

TEST_CASE("GPCs differ in what CTAs take that wait for data") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    // The second to the tenth round: 0.05 to 0.5 ms.
    const double recorded =
        spread_of_gpcs(recorded_stays("triton_schedules.csv", "group_m:8_grid"), machine, 132, 1320);
    // Of boards, which a seed stands for: the mean of some.
    const auto spread_of_boards = [](const Machine& boards) {
        constexpr int kBoards = 10;
        double sum = 0;
        for (std::uint64_t seed = 0; seed < kBoards; ++seed)
            sum += spread_of_gpcs(predicted(boards, "group_m:8", seed), boards, 132, 1320) / kBoards;
        return sum;
    };
    const double spread = spread_of_boards(machine);
    // CTAs that keep together in a GPC part GPCs, too. Seen: 0.25 % for 0.38.
    INFO("recorded " << 100 * recorded << " %, predicted " << 100 * spread << " %");
    CHECK(spread == Approx(recorded).epsilon(0.37));
}
