// SPDX-License-Identifier: Apache-2.0
// How many of what came lately were of a kind.
#pragma once

namespace l2lens {

class RecentShare {
public:
    void add(bool of_kind) { share_ += ((of_kind ? 1.0 : 0.0) - share_) / kMemory; }

    // 0 to 1.
    double share() const { return share_; }

private:
    static constexpr double kMemory = 64;  // assumed: 0.3 us of a slice whose link is never idle
    double share_ = 0;
};

}  // namespace l2lens
