// SPDX-License-Identifier: Apache-2.0
// How a launch hands out its tiles: a CTA for each, or CTAs that stay and take one after the other.
#pragma once

namespace l2lens {

enum class Mode { Grid, Static, Dynamic };

}  // namespace l2lens
