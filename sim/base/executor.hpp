// SPDX-License-Identifier: Apache-2.0
// The one door through which parallelism enters the model: TBB in the product, a plain loop in a browser or a
// test.
#pragma once

#include <cstddef>
#include <functional>

namespace l2lens {

class Executor {
public:
    virtual ~Executor() = default;
    // Calls body(i) for each i in [0, count), in any order and on any thread; returns when all are done.
    // The bodies must not touch each other's data. An exception of a body is rethrown here.
    virtual void for_each(std::size_t count, const std::function<void(std::size_t)>& body) = 0;
    virtual int threads() const = 0;
};

class SerialExecutor final : public Executor {
public:
    void for_each(std::size_t count, const std::function<void(std::size_t)>& body) override {
        for (std::size_t i = 0; i < count; ++i) body(i);
    }
    int threads() const override { return 1; }
};

}  // namespace l2lens
