// SPDX-License-Identifier: Apache-2.0
// Which SMs take part in a microbenchmark. Every kernel here is launched with one CTA on each SM; a CTA looks
// up its SM's role and does its share, or leaves.
#pragma once

#include <algorithm>
#include <vector>

namespace l2lens::gpu {

class Roles {
public:
    // roles[sm]: the SM's number among the participants, -1 for a bystander.
    static Roles of(const std::vector<int>& participants, int sms) {
        Roles roles;
        roles.count_ = static_cast<int>(participants.size());
        roles.role_of_sm_.assign(static_cast<std::size_t>(sms), -1);
        for (std::size_t i = 0; i < participants.size(); ++i)
            roles.role_of_sm_[static_cast<std::size_t>(participants[i])] = static_cast<int>(i);
        return roles;
    }
    static Roles all(int sms) {
        std::vector<int> everyone(static_cast<std::size_t>(sms));
        for (int sm = 0; sm < sms; ++sm) everyone[static_cast<std::size_t>(sm)] = sm;
        return of(everyone, sms);
    }

    int participants() const { return count_; }
    int sms() const { return static_cast<int>(role_of_sm_.size()); }
    const std::vector<int>& role_of_sm() const { return role_of_sm_; }

private:
    int count_ = 0;
    std::vector<int> role_of_sm_;
};

}  // namespace l2lens::gpu
