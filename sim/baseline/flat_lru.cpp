// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "baseline/baseline.hpp"

namespace l2lens {
namespace {

// Least recently used boxes on an intrusive list; a box is its dense number.
class BoxLru {
public:
    BoxLru(std::size_t boxes, double capacity) : capacity_(capacity), entries_(boxes + 1), head_(boxes) {
        entries_[head_].next = entries_[head_].previous = head_;
    }

    // Takes a box off the list, or makes room for it when it is not there: did it hit? It is in use, and
    // nothing lets go of it, until it is put back.
    bool take(std::size_t box, double bytes) {
        Entry& entry = entries_[box];
        if (entry.bytes > 0) {
            unlink(entry);
            return true;
        }
        entry.bytes = bytes;
        used_ += bytes;
        while (used_ > capacity_ && entries_[head_].previous != head_) evict_oldest();
        return false;
    }
    // As the youngest.
    void put_back(std::size_t box) {
        Entry &entry = entries_[box], &head = entries_[head_];
        entry.next = head.next;
        entry.previous = head_;
        entries_[head.next].previous = box;
        head.next = box;
    }

private:
    struct Entry {
        std::size_t next = 0;
        std::size_t previous = 0;
        double bytes = 0;  // 0: not there
    };

    void unlink(const Entry& entry) {
        entries_[entry.previous].next = entry.next;
        entries_[entry.next].previous = entry.previous;
    }
    void evict_oldest() {
        Entry& oldest = entries_[entries_[head_].previous];
        unlink(oldest);
        used_ -= std::exchange(oldest.bytes, 0.0);
    }

    double capacity_;
    double used_ = 0;
    std::vector<Entry> entries_;
    std::size_t head_;
};

// A walk that CTAs of a wave take in the same steps: in their step s they ask for its box s - first.
struct SharedWalk {
    std::int32_t walk;
    std::int64_t first;
    std::int64_t end;  // `first` where its boxes are empty
    std::size_t first_box;
    double box_bytes;

    bool asks(std::int64_t step) const { return step >= first && step < end; }
    std::size_t box(std::int64_t step) const { return first_box + static_cast<std::size_t>(step - first); }
};

// The walks of the CTAs of a wave. Boxes are numbered over all walks of the kernel, one walk after the other.
class Wave {
public:
    explicit Wave(const Work& work)
        : work_(work), first_box_(work.walks() + 1), newest_(work.walks(), kNone) {
        for (std::size_t w = 0; w < work.walks(); ++w)
            first_box_[w + 1] =
                first_box_[w] + static_cast<std::size_t>(work.walk_steps(static_cast<std::int32_t>(w)));
    }

    // Of all walks.
    std::size_t boxes() const { return first_box_.back(); }

    void clear() {
        for (const SharedWalk& shared : walks_) newest_[static_cast<std::size_t>(shared.walk)] = kNone;
        walks_.clear();
        older_.clear();
        requests_.clear();
        steps_ = 0;
    }

    void add_cta(std::int32_t tile) {
        std::int64_t first = 0;
        for (const Work::Phase& phase : work_.program(tile)) {
            for (const std::int32_t walk : work_.loads(phase)) add(walk, first, phase.count);
            first += phase.count;
        }
        steps_ = std::max(steps_, first);
    }

    std::int64_t steps() const { return steps_; }
    // Each once, as they are first asked for.
    const std::vector<SharedWalk>& walks() const { return walks_; }
    // Places among the walks: what the CTAs ask for in a step, one CTA after the other.
    const std::vector<std::size_t>& requests() const { return requests_; }

    // Places among the walks in the order in which they are last asked for.
    std::vector<std::size_t> by_last_request() const {
        std::vector<char> seen(walks_.size(), 0);
        std::vector<std::size_t> order;
        for (std::size_t i = requests_.size(); i-- > 0;) {
            if (std::exchange(seen[requests_[i]], 1) == 0) order.push_back(requests_[i]);
        }
        std::reverse(order.begin(), order.end());
        return order;
    }

private:
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

    void add(std::int32_t walk, std::int64_t first, std::int64_t count) {
        std::size_t& newest = newest_[static_cast<std::size_t>(walk)];
        for (std::size_t i = newest; i != kNone; i = older_[i]) {
            if (walks_[i].first != first) continue;
            requests_.push_back(i);
            return;
        }
        older_.push_back(newest);
        newest = walks_.size();
        requests_.push_back(newest);
        const double bytes = work_.walk_bytes(walk) / static_cast<double>(count);
        const std::size_t first_box = first_box_[static_cast<std::size_t>(walk)];
        walks_.push_back({walk, first, bytes > 0 ? first + count : first, first_box, bytes});
    }

    const Work& work_;
    std::vector<std::size_t> first_box_;  // of each walk
    std::vector<SharedWalk> walks_;
    std::vector<std::size_t> newest_;  // per walk: where it is among them
    std::vector<std::size_t> older_;   // the same walk taken in other steps
    std::vector<std::size_t> requests_;
    std::int64_t steps_ = 0;
};

class FlatLru {
public:
    FlatLru(std::size_t boxes, std::int64_t capacity)
        : capacity_(static_cast<double>(capacity)), lru_(boxes, capacity_) {}

    void run(const Wave& wave) {
        double bytes = 0;
        for (const SharedWalk& walk : wave.walks()) bytes += walk.box_bytes;
        if (bytes <= capacity_) {
            run_together(wave);
        } else {
            run_one_by_one(wave);
        }
    }

    double hit_rate() const { return asked_ > 0 ? 100.0 * hit_ / asked_ : 0.0; }

private:
    // All that a step asks for stays while it lasts: only the first request for a box can miss, and only the
    // last one says how young it is.
    void run_together(const Wave& wave) {
        const std::vector<std::size_t> by_last = wave.by_last_request();
        std::vector<double> asked(wave.walks().size(), 0.0);
        for (const std::size_t i : wave.requests()) asked[i] += wave.walks()[i].box_bytes;
        for (std::int64_t step = 0; step < wave.steps(); ++step) {
            for (std::size_t i = 0; i < wave.walks().size(); ++i) {
                const SharedWalk& walk = wave.walks()[i];
                if (!walk.asks(step)) continue;
                asked_ += asked[i];
                hit_ += asked[i];
                if (!lru_.take(walk.box(step), walk.box_bytes)) hit_ -= walk.box_bytes;
            }
            for (const std::size_t i : by_last) {
                const SharedWalk& walk = wave.walks()[i];
                if (walk.asks(step)) lru_.put_back(walk.box(step));
            }
        }
    }

    void run_one_by_one(const Wave& wave) {
        for (std::int64_t step = 0; step < wave.steps(); ++step) {
            for (const std::size_t i : wave.requests()) {
                const SharedWalk& walk = wave.walks()[i];
                if (!walk.asks(step)) continue;
                asked_ += walk.box_bytes;
                if (lru_.take(walk.box(step), walk.box_bytes)) hit_ += walk.box_bytes;
                lru_.put_back(walk.box(step));
            }
        }
    }

    double capacity_;
    BoxLru lru_;
    double asked_ = 0;
    double hit_ = 0;
};

}  // namespace

double flat_lru_hit_rate(const Work& work, std::span<const std::int32_t> launches, std::int64_t wave,
                         std::int64_t capacity) {
    Wave resident(work);
    FlatLru lru(resident.boxes(), capacity);
    for (std::size_t first = 0; first < launches.size(); first += static_cast<std::size_t>(wave)) {
        const std::size_t end = std::min(launches.size(), first + static_cast<std::size_t>(wave));
        resident.clear();
        for (std::size_t id = first; id < end; ++id) {
            if (launches[id] >= 0) resident.add_cta(launches[id]);
        }
        lru.run(resident);
    }
    return lru.hit_rate();
}

}  // namespace l2lens
