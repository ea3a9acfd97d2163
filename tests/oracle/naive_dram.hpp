// SPDX-License-Identifier: Apache-2.0
// The DRAM behind the slices of one lane of naive_memory.hpp, slow and obvious: its queue, refreshes, pauses
// and turns to what is written, with logarithms where the model has tables.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/random.hpp"
#include "base/units.hpp"
#include "machine/machine.hpp"
#include "memory/timing.hpp"

namespace l2lens::test {

// A server: when it can start on this job.
inline Picoseconds serve(Picoseconds& free_at, Picoseconds now, Picoseconds job) {
    const Picoseconds start = std::max(free_at, now);
    free_at = start + job;
    return start;
}

class NaiveDram {
public:
    // memory_seed: of the whole memory, which draws when DRAM pauses.
    NaiveDram(const Machine& machine, double lines_per_simulated_line, std::uint64_t memory_seed,
              RandomStream random)
        : machine_(machine),
          t_(MemoryTiming::of(machine)),
          lines_(lines_per_simulated_line),
          memory_seed_(memory_seed),
          random_(random) {}

    struct Load {
        double share = 0;
        Picoseconds at = 0;
    };

    // Of a slice.
    struct Channel {
        Picoseconds free = 0;
        Load load;
        Load writes;
        Picoseconds writes_taken = 0;  // when it has what it was given to write
        int gathered = 0;              // sectors for its next turn to writes
        Picoseconds turned_until = 0;
    };

    struct Data {
        Picoseconds ready;
        Picoseconds settled;  // when the lines that this one stands for are there, too
    };

    // Its bank's queue and refresh run while a line stands in line at the slice's DRAM, turns to writes do
    // not.
    Data read(Channel& channel, LineNumber line, Picoseconds from, int sectors, Picoseconds older) {
        const Picoseconds work = sectors * t_.dram_sector;
        serve(channel.free, outside_pauses(std::max(from, channel.free)), work);
        const Picoseconds stood = channel.free - work - from;
        const auto what_is_left = [&](Picoseconds of) { return of > stood ? of - stood : Picoseconds{0}; };
        const double load = std::min(load_with(channel.load, from, work), 1.0);
        const double waiting = load * load / (1 - t_.dram_load * load);
        const double mean = t_.dram_jitter_ps + t_.dram_queue_ps * waiting;
        const double jitter = mean > t_.dram_spread_ps ? std::sqrt(t_.dram_spread_ps * mean) : mean;
        // The quantile at the middle of the i-th of 4096 parts of Exp(1), as a float.
        const std::uint64_t drawn = random_.next();
        const auto part = static_cast<double>(drawn >> 52);
        const auto quantile = static_cast<double>(static_cast<float>(-std::log(1.0 - (part + 0.5) / 4096)));
        const Picoseconds ready =
            channel.free + t_.dram +
            what_is_left(older + static_cast<Picoseconds>(mean - jitter + jitter * quantile));
        const Refreshes refresh = refreshes(from, line, drawn);
        // Who has waited for a refresh or a turn to writes then waits for what has come meanwhile.
        const double backlog = machine_.latency.dram_backlog_ns * 1000.0 * waiting;
        const auto all_of = [&](Picoseconds rest) {
            return rest > 0 ? rest + static_cast<Picoseconds>(backlog) : 0;
        };
        const Picoseconds own = what_is_left(all_of(refresh.own)) +
                                all_of(std::max(channel.turned_until - channel.free, Picoseconds{0}));
        const double others = lines_ - 1;
        if (others <= 0) return {ready + own, ready + own};
        // The slowest line it stands for is one of those that wait for no refresh, or of those that do, which
        // are fewer.
        const double share = refresh.share;
        const double written = load_with(channel.writes, channel.free, 0);
        const auto late = static_cast<Picoseconds>(jitter * std::log(lines_));
        const auto turn_of = [&](double lines) { return slowest_turn(lines, written, backlog, drawn); };
        const Picoseconds any = late + turn_of(others);
        Picoseconds refreshed = 0;
        if (const Picoseconds left = what_is_left(all_of(refresh.of_others)); left > 0) {
            const double lines = std::max(lines_ * share, 1.0);
            refreshed = left + static_cast<Picoseconds>(jitter * std::log(lines)) +
                        turn_of(std::max(others * share, 1.0));
        }
        return {ready + own, ready + std::max({own, any, refreshed})};
    }

    // With what is fetched of sectors that were written in part.
    void write_back(Channel& channel, Picoseconds now, int written, int fetched) {
        const Picoseconds work = (written + fetched) * t_.dram_sector;
        serve(channel.free, outside_pauses(std::max(now, channel.free)), work);
        const double busy = std::min(load_with(channel.load, now, work), 1.0);
        serve(channel.writes_taken, now,
              static_cast<Picoseconds>(static_cast<double>(from_ns(machine_.latency.dram_write_ns)) * busy));
        load_with(channel.writes, channel.free, work);
        gather(channel, channel.free, written);
    }

    bool takes_writes(const Channel& channel, Picoseconds now) const {
        return channel.writes_taken <= now + from_ns(machine_.latency.dram_write_ns);
    }

private:
    // What is written while DRAM has turned to writes goes along; else it turns to them when it has enough.
    void gather(Channel& channel, Picoseconds now, int sectors) {
        if (now < channel.turned_until) return;
        channel.gathered += sectors;
        if (channel.gathered < 4 * machine_.latency.dram_turn_lines) return;
        channel.gathered = 0;
        channel.turned_until = now + from_ns(machine_.latency.dram_turn_ns);
    }

    // The share of the last 2 us that somebody was busy; what is x us old counts 2 / (2 + x).
    static double load_with(Load& load, Picoseconds now, Picoseconds job) {
        const Picoseconds passed = std::max(now - load.at, Picoseconds{0});
        load.share *= 2e6 / (2e6 + static_cast<double>(passed));
        load.share += static_cast<double>(job) / 2e6;
        load.at += passed;
        return load.share;
    }

    // The n-th pause begins n periods after the last one before time 0.
    Picoseconds outside_pauses(Picoseconds at) const {
        const Picoseconds length = from_ns(machine_.latency.dram_pause_ns);
        if (length == 0) return at;
        const Picoseconds period = from_ns(machine_.latency.dram_pause_every_us * 1000);
        Picoseconds begins =
            -static_cast<Picoseconds>(mix64(memory_seed_) % static_cast<std::uint64_t>(period));
        begins += (at - begins) / period * period;
        return std::max(at, begins + length);
    }

    // Each finds a turn to writes under way as often as there is one, which follows the one before when
    // enough is written, and waits for any share of it: of n the slowest less than x of it in (1 - found (1 -
    // x))^n of the cases. What is drawn is the middle of the i-th of 4096 parts, as a float.
    Picoseconds slowest_turn(double lines, double written, double backlog, std::uint64_t drawn) const {
        const double length = static_cast<double>(from_ns(machine_.latency.dram_turn_ns));
        if (length == 0 || written == 0) return 0;
        const double to_gather =
            4.0 * machine_.latency.dram_turn_lines * static_cast<double>(t_.dram_sector) / written;
        const double found = length / (length + to_gather);
        const auto part = static_cast<double>(drawn >> 28 & 4095);
        const auto log_of_cases =
            static_cast<double>(static_cast<float>(std::log(1.0 - (part + 0.5) / 4096)));
        const double rest = 1 - (1 - std::exp(log_of_cases / lines)) / found;
        return rest > 0 ? static_cast<Picoseconds>(length * rest + backlog) : 0;
    }

    struct Refreshes {
        double share;  // of banks
        Picoseconds own, of_others;
    };

    // Is a line's bank of 16 KiB under refresh, or that of a line it stands for, which are in all groups of
    // channels? How much of the refresh is left is the same for all of a group and of one refresh's time.
    Refreshes refreshes(Picoseconds now, LineNumber line, std::uint64_t drawn) const {
        const Picoseconds length = from_ns(machine_.latency.dram_refresh_ns);
        const auto groups = static_cast<std::uint64_t>(machine_.latency.dram_refresh_groups);
        const auto chance = [](double of) { return std::floor(of * 4096 + 0.5); };
        const double share = machine_.latency.dram_refresh_share;
        if (share == 0 || length == 0) return {0, 0, 0};
        const auto turn = static_cast<std::uint64_t>(now / length);
        const auto scrambled = [&](std::uint64_t what, std::uint64_t when) {
            std::uint64_t bits = what * 0x9E3779B97F4A7C15 + when * 0xD1B54A32D192ED03;
            bits = (bits ^ bits / (std::uint64_t{1} << 32)) * 0xBF58476D1CE4E5B9;
            return (bits ^ bits / (std::uint64_t{1} << 32)) * 0x94D049BB133111EB;
        };
        const std::uint64_t group = (scrambled(line / 2, 0) >> 32) * groups >> 32;
        const auto left = [&](std::uint64_t of) {
            return length * static_cast<Picoseconds>(scrambled(~of, turn) >> 54) / 1024;
        };
        const bool finds =
            static_cast<double>(scrambled(line / 128 * groups + group, turn) >> 52) < chance(share);
        // Of those it stands for, one in each group with this chance, in 1024.
        const double none = std::exp((lines_ - 1) * std::log1p(-share) / static_cast<double>(groups));
        const double chance_of_one = std::floor((1 - none) * 1024);
        const std::uint64_t mixed = drawn * 0x9E3779B97F4A7C15;
        Picoseconds longest = 0;
        for (std::uint64_t of = 0; of < groups; ++of) {
            const auto part = std::rotr(mixed, static_cast<int>(10 * of)) % 1024;
            if (static_cast<double>(part) < chance_of_one) longest = std::max(longest, left(of));
        }
        return {chance(share) / 4096, finds ? left(group) : 0, longest};
    }

    const Machine& machine_;
    MemoryTiming t_;
    double lines_;  // that a simulated one stands for
    std::uint64_t memory_seed_;
    RandomStream random_;
};

}  // namespace l2lens::test
