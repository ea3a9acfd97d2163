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

#if defined(__SANITIZE_THREAD__)

// libtbb is not instrumented, so ThreadSanitizer does not see how it orders tasks and takes each handover for
// a race. What it is to judge are the bodies: here plain threads run them.
template <class Partitioner>
void run_in(tbb::task_arena& arena, std::size_t count, const std::function<void(std::size_t)>& body,
            Partitioner&) {
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
    for (int i = 1; i < arena.max_concurrency(); ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

#else

template <class Partitioner>
void run_in(tbb::task_arena& arena, std::size_t count, const std::function<void(std::size_t)>& body,
            Partitioner& partitioner) {
    arena.execute([&] {
        tbb::parallel_for(
            std::size_t{0}, count, [&](std::size_t i) { body(i); }, partitioner);
    });
}

#endif

std::unique_ptr<Executor> team_of(int threads);

// An arena of its own: who waits for its bodies takes none of another caller's meanwhile.
class Team final : public Executor {
public:
    explicit Team(int threads) : arena_(threads) {}

    void for_each(std::size_t count, const std::function<void(std::size_t)>& body) override {
        run_in(arena_, count, body, places_);
    }
    std::unique_ptr<Executor> team(int threads) override {
        return team_of(std::min(threads, this->threads()));
    }
    int threads() const override { return arena_.max_concurrency(); }

private:
    tbb::task_arena arena_;
    tbb::affinity_partitioner places_;
};

std::unique_ptr<Executor> team_of(int threads) {
    if (threads <= 1) return std::make_unique<SerialExecutor>();
    return std::make_unique<Team>(threads);
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

void TbbExecutor::for_each(std::size_t count, const std::function<void(std::size_t)>& body) {
    if (arena_ == nullptr) return SerialExecutor().for_each(count, body);
    const tbb::simple_partitioner one_task_each{};  // bodies are large: an order's whole run
    run_in(arena_->arena, count, body, one_task_each);
}

std::unique_ptr<Executor> TbbExecutor::team(int threads) {
    return team_of(std::min(threads, this->threads()));
}

int TbbExecutor::threads() const {
    return arena_ == nullptr ? 1 : arena_->arena.max_concurrency();
}

}  // namespace l2lens
