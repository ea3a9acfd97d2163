// SPDX-License-Identifier: Apache-2.0
// Do clusters launch, share and finish together, and ask for what multicast leaves of the traffic?
#include "order/cluster.hpp"

#include "kernel/clusters.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "load/user_order.hpp"
#include "support/catch.hpp"
#include "support/ordered.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

Prediction predict_clusters(const std::vector<std::string>& arguments) {
    const Machine machine = load_machine("h200");
    const Kernel kernel = load_kernel("gemm", arguments, &machine);
    SerialExecutor serial;
    PredictOptions options;
    options.sample = 1;
    return predict(machine, kernel, test::order_of("group_m:4", kernel, machine), options, serial);
}

constexpr double kSectors = 1024.0 * 1024 * 512 * 2 * 2 / 128 / 32;  // of A and B, by every tile of 128x128

}  // namespace

TEST_CASE("A cluster's CTAs have consecutive launch ids and an aligned block of tiles") {
    const ClusterShape pair{2, 1};
    const TileSequence row_major = resolve_order("row_major", {4, 3});
    CHECK_FALSE(launches_clusters(row_major, pair));
    CHECK(launches_clusters(row_major, {1, 1}));
    const GridShape odd{3, 2};
    const TileSequence sequence =
        expand_clusters(resolve_order("row_major", cluster_grid(odd, pair)), odd, pair);
    const TileSequence expected{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, kNoTile, {2, 1}, kNoTile};
    CHECK(sequence == expected);
    CHECK(launches_clusters(sequence, pair));
    CHECK(check_order(sequence, odd).bijection());
}

TEST_CASE(
    "A 2x1 cluster asks for three quarters of the sectors, a 2x2 one for half; the SMs receive the same") {
    const std::vector<std::string> size{"m=1024", "n=1024", "k=512"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), size.begin(), size.end());
        return more;
    };
    const auto asked = "lrc__request_sectors_op_read_coalescable.sum";
    const auto multicast = "lrc__request_sectors_op_read_coalescing_achieved_type_programmatic.sum";
    const auto received = "l1tex__m_xbar2l1tex_read_sectors.sum";
    const Prediction single = predict_clusters(size);
    CHECK(single.counters.at(asked) == Approx(kSectors));
    CHECK(single.counters.at(multicast) == 0);
    const struct {
        ClusterShape shape;
        std::vector<std::string> arguments;
        double share;
    } cases[] = {{{2, 1}, {"cluster_m=2"}, 0.75},
                 {{1, 2}, {"cluster_n=2"}, 0.75},
                 {{2, 2}, {"cluster_m=2", "cluster_n=2"}, 0.5}};
    for (const auto& c : cases) {
        INFO(c.shape.rows << "x" << c.shape.columns);
        const Prediction clusters = predict_clusters(with(c.arguments));
        CHECK(clusters.counters.at(asked) == Approx(c.share * kSectors));
        CHECK(clusters.counters.at(received) == Approx(kSectors));
        // What was not asked for came by multicast (every slice is simulated: no sampling error).
        CHECK(clusters.counters.at(multicast) == Approx((1 - c.share) * kSectors));
        CHECK(clusters.time_ns > 0.5 * single.time_ns);
    }
}

TEST_CASE("Clusters at the edge of the grid run with the CTAs there are") {
    const Prediction odd = predict_clusters({"m=1100", "n=900", "k=256", "cluster_m=2", "cluster_n=2"});
    // 9 x 8 tiles in 5 x 4 clusters: each of A's 1100 rows of 512 B is asked for by 4 clusters and received
    // by 8 tiles, each of B's 900 asked for by 5 and received by 9. The four clusters at the lower edge have
    // one row of tiles, which shares A only.
    constexpr double kSectorsOfRow = 256.0 * 2 / 32;
    CHECK(odd.counters.at("lrc__request_sectors_op_read_coalescable.sum") ==
          Approx((1100 * 4 + 900 * 5) * kSectorsOfRow));
    CHECK(odd.counters.at("l1tex__m_xbar2l1tex_read_sectors.sum") ==
          Approx((1100 * 8 + 900 * 9) * kSectorsOfRow));
    CHECK(odd.counters.at("lts__t_sectors_op_write.sum") >= 1100.0 * 900 * 2 / 32);
}

TEST_CASE("CTAs of a cluster that have different numbers of steps are refused, which would wait for ever") {
    Kernel kernel = load_kernel("gemm", {"m=512", "n=512", "k=512", "cluster_m=2"});
    CHECK_NOTHROW(check_clusters(kernel));
    kernel.programs[4].phases[0].count -= 1;  // row 1, column 0 of 4 x 4
    CHECK_THROWS_WITH(
        check_clusters(kernel),
        "gemm: tile (1, 0) has 8 steps and tile (0, 0) of its cluster 9; CTAs of a cluster must "
        "have as many");
    kernel.programs[4].phases.clear();  // a no-op receives nothing
    CHECK_THROWS_WITH(check_clusters(kernel),
                      "gemm: tile (0, 0) has a box with multicast = 2 along rows, where 1 of its cluster's "
                      "CTAs run; multicast must be 1 or their number");
}
