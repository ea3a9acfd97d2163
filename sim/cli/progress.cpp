// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace l2lens::cli {
namespace {

using namespace std::chrono_literals;
constexpr auto kFirstAfter = 500ms;
constexpr auto kEvery = 100ms;

}  // namespace

Progress::Progress(std::string what, std::size_t items, bool quiet)
    : what_(std::move(what)),
      shown_(!quiet && ::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      fractions_(items),
      last_(start_) {}

Progress::~Progress() {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::update(std::size_t item, double fraction) {
    fractions_[item].store(std::clamp(fraction, 0.0, 1.0), std::memory_order_relaxed);
    if (!shown_) return;
    const std::unique_lock lock(drawing_, std::try_to_lock);  // someone else is drawing: nothing is lost
    const Clock::time_point now = Clock::now();
    if (!lock || now - start_ < kFirstAfter || now - last_ < kEvery) return;
    last_ = now;
    draw(now);
}

void Progress::draw(Clock::time_point now) {
    double done = 0;
    std::size_t finished = 0;
    for (const auto& fraction : fractions_) {
        const double value = fraction.load(std::memory_order_relaxed);
        done += value;
        if (value >= 1) ++finished;
    }
    const double share = done / static_cast<double>(std::max<std::size_t>(fractions_.size(), 1));
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const std::string left = share > 0 ? fmt::format(", {:.0f} s left", elapsed * (1 - share) / share) : "";
    fmt::print(stderr, "\r\x1b[K{}: {} of {}, {:.0f} %{}", what_, finished, fractions_.size(), 100 * share,
               left);
    std::fflush(stderr);
    drawn_ = true;
}

}  // namespace l2lens::cli
