// SPDX-License-Identifier: Apache-2.0
#include "parallel/tbb_executor.hpp"

#include <algorithm>

#if defined(__SANITIZE_THREAD__)
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#endif

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace l2lens {
namespace {

int count_or_default(int threads) {
    return threads > 0 ? threads : tbb::this_task_arena::max_concurrency();
}

}  // namespace

// An arena alone gets no more workers than TBB's pool has, which is one per core: the control raises that
// limit when more threads are asked for (tests of determinism do), the arena keeps to fewer.
struct TbbExecutor::Arena {
    explicit Arena(int threads)
        : limit(tbb::global_control::max_allowed_parallelism,
                std::max(static_cast<std::size_t>(threads),
                         tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism))),
          arena(threads) {}

    tbb::global_control limit;
    tbb::task_arena arena;
};

// One thread needs no arena, and without one TBB is not started: that loads two more libraries and looks for
// a third, a millisecond of a process that may take seven.
TbbExecutor::TbbExecutor(int threads) {
    const int count = count_or_default(threads);
    if (count > 1) arena_ = std::make_unique<Arena>(count);
}

TbbExecutor::~TbbExecutor() = default;

#if defined(__SANITIZE_THREAD__)

// libtbb is not instrumented, so ThreadSanitizer does not see how it orders tasks and takes each handover for
// a race. What it is to judge are the bodies: here plain threads run them.
void TbbExecutor::for_each(std::size_t count, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto work = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++) body(i);
        } catch (...) {
            const std::lock_guard lock(guard);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> helpers;
    for (int i = 1; i < threads(); ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

#else

void TbbExecutor::for_each(std::size_t count, const std::function<void(std::size_t)>& body) {
    if (arena_ == nullptr) return SerialExecutor().for_each(count, body);
    // Bodies are large (a slice's window, an order's whole run): one task each.
    arena_->arena.execute([&] {
        tbb::parallel_for(
            std::size_t{0}, count, [&](std::size_t i) { body(i); }, tbb::simple_partitioner{});
    });
}

#endif

int TbbExecutor::threads() const {
    return arena_ == nullptr ? 1 : arena_->arena.max_concurrency();
}

}  // namespace l2lens
