// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_far: what SMs get whose lines come from the other side of the L2, and what SMs beside them get
// whose lines do not, as rows of traces/h200/far.csv (its README says what the columns and sets are).
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.hpp"

#include "gpu/probe/bench.hpp"
#include "gpu/tests/read_items.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr std::int64_t kDurationNs = 400000;
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kNear = 6 * kCopyBytes;
constexpr std::int64_t kNearOfHalf = 10 * kCopyBytes;
constexpr std::int64_t kMissesInSide = 44 * kMiB;     // a side keeps 29.4 MiB
constexpr std::int64_t kPage = 128 * kCopyBytes;      // copies of rows begin at a whole one
constexpr std::int64_t kStreamed = 256 * kCopyBytes;  // 528 MiB of all SMs: each copy comes from DRAM

// The half of it that is homed on this side fits there beside the 6 MiB of this side's SMs.
constexpr std::int64_t kMissesInOtherSide = 36 * kMiB;

// SMs of one kind; each walks so many bytes of its own.
struct Readers {
    std::vector<int> sms;
    std::int64_t bytes_each = 0;
    int in_flight = 0;
};

// `sms` that walk `bytes` between them.
Readers sharing(const std::vector<int>& sms, std::int64_t bytes, int in_flight) {
    const std::int64_t part = bytes / static_cast<std::int64_t>(sms.size()) / kCopyBytes * kCopyBytes;
    return {sms, part, in_flight};
}

// Every other TPC of `side`: those from its first on, or from its second on.
std::vector<int> half_of(const std::vector<int>& side, std::size_t first_tpc) {
    std::vector<int> sms;
    for (std::size_t i = 0; i < side.size(); ++i)
        if (i / 2 % 2 == first_tpc) sms.push_back(side[i]);
    return sms;
}

double mean_rate(const Readers& readers, const std::vector<std::uint64_t>& bytes_of_sm) {
    if (readers.sms.empty()) return 0;
    double bytes = 0;
    for (int sm : readers.sms) bytes += static_cast<double>(bytes_of_sm[static_cast<std::size_t>(sm)]);
    return bytes / static_cast<double>(readers.sms.size()) / kDurationNs;
}

void record(const ProbeBench& bench, const char* set, const std::string& side, const Readers& readers,
            const Readers& near = {}, CopyWith with = CopyWith::Boxes) {
    std::vector<int> sms;
    std::vector<CopyJob> jobs;
    std::int64_t end = 0;
    for (const Readers* kind : {&readers, &near}) {
        for (int sm : kind->sms) {
            sms.push_back(sm);
            jobs.push_back({end, kind->bytes_each, kind->in_flight});
            end += kind->bytes_each;
        }
    }
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    const std::vector<std::uint64_t> bytes = copy_for_a_while(bench.buffer(), jobs, with, kDurationNs, roles);
    std::printf("%s,%s,%zu,%zu,%d,%d,%.2f,%.2f\n", set, side.c_str(), readers.sms.size(), near.sms.size(),
                readers.in_flight, near.in_flight, mean_rate(readers, bytes), mean_rate(near, bytes));
}

void record_side(const ProbeBench& bench, int partition) {
    const std::string side = std::to_string(partition);
    const std::vector<int> sms = bench.sms_of_partition(partition);
    for (const int n : {1, 2, 4, 8, 12}) record(bench, "near", side, {sms, kNear, n});
    for (const int n : {1, 2, 3, 4, 6, 8, 12}) record(bench, "far", side, sharing(sms, kMissesInSide, n));
}

void record_halves(const ProbeBench& bench, int partition) {
    const std::string side = std::to_string(partition);
    const std::vector<int> sms = bench.sms_of_partition(partition);
    const std::vector<int> far = half_of(sms, 0);
    const std::vector<int> near = half_of(sms, 1);
    for (const int n : {2, 4, 8}) record(bench, "far_half", side, sharing(far, kMissesInSide, n));
    for (const int n : {2, 4, 8}) record(bench, "near_half", side, {near, kNearOfHalf, n});
    for (const int n : {2, 4, 8, 12})
        for (const int m : {1, 2, 4, 8})
            record(bench, "far_and_near", side, sharing(far, kMissesInSide, n), {near, kNearOfHalf, m});
}

// Do replies over the fabric take the port that SMs are served by?
void record_other_side(const ProbeBench& bench, int partition) {
    const Readers other = sharing(bench.sms_of_partition(1 - partition), kMissesInOtherSide, 4);
    for (const int n : {4, 8})
        record(bench, "other_side", std::to_string(partition), other,
               {bench.sms_of_partition(partition), kNear, n});
}

// `count` of all SMs, evenly spread, that read 528 MiB between them.
Readers some_of(const std::vector<int>& all, int count, int in_flight) {
    Readers readers{{}, kStreamed * static_cast<std::int64_t>(all.size()) / count, in_flight};
    for (int i = 0; i < count; ++i)
        readers.sms.push_back(
            all[static_cast<std::size_t>(i) * all.size() / static_cast<std::size_t>(count)]);
    return readers;
}

// How long does DRAM take, the busier it is?
void record_streaming(const ProbeBench& bench, const std::vector<int>& all) {
    for (const int n : {1, 2, 3, 4, 6, 8, 12}) {
        record(bench, "streaming", "both", {all, kStreamed, n});
        record(bench, "streaming_rows", "both", {all, kStreamed, n}, {}, CopyWith::BoxesOfRows);
    }
    for (const int count : {1, 8, 33, 66}) {
        for (const int n : {1, 4}) {
            record(bench, "few", "both", some_of(all, count, n));
            record(bench, "few_rows", "both", some_of(all, count, n), {}, CopyWith::BoxesOfRows);
        }
    }
}

// Does a side wait for the fabric that reads more than the other one, all of it from DRAM?
void record_streaming_sides(const ProbeBench& bench, int partition) {
    const std::vector<int> side = bench.sms_of_partition(partition);
    const std::vector<int> other = bench.sms_of_partition(1 - partition);
    for (const std::size_t count : {std::size_t{0}, other.size() / 3, other.size() / 3 * 2, other.size()}) {
        std::vector<int> fewer;
        for (std::size_t i = 0; i < count; ++i) fewer.push_back(other[i * other.size() / count]);
        const auto all = static_cast<std::int64_t>(side.size() + other.size());
        const auto readers = static_cast<std::int64_t>(side.size() + count);
        const std::int64_t each = kStreamed * all / readers / kPage * kPage;
        for (const int n : {1, 2, 3, 4, 6, 8})
            record(bench, "streaming_sides", std::to_string(partition), {side, each, n}, {fewer, each, n},
                   CopyWith::BoxesOfRows);
    }
}

// Do hits wait behind what comes from DRAM? The near readers' own data are so few that they stay in the L2
// however slowly they are read.
void record_streaming_and_near(const ProbeBench& bench, const std::vector<int>& all) {
    const std::vector<int> streaming = half_of(all, 0);
    const auto near = [&](int n) { return Readers{half_of(all, 1), (n + 1) * kCopyBytes, n}; };
    for (const int n : {1, 2, 4, 8, 12}) record(bench, "streaming_half", "both", {streaming, kStreamed, n});
    for (const int m : {1, 2, 4, 8}) record(bench, "near_half", "both", near(m));
    for (const int n : {1, 2, 3, 4, 6, 8, 12})
        for (const int m : {1, 2, 4, 8})
            record(bench, "streaming_and_near", "both", {streaming, kStreamed, n}, near(m));
}

}  // namespace

int main(int count, char**) {
    try {
        if (count > 1) throw BadInput("l2lens_gpu_far takes no word");
        ProbeBench bench;
        if (!bench.has_clusters()) throw Unavailable("tensor boxes need compute capability 9.0 or newer");
        probe_sides(bench);
        std::printf(
            "set,side,readers,near_readers,in_flight,near_in_flight,bytes_per_ns,near_bytes_per_ns\n");
        for (const int partition : {0, 1}) {
            record_side(bench, partition);
            record_halves(bench, partition);
            record_other_side(bench, partition);
            record_streaming_sides(bench, partition);
        }
        std::vector<int> all;
        for (int sm = 0; sm < bench.sms(); ++sm) all.push_back(sm);
        record_streaming(bench, all);
        record_streaming_and_near(bench, all);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
