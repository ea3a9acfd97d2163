// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "baseline/baseline.hpp"

namespace l2lens {
namespace {

// Least recently used boxes on an intrusive list; a box is its dense number.
class BoxLru {
public:
    BoxLru(std::size_t boxes, double capacity)
        : capacity_(capacity), next_(boxes + 1), previous_(boxes + 1), bytes_(boxes + 1, 0.0), head_(boxes) {
        next_[head_] = previous_[head_] = head_;
    }

    bool touch(std::size_t box, double bytes) {
        const bool hit = bytes_[box] > 0;
        if (hit) {
            unlink(box);
        } else {
            bytes_[box] = bytes;
            used_ += bytes;
        }
        next_[box] = next_[head_];
        previous_[box] = head_;
        previous_[next_[box]] = box;
        next_[head_] = box;
        while (used_ > capacity_ && previous_[head_] != box) evict(previous_[head_]);
        return hit;
    }

private:
    void unlink(std::size_t box) {
        next_[previous_[box]] = next_[box];
        previous_[next_[box]] = previous_[box];
    }
    void evict(std::size_t box) {
        unlink(box);
        used_ -= bytes_[box];
        bytes_[box] = 0;
    }

    double capacity_;
    double used_ = 0;
    std::vector<std::size_t> next_;
    std::vector<std::size_t> previous_;
    std::vector<double> bytes_;
    std::size_t head_;
};

// The loads of one CTA as one list of steps.
struct Steps {
    struct Run {
        std::span<const std::int32_t> walks;
        std::int64_t first;
        std::int64_t count;
    };
    std::vector<Run> runs;
    std::int64_t total = 0;
};

Steps steps_of(const Work& work, std::int32_t tile) {
    Steps steps;
    for (const Work::Phase& phase : work.program(tile)) {
        steps.runs.push_back({work.loads(phase), steps.total, phase.count});
        steps.total += phase.count;
    }
    return steps;
}

}  // namespace

double flat_lru_hit_rate(const Work& work, std::span<const std::int32_t> launches, std::int64_t wave,
                         std::int64_t capacity) {
    std::vector<std::size_t> first_box(work.walks() + 1, 0);
    for (std::size_t w = 0; w < work.walks(); ++w) {
        first_box[w + 1] =
            first_box[w] + static_cast<std::size_t>(work.walk_steps(static_cast<std::int32_t>(w)));
    }
    BoxLru lru(first_box.back(), static_cast<double>(capacity));
    double asked = 0;
    double hit = 0;
    std::vector<Steps> resident;
    for (std::size_t first = 0; first < launches.size(); first += static_cast<std::size_t>(wave)) {
        const std::size_t end = std::min(launches.size(), first + static_cast<std::size_t>(wave));
        resident.clear();
        std::int64_t longest = 0;
        for (std::size_t id = first; id < end; ++id) {
            if (launches[id] < 0) continue;
            resident.push_back(steps_of(work, launches[id]));
            longest = std::max(longest, resident.back().total);
        }
        for (std::int64_t step = 0; step < longest; ++step) {
            for (const Steps& cta : resident) {
                for (const Steps::Run& run : cta.runs) {
                    const std::int64_t k = step - run.first;
                    if (k < 0 || k >= run.count) continue;
                    for (std::int32_t walk : run.walks) {
                        const double bytes = work.walk_bytes(walk) / static_cast<double>(run.count);
                        if (bytes <= 0) continue;
                        asked += bytes;
                        const std::size_t box =
                            first_box[static_cast<std::size_t>(walk)] + static_cast<std::size_t>(k);
                        if (lru.touch(box, bytes)) hit += bytes;
                    }
                }
            }
        }
    }
    return asked > 0 ? 100.0 * hit / asked : 0.0;
}

}  // namespace l2lens
