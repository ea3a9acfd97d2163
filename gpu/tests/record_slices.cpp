// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_slices WHAT: which addresses share a slice, told by the fullest slice's counter.
//   strides   sectors of the fullest and the mean slice, rows of traces/h200/strides.csv (its README says
//             what the columns are)
//   pairs     of two lines whose addresses differ in one or two bits: do they share a slice?
//   members   which of the 256 B granules of a page share the slice of a given one
//   labels    which slice of its own side an SM asks for each 256 B granule
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"

#include "gpu/counters/counter_session.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/probe/bench.hpp"
#include "gpu/tests/read_items.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr std::uint64_t kPage = 2 << 20;
constexpr std::uint64_t kGranule = 256;
constexpr std::uint64_t kBufferBytes = 1 << 30;
constexpr std::uint64_t kLabelledBytes = std::uint64_t{1} << 36;

const std::vector<std::string> kMetrics{
    "lts__t_sectors.max",
    "lts__t_sectors.avg",
    "lts__t_sectors.min",
    "lts__t_sectors_srcunit_tex.max",
    "lts__t_sectors_srcunit_tex.avg",
    "lts__t_sectors_srcunit_tex.min",
};

// Where the SMs are; the probe's own counters are put away again.
struct Placement {
    int sms = 0;
    std::vector<int> one_of_each_gpc;  // of partition 0: their requests never merge
    std::array<int, 2> one_of_each_side{-1, -1};

    static Placement find() {
        ProbeBench bench;
        probe_limits(bench);
        probe_topology(bench);
        probe_home(bench);
        Placement found;
        found.sms = bench.sms();
        std::fprintf(stderr, "sm:gpc:partition");
        for (std::size_t g = 0; g < bench.gpcs.size(); ++g) {
            for (const int sm : bench.gpcs[g])
                std::fprintf(stderr, " %d:%zu:%d", sm, g,
                             bench.partition_of_sm[static_cast<std::size_t>(sm)]);
            const int first = bench.gpcs[g].front();
            found.one_of_each_side[static_cast<std::size_t>(
                bench.partition_of_sm[static_cast<std::size_t>(first)])] = first;
            if (bench.partition_of_sm[static_cast<std::size_t>(first)] == 0)
                found.one_of_each_gpc.push_back(first);
        }
        std::fprintf(stderr, "\n");
        return found;
    }
};

class Reader {
public:
    explicit Reader(std::vector<std::string> metrics, std::uint64_t bytes = kBufferBytes)
        : session_(std::move(metrics)), buffer_(bytes), items_(1 << 16) {
        buffer_.fill_bytes(0);
    }

    std::vector<double> count(const std::vector<ReadItem>& items, Share share, const DeviceRoles& roles) {
        check_cuda(
            cudaMemcpy(items_.get(), items.data(), items.size() * sizeof(ReadItem), cudaMemcpyHostToDevice),
            "copying items");
        const auto read = [&] {
            read_items(buffer_.get(), items_.get(), static_cast<int>(items.size()), share, roles);
        };
        return session_.measure(read, [] {});
    }

private:
    CounterSession session_;
    DeviceBuffer<char> buffer_;
    DeviceBuffer<ReadItem> items_;
};

void record_strides(const Placement& placement) {
    constexpr std::uint32_t kRounds = 64;
    Reader reader(kMetrics);
    const DeviceRoles everyone(Roles::all(placement.sms));
    std::printf("stride,count,base,rounds");
    for (const std::string& metric : kMetrics) std::printf(",%s", metric.c_str());
    std::printf("\n");
    std::vector<std::uint64_t> strides;
    for (std::uint64_t s = 128; s <= 1 << 20; s *= 2) {
        for (const std::uint64_t stride : {s, s * 3 / 2, s + 128, s * 5 / 4}) {
            if (stride % 32 == 0 && (strides.empty() || strides.back() != stride)) strides.push_back(stride);
        }
    }
    for (const std::uint64_t stride : strides) {
        for (const std::uint64_t count : {256u, 1024u, 4096u, 16384u}) {
            if (stride * count > kBufferBytes) continue;
            for (const std::uint64_t base : {std::uint64_t{0}, 37 * kPage}) {
                if (base + stride * count > kBufferBytes) continue;
                std::vector<ReadItem> items;
                for (std::uint64_t i = 0; i < count; ++i) items.push_back({base + i * stride, kRounds});
                std::printf("%llu,%llu,%llu,%u", static_cast<unsigned long long>(stride),
                            static_cast<unsigned long long>(count), static_cast<unsigned long long>(base),
                            kRounds);
                for (const double value : reader.count(items, Share::Split, everyone))
                    std::printf(",%.2f", value);
                std::printf("\n");
            }
        }
    }
}

void record_pairs(const Placement& placement) {
    constexpr std::uint32_t kLoads = 400;
    constexpr int kPlaces = 12;
    Reader reader({"lts__t_sectors_srcunit_tex.max"});
    const DeviceRoles readers(Roles::of(placement.one_of_each_gpc, placement.sms));
    const double one = kLoads * static_cast<double>(readers.participants());
    RandomStream random(1, 0);
    std::printf("first_bit,second_bit,pairs,in_one_slice\n");
    for (int high = 7; high <= 20; ++high) {
        for (int low = 7; low <= high; ++low) {
            const std::uint64_t difference = std::uint64_t{1} << high | std::uint64_t{1} << low;
            int together = 0;
            for (int i = 0; i < kPlaces; ++i) {
                const std::uint64_t place =
                    random.below(64) * kPage + random.below(kPage / kGranule) * kGranule;
                const std::vector<double> c =
                    reader.count({{place, kLoads}, {place ^ difference, kLoads}}, Share::Each, readers);
                together += c[0] > 1.5 * one;
            }
            std::printf("%d,%d,%d,%d\n", high, low, kPlaces, together);
        }
    }
}

// Each granule of a group is read as often as its place in the group says, the reference more often than all
// of them: the fullest slice's count then names the ones in it.
void record_members(const Placement& placement) {
    constexpr int kGroup = 8;
    constexpr std::uint32_t kUnit = 16;
    constexpr std::uint32_t kReference = kUnit << kGroup;
    Reader reader({"lts__t_sectors_srcunit_tex.max"});
    const DeviceRoles readers(Roles::of(placement.one_of_each_gpc, placement.sms));
    std::printf("page,reference,members\n");
    for (const auto& [page, reference] :
         std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 0}, {0, 1}, {0, 4097}, {5, 0}}) {
        const std::uint64_t from = page * kPage;
        std::printf("%llu,%llu,", static_cast<unsigned long long>(page),
                    static_cast<unsigned long long>(reference));
        for (std::uint64_t first = 0; first < kPage / kGranule; first += kGroup) {
            std::vector<ReadItem> items{{from + reference * kGranule, kReference / 2},
                                        {from + reference * kGranule + 128, kReference / 2}};
            for (std::uint64_t i = 0; i < kGroup; ++i) {
                // The reference itself is in its own slice: its other sector counts as any other's.
                items.push_back({from + (first + i) * kGranule + 64, kUnit << i});
            }
            const double sectors = reader.count(items, Share::Each, readers)[0] / readers.participants();
            const int members = static_cast<int>(std::lround((sectors - kReference) / kUnit));
            std::printf("%02x", members);
        }
        std::printf("\n");
        std::fflush(stdout);
    }
}

// The slices that one SM asks, numbered in the order in which they were met. One line of each slice is
// known; all of them are read, each so many times that the fullest slice's count says which of them shares
// the slice of the granule in question, which is read more often than any of them.
class SliceNumbers {
public:
    SliceNumbers(Reader& reader, const DeviceRoles& sm) : reader_(reader), sm_(sm) {}

    std::size_t of(std::uint64_t offset) {
        constexpr std::uint32_t kUnit = 128;  // far more than the slices' other requests, some 35 at most
        constexpr std::uint32_t kMost = 64;   // in units, how often the granule is read
        if (known_.size() + 2 >= kMost) throw Unavailable("a side has more slices than can be told apart");
        std::vector<ReadItem> items{{offset, kUnit * kMost}};
        for (std::size_t slice = 0; slice < known_.size(); ++slice) {
            // Of a granule whose first line is known, the other: the same sector could come merged.
            const std::uint64_t at = known_[slice] ^ (known_[slice] == offset ? 128 : 0);
            items.push_back({at, static_cast<std::uint32_t>(slice + 2) * kUnit});
        }
        const long more =
            std::lround(reader_.count(items, Share::Each, sm_)[0] / kUnit) - static_cast<long>(kMost);
        if (more < 2) {
            known_.push_back(offset);
            return known_.size() - 1;
        }
        return static_cast<std::size_t>(more - 2);
    }

private:
    Reader& reader_;
    const DeviceRoles& sm_;
    std::vector<std::uint64_t> known_;
};

// The granules that record_labels() asks about.
std::vector<std::uint64_t> chosen_granules() {
    constexpr std::uint64_t kInPage = kPage / kGranule;
    constexpr std::uint64_t kNearPages = 512;
    RandomStream random(1, 0);
    std::vector<std::uint64_t> chosen;
    for (std::uint64_t granule = 0; granule < kInPage; ++granule) chosen.push_back(granule);
    const auto some_of = [&](std::uint64_t page, int granules) {
        for (int i = 0; i < granules; ++i) chosen.push_back(page * kInPage + random.below(kInPage));
    };
    for (std::uint64_t page = 1; page <= 64; ++page) some_of(page, 16);
    for (int i = 0; i < 1000; ++i) some_of(random.below(kNearPages), 1);
    constexpr std::uint32_t kPages = kLabelledBytes / kPage;
    for (int i = 0; i < 60; ++i) some_of(random.below(kPages), 20);
    return chosen;
}

void record_labels(const Placement& placement) {
    constexpr std::size_t kOfOtherSide = 512;
    Reader reader({"lts__t_sectors_srcunit_tex.max"}, kLabelledBytes);
    std::vector<std::uint64_t> chosen = chosen_granules();
    std::printf("side,granule,slice\n");
    for (const std::size_t side : {0u, 1u}) {
        const DeviceRoles sm(Roles::of({placement.one_of_each_side.at(side)}, placement.sms));
        SliceNumbers numbers(reader, sm);
        for (const std::uint64_t granule : chosen)
            std::printf("%zu,%llu,%zu\n", side, static_cast<unsigned long long>(granule),
                        numbers.of(granule * kGranule));
        std::fflush(stdout);
        chosen.resize(kOfOtherSide);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string what = argc == 2 ? argv[1] : "";
        const Placement placement = Placement::find();
        if (what == "strides")
            record_strides(placement);
        else if (what == "pairs")
            record_pairs(placement);
        else if (what == "members")
            record_members(placement);
        else if (what == "labels")
            record_labels(placement);
        else
            throw BadInput("l2lens_gpu_slices: give one of strides, pairs, members, labels");
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
