// SPDX-License-Identifier: Apache-2.0
#include <atomic>
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

TEST_CASE("Nothing to do is done") {
    TbbExecutor executor;
    CHECK(executor.threads() >= 1);
    bool called = false;
    executor.for_each(0, [&](std::size_t) { called = true; });
    CHECK_FALSE(called);
}
