// SPDX-License-Identifier: Apache-2.0
#include "observe/timeline.hpp"

namespace l2lens {
namespace {

Events difference(const Events& later, const Events& earlier) {
    Events events = later;
    for (std::size_t i = 0; i < events.value.size(); ++i) events.value[i] -= earlier.value[i];
    return events;
}

}  // namespace

void Timeline::add(Picoseconds since_launch, const Events& so_far) {
    if (length_ == 0) {
        length_ = since_launch;
        bins_.emplace_back();
    }
    // A window ends in the bin it belongs to; windows are never longer than a bin.
    while (since_launch > static_cast<Picoseconds>(bins_.size()) * length_) {
        finish();
        if (bins_.size() == kMostBins) {
            halve();
            continue;
        }
        before_ = last_;
        bins_.emplace_back();
    }
    last_ = so_far;
}

void Timeline::finish() {
    if (bins_.empty()) return;
    bins_.back().events = difference(last_, before_);
    if (look_) bins_.back().state = look_();
}

// Pairs of bins become one; the last of them is open again and takes what comes.
void Timeline::halve() {
    std::vector<TimeBin> pairs;
    for (std::size_t i = 0; i + 1 < bins_.size(); i += 2) {
        pairs.push_back(std::move(bins_[i + 1]));
        pairs.back().events += bins_[i].events;
    }
    before_ = last_;
    for (std::size_t i = 0; i < before_.value.size(); ++i) before_.value[i] -= pairs.back().events.value[i];
    bins_ = std::move(pairs);
    length_ *= 2;
}

}  // namespace l2lens
