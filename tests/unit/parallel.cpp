// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "parallel/tbb_executor.hpp"
#include "support/catch.hpp"

using namespace l2lens;

TEST_CASE("Each index is visited once, on any number of threads") {
    for (const int threads : {1, 2, 4}) {
        TbbExecutor executor(threads);
        CHECK(executor.threads() == threads);
        std::vector<std::atomic<int>> visits(1000);
        executor.for_each(visits.size(), [&](std::size_t i) { ++visits[i]; });
        int wrong = 0;
        for (const auto& count : visits) wrong += count != 1 ? 1 : 0;
        CHECK(wrong == 0);
    }
}

TEST_CASE("One thread means one thread") {
    TbbExecutor executor(1);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    executor.for_each(100, [&](std::size_t) {
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
    });
    CHECK(seen.size() == 1);
}

TEST_CASE("An exception of a body reaches the caller") {
    TbbExecutor executor(2);
    CHECK_THROWS_AS(executor.for_each(100,
                                      [](std::size_t i) {
                                          if (i == 42) throw std::runtime_error("body 42");
                                      }),
                    std::runtime_error);
}

TEST_CASE("Loops nest") {
    TbbExecutor outer(2), inner(2);
    std::atomic<int> calls{0};
    outer.for_each(8, [&](std::size_t) { inner.for_each(8, [&](std::size_t) { ++calls; }); });
    CHECK(calls == 64);
}

TEST_CASE("A team visits each index once a round, with no more threads than it was asked for") {
    TbbExecutor executor(4);
    for (const int threads : {1, 2, 4, 9}) {
        const std::unique_ptr<Executor> team = executor.team(threads);
        CHECK(team->threads() == std::min(threads, 4));
        CHECK(team->team(3)->threads() == std::min(threads, 3));
        std::mutex mutex;
        std::set<std::thread::id> seen;
        std::vector<std::atomic<int>> visits(13);
        constexpr int kRounds = 200;
        for (int round = 0; round < kRounds; ++round) {
            team->for_each(visits.size(), [&](std::size_t i) {
                ++visits[i];
                const std::lock_guard lock(mutex);
                seen.insert(std::this_thread::get_id());
            });
        }
        for (const auto& count : visits) CHECK(count == kRounds);
        if (threads == 1) CHECK(seen.size() == 1);
    }
}

TEST_CASE("Teams run side by side, and an exception in one reaches the caller of all") {
    TbbExecutor executor(4);
    std::atomic<int> calls{0};
    const auto two_rounds = [&](std::size_t failing) {
        executor.for_each(6, [&](std::size_t i) {
            const std::unique_ptr<Executor> team = executor.team(2);
            for (int round = 0; round < 2; ++round) {
                team->for_each(8, [&](std::size_t) {
                    ++calls;
                    if (i == failing) throw std::runtime_error("team");
                });
            }
        });
    };
    two_rounds(6);
    CHECK(calls == 6 * 2 * 8);
    CHECK_THROWS_AS(two_rounds(3), std::runtime_error);
}

TEST_CASE("Bodies with teams have an even part of the threads each, and one at least") {
    TbbExecutor executor(4);
    for (const std::size_t count : {0u, 1u, 2u, 3u, 4u, 40u}) {
        std::vector<int> threads(count, 0);
        executor.for_each_with_team(count,
                                    [&](std::size_t i, Executor& team) { threads[i] = team.threads(); });
        const int each = count > 0 ? std::max(4 / static_cast<int>(count), 1) : 0;
        CHECK(std::count(threads.begin(), threads.end(), each) == static_cast<std::ptrdiff_t>(count));
    }
}

TEST_CASE("Nothing to do is done") {
    TbbExecutor executor;
    CHECK(executor.threads() >= 1);
    bool called = false;
    executor.for_each(0, [&](std::size_t) { called = true; });
    CHECK_FALSE(called);
}
