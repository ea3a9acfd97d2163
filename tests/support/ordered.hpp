// SPDX-License-Identifier: Apache-2.0
// Orders by name, for tests that need no more of them than a kernel and a machine.
#pragma once

#include <string>

#include "load/user_order.hpp"
#include "order/cluster.hpp"

#include "predict.hpp"

namespace l2lens::test {

// A named order over the kernel's grid; of a kernel of clusters it walks the grid of these.
inline NamedOrder order_of(const std::string& name, const Kernel& kernel, const Machine& machine) {
    OrderContext context;
    context.sms = static_cast<int>(machine.sms.size());
    const GridShape tiles = grid_of(kernel);
    const ClusterShape cluster{kernel.cluster[0], kernel.cluster[1]};
    const TileSequence clusters = resolve_order(name, cluster_grid(tiles, cluster), context);
    return over_grid(kernel, name, expand_clusters(clusters, tiles, cluster), machine);
}

}  // namespace l2lens::test
