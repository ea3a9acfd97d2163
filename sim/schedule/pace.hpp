// SPDX-License-Identifier: Apache-2.0
// CTAs that do the same work do not take the same time. Of the attention kernel's CTAs with as many steps,
// started together, the times differ by 0.7 % (standard deviation), in proportion to the steps, and hardly
// with the SM (traces/h200/attention_schedules.csv, column_major): each keeps a pace of its own. Over
// thousands of steps that parts CTAs that read the same lines.
#pragma once

#include "base/random.hpp"

namespace l2lens {

// What a CTA's math is to take of the mean: 1 with standard deviation `spread`, uniform. Draws no number if
// `spread` is 0.
inline double draw_pace(double spread, RandomStream& random) {
    constexpr double kWidth = 3.4641016151377544;  // sqrt(12), of a uniform of standard deviation 1
    return spread > 0 ? 1 + spread * kWidth * (random.uniform() - 0.5) : 1;
}

}  // namespace l2lens
