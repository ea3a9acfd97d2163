// SPDX-License-Identifier: Apache-2.0
// Remaps of launch ids for GPUs of several dies. The hardware deals ids round-robin, xcd = id % X; a remap
// gives each die a contiguous share of the order it stands before. id % X is the die, id / X the turn.
#include "order/families.hpp"

namespace l2lens {

// Shares rounded up: a bijection only where T <= X or T % X is 0 or X - 1. Kept because it is what many
// kernels run.
Index xcd_ceil(Index id, Index total, const OrderArgs&, const OrderContext& context) {
    return id % context.xcds * ceil_div<Index>(total, context.xcds) + id / context.xcds;
}

// Shares rounded down: a bijection only where T % X == 0 (T = 1 aside); the last ids double others.
Index xcd_floor(Index id, Index total, const OrderArgs&, const OrderContext& context) {
    return id % context.xcds * (total / context.xcds) + id / context.xcds;
}

// The first T % X dies are one taller.
Index xcd_tall(Index id, Index total, const OrderArgs&, const OrderContext& context) {
    const Index per_die = ceil_div<Index>(total, context.xcds);
    const Index tall = total % context.xcds == 0 ? context.xcds : total % context.xcds;
    const Index die = id % context.xcds;
    const Index before = die < tall ? die * per_die : tall * per_die + (die - tall) * (per_die - 1);
    return before + id / context.xcds;
}

// The same map by a prefix sum.
Index xcd_prefix(Index id, Index total, const OrderArgs&, const OrderContext& context) {
    const Index die = id % context.xcds;
    return die * (total / context.xcds) + std::min<Index>(die, total % context.xcds) + id / context.xcds;
}

// Chunks of C consecutive ids to a die, block of X * C by block; a last incomplete block stays as it is.
Index xcd_chunked(Index id, Index total, const OrderArgs& args, const OrderContext& context) {
    const Index chunk = args[0];
    const Index block = context.xcds * chunk;
    if (id >= total / block * block) return id;
    const Index die = id % context.xcds;
    const Index turn = id / context.xcds;
    return turn / chunk * block + die * chunk + turn % chunk;
}

}  // namespace l2lens
