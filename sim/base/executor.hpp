// SPDX-License-Identifier: Apache-2.0
// The one door through which parallelism enters the model: TBB in the product, a plain loop in a browser or a
// test.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace l2lens {

class Executor {
public:
    virtual ~Executor() = default;
    // Calls body(i) for each i in [0, count), in any order and on any thread; returns when all are done.
    // The bodies must not touch each other's data. An exception of a body is rethrown here.
    virtual void for_each(std::size_t count, const std::function<void(std::size_t)>& body) = 0;
    // At most so many of its threads for bodies that run again and again, by one caller at a time: each runs
    // where it ran before, unless that thread is late, so that its data is still in that core's caches.
    virtual std::unique_ptr<Executor> team(int threads) = 0;
    virtual int threads() const = 0;

    // As for_each, where each body has a team of its own: an even part of the threads, one at least.
    void for_each_with_team(std::size_t count, const std::function<void(std::size_t, Executor&)>& body) {
        const auto threads_each = count > 0 ? static_cast<std::size_t>(threads()) / count : 0;
        for_each(count, [&](std::size_t i) { body(i, *team(static_cast<int>(threads_each))); });
    }
};

class SerialExecutor final : public Executor {
public:
    void for_each(std::size_t count, const std::function<void(std::size_t)>& body) override {
        for (std::size_t i = 0; i < count; ++i) body(i);
    }
    std::unique_ptr<Executor> team(int) override { return std::make_unique<SerialExecutor>(); }
    int threads() const override { return 1; }
};

}  // namespace l2lens
