// SPDX-License-Identifier: Apache-2.0
// A line on stderr while a long command runs: only on a terminal, only after half a second.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace l2lens::cli {

class Progress {
public:
    // `items` units of work of about the same size, each reporting its fraction.
    Progress(std::string what, std::size_t items, bool quiet);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // From any thread.
    void update(std::size_t item, double fraction);
    void finish(std::size_t item) { update(item, 1.0); }

private:
    using Clock = std::chrono::steady_clock;

    void draw(Clock::time_point now);

    const std::string what_;
    const bool shown_;
    const Clock::time_point start_;
    std::vector<std::atomic<double>> fractions_;
    std::mutex drawing_;
    Clock::time_point last_;
    bool drawn_ = false;
};

}  // namespace l2lens::cli
