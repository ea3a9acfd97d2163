// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "baseline/baseline.hpp"

namespace l2lens {

double closed_form_hit_rate(const Work& work, std::span<const std::int32_t> launches, std::int64_t wave) {
    std::vector<std::int64_t> last_wave(work.walks(), -1);  // in which a walk was counted
    double asked = 0;
    double fetched = 0;
    std::int64_t id = 0;
    for (std::int32_t tile : launches) {
        const std::int64_t number = id++ / wave;
        if (tile < 0) continue;
        for (const Work::Phase& phase : work.program(tile)) {
            for (std::int32_t walk : work.loads(phase)) {
                const double bytes = work.walk_bytes(walk);
                asked += bytes;
                std::int64_t& last = last_wave[static_cast<std::size_t>(walk)];
                if (last == number) continue;
                last = number;
                fetched += bytes;
            }
        }
    }
    return asked > 0 ? 100.0 * (1.0 - fetched / asked) : 0.0;
}

}  // namespace l2lens
