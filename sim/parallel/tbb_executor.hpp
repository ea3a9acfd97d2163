// SPDX-License-Identifier: Apache-2.0
// The Executor of the product: oneTBB, with a thread count of its own. The header does not need TBB.
#pragma once

#include <memory>

#include "base/executor.hpp"

namespace l2lens {

class TbbExecutor final : public Executor {
public:
    // `threads` 0: as many as the machine (or the container's affinity mask) has.
    explicit TbbExecutor(int threads = 0);
    ~TbbExecutor() override;

    TbbExecutor(const TbbExecutor&) = delete;
    TbbExecutor& operator=(const TbbExecutor&) = delete;

    void for_each(std::size_t count, const std::function<void(std::size_t)>& body) override;
    std::unique_ptr<Executor> team(int threads) override;
    int threads() const override;

private:
    struct Arena;
    std::unique_ptr<Arena> arena_;  // none for one thread
};

}  // namespace l2lens
