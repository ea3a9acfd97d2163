// SPDX-License-Identifier: Apache-2.0
// A dependent chase by one warp, as in gpu-latency of github.com/RRZE-HPC/gpu-benches: a random cycle through
// the buffer's 64 B pieces, each load's address the value of the load before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "support/streams.hpp"

namespace l2lens::test {

struct ChaseReading {
    double latency_ns = 0;       // mean, from the SM to a slice and back
    double own_hit_rate = 0;     // lookups in the own partition that hit
    double fabric_hit_rate = 0;  // lookups in the home partition that hit, of those that were made
};

// Chases through the pieces of `bytes` that lie in `lanes` of the L2; each lane sees its share of every size.
inline ChaseReading chase(const Machine& machine, const std::vector<int>& lanes, std::int64_t bytes) {
    StreamRun run(machine, lanes, 1);
    std::vector<Request> hops;
    for (const LineNumber line : run.lines(0, bytes / kLineBytes)) {
        for (const SectorMask piece : {SectorMask{0x1}, SectorMask{0x4}}) {
            Request request;
            request.line = line;
            request.sectors = piece;
            hops.push_back(request);
        }
    }
    std::mt19937 random(1);
    std::shuffle(hops.begin(), hops.end(), random);

    Stream stream;
    stream.gpc = machine.sms.front().gpc;
    stream.count = 2 * static_cast<std::int64_t>(hops.size());  // the second lap of each run is as the first
    stream.in_flight = 1;
    stream.request = [&hops](std::int64_t i) { return hops[static_cast<std::size_t>(i) % hops.size()]; };
    run.run({stream});  // warms up
    run.reset_events();
    run.run({stream});

    const Events events = run.events();
    const auto share = [](std::uint64_t part, std::uint64_t whole) {
        return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
    };
    const double nanoseconds = static_cast<double>(run.arrivals().back()) / kPsPerNs;
    return {nanoseconds / static_cast<double>(stream.count),
            share(events[Event::TexReadHits], events[Event::TexReadSectors]),
            share(events[Event::FabricReadHits], events[Event::FabricReadSectors])};
}

}  // namespace l2lens::test
