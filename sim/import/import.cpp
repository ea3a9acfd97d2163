// SPDX-License-Identifier: Apache-2.0
#include "import/import.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/make_set.hpp"
#include "kernel/box_lines.hpp"
#include "kernel/residency.hpp"
#include "memory/event_wheel.hpp"
#include "memory/l1_cache.hpp"

#include "import/access_csv.hpp"
#include "import/coalesce.hpp"
#include "import/nvbit.hpp"

namespace l2lens {
namespace {

constexpr std::size_t kMostRequests = 100'000'000;
constexpr int kPageShift = 21;
constexpr int kSchedulers = 4;  // of an SM (CUDA C++ Programming Guide, compute capabilities 5.0 to 10.0)

// One request as the trace gives it: by its place in its CTA.
struct RawRequest {
    std::uint64_t address;
    std::uint32_t cta;
    std::uint32_t instruction;
    std::uint16_t warp;
    std::uint8_t bytes;
    Operation operation;
    Path path;
    bool reduce;  // of a write: the L2 adds it to what is there
};

struct Collected {
    std::vector<RawRequest> requests;
    std::vector<std::uint32_t> instructions;  // of the longest warp, by CTA
    std::vector<std::uint32_t> warps;         // by CTA
    std::uint64_t accesses = 0;
};

class Collector {
public:
    explicit Collector(const std::string& name) : name_(name) {}

    void operator()(const WarpAccess& access) {
        if (access.warp >= kMostWarps)
            fail(access, fmt::format("warp {}; a CTA has warps 0 to {}", access.warp, kMostWarps - 1));
        if (access.cta > all_.instructions.size() + kMostGap)
            fail(access,
                 fmt::format("CTA {} comes after {} CTAs; at most {} without an access may lie between",
                             access.cta, all_.instructions.size(), kMostGap));
        ++all_.accesses;
        if (access.cta >= all_.instructions.size()) {
            all_.instructions.resize(access.cta + 1, 0);
            all_.warps.resize(access.cta + 1, 0);
        }
        all_.instructions[access.cta] = std::max(all_.instructions[access.cta], access.instruction + 1);
        all_.warps[access.cta] = std::max(all_.warps[access.cta], access.warp + 1);
        runs_.clear();
        coalesce(access, runs_);
        for (const ByteRun& run : runs_) add(access, run);
    }

    Collected take() { return std::move(all_); }

private:
    static constexpr std::size_t kMostGap = 1 << 20;  // CTAs without an access in a row
    static constexpr std::uint32_t kMostWarps = 32;

    [[noreturn]] void fail(const WarpAccess& access, const std::string& what) const {
        throw BadInput(fmt::format("{}:{}: {}", name_, access.line, what));
    }

    void add(const WarpAccess& access, const ByteRun& run) {
        if (all_.requests.size() >= kMostRequests)
            fail(access, fmt::format("more than {} requests; trace fewer CTAs", kMostRequests));
        all_.requests.push_back({run.address, access.cta, access.instruction,
                                 static_cast<std::uint16_t>(access.warp), run.bytes, access.operation,
                                 access.path, access.adds});
    }

    const std::string& name_;
    Collected all_;
    std::vector<ByteRun> runs_;
};

// Where a CTA runs and from when.
struct Place {
    std::uint16_t sm = 0;
    Picoseconds start = 0;
};

// The SM cycles between two instructions of a warp when `warps` of them are resident.
double issue_interval(std::uint32_t warps) {
    constexpr double kDependent =
        4;  // cycles from an instruction to the next that needs its result (Volta and later)
    return std::max(kDependent, static_cast<double>(warps) / kSchedulers);
}

// Launch order onto places: the first wave by the machine's table, then whoever is free first; where the
// hardware deals CTAs to the partitions in turn, only places of theirs: of partitions that have SMs.
std::vector<Place> place_ctas(const Collected& all, const Machine& machine, int ctas_per_sm,
                              double interval_ps) {
    struct Free {
        Picoseconds time;
        int round;
        int position;
        std::uint16_t sm;
        bool operator>(const Free& other) const {
            return std::tie(time, round, position) > std::tie(other.time, other.round, other.position);
        }
    };
    using Queue = std::priority_queue<Free, std::vector<Free>, std::greater<>>;
    const bool dealt = machine.launch.round_robin;
    std::vector<Queue> queues(dealt ? static_cast<std::size_t>(machine.partitions) : 1);
    for (std::size_t sm = 0; sm < machine.sms.size(); ++sm) {
        for (int round = 0; round < ctas_per_sm; ++round) {
            const Sm& place = machine.sms[sm];
            queues[dealt ? static_cast<std::size_t>(place.partition) : 0].push(
                {0, round, place.first_wave_position, static_cast<std::uint16_t>(sm)});
        }
    }
    std::erase_if(queues, [](const Queue& queue) { return queue.empty(); });
    std::vector<Place> places;
    for (std::size_t cta = 0; cta < all.instructions.size(); ++cta) {
        Queue& queue = queues[cta % queues.size()];
        Free free = queue.top();
        queue.pop();
        places.push_back({free.sm, free.time});
        free.time += static_cast<Picoseconds>(all.instructions[cta] * interval_ps) +
                     from_ns(machine.launch.cta_gap_ns);
        queue.push(free);
    }
    return places;
}

// Pages of 2 MiB renumbered from 0 in the order of their addresses: what keeps each buffer's own layout.
class Pages {
public:
    explicit Pages(const std::vector<RawRequest>& requests) {
        for (const RawRequest& request : requests) {
            const std::uint64_t page = request.address >> kPageShift;
            if (pages_.empty() || pages_.back() != page) pages_.push_back(page);
        }
        make_set(pages_);
    }

    std::size_t count() const { return pages_.size(); }
    std::uint64_t moved(std::uint64_t address) const {
        const auto page = std::lower_bound(pages_.begin(), pages_.end(), address >> kPageShift);
        return static_cast<std::uint64_t>(page - pages_.begin()) << kPageShift |
               (address & ((std::uint64_t{1} << kPageShift) - 1));
    }

private:
    std::vector<std::uint64_t> pages_;
};

SectorMask mask_of(std::uint64_t address, std::uint8_t bytes) {
    const auto from = static_cast<std::uint32_t>(address % kLineBytes);
    return touched_sectors(from, from + bytes).touched;
}

// The launch's requests as its SMs issue them, then what their L1s let through.
class Timeline {
public:
    Timeline(const Collected& all, const Machine& machine, const ForeignLaunch& launch, int ctas_per_sm)
        : all_(all), machine_(machine), pages_(all.requests) {
        const double cycle_ps = 1000.0 / machine.clock.sm_max_ghz;
        const std::uint32_t warps = *std::max_element(all.warps.begin(), all.warps.end());
        interval_ps_ = issue_interval(warps * static_cast<std::uint32_t>(ctas_per_sm)) * cycle_ps;
        places_ = place_ctas(all, machine, ctas_per_sm, interval_ps_);
        const std::int64_t bytes = l1_bytes(launch.resources, ctas_per_sm, machine);
        if (bytes > 0) l1_.assign(machine.sms.size(), L1Cache(static_cast<double>(bytes) / kLineBytes));
    }

    std::size_t pages() const { return pages_.count(); }

    void run(ImportedTrace& trace) {
        std::vector<std::uint32_t> order(all_.requests.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return issued(all_.requests[a]) < issued(all_.requests[b]);
        });
        for (const std::uint32_t i : order) pass(all_.requests[i], trace);
    }

private:
    Picoseconds issued(const RawRequest& request) const {
        return places_[request.cta].start + static_cast<Picoseconds>(request.instruction * interval_ps_);
    }

    void pass(const RawRequest& request, ImportedTrace& trace) {
        const std::uint64_t address = pages_.moved(request.address);
        const std::uint16_t sm = places_[request.cta].sm;
        if (request.operation == Operation::Read && request.path == Path::Load && !l1_.empty()) {
            const SectorMask wanted = mask_of(address, request.bytes);
            const auto line = static_cast<LineNumber>(address >> kLineShift);
            const SectorMask found = l1_[sm].read(line, wanted, 0, true).sectors;
            trace.l1_sectors += static_cast<std::uint64_t>(__builtin_popcount(wanted));
            trace.l1_hits += static_cast<std::uint64_t>(__builtin_popcount(found));
            const auto missed = static_cast<SectorMask>(wanted & ~found);
            for (int sector = 0; sector < kSectorsPerLine;) {  // runs of the sectors that missed
                int end = sector;
                while (end < kSectorsPerLine && (missed >> end & 1) != 0) ++end;
                if (end > sector)
                    emit(request,
                         (std::uint64_t{line} << kLineShift) + static_cast<unsigned>(sector) * kSectorBytes,
                         static_cast<std::uint8_t>((end - sector) * kSectorBytes), sm, trace);
                sector = end + 1;
            }
            return;
        }
        emit(request, address, request.bytes, sm, trace);
    }

    void emit(const RawRequest& request, std::uint64_t address, std::uint8_t bytes, std::uint16_t sm,
              ImportedTrace& trace) const {
        LineRecord record;
        record.time = issued(request) + from_ns(machine_.latency.sm_to_slice_ns);
        record.window = record.time >> kBucketShift << kBucketShift;
        record.address = address;
        record.bytes = bytes;
        record.sm = sm;
        record.operation = request.operation;
        record.path = request.path;
        record.reduce = request.reduce;
        if (record.time >= kTraceTimeEnd) throw BadInput("the trace would run for more than 10 s");
        trace.sectors += static_cast<std::uint64_t>(__builtin_popcount(mask_of(address, bytes)));
        trace.requests.push_back(record);
    }

    const Collected& all_;
    const Machine& machine_;
    Pages pages_;
    double interval_ps_ = 0;
    std::vector<Place> places_;
    std::vector<L1Cache> l1_;
};

int resident_ctas(const ForeignLaunch& launch, const Machine& machine, const std::string& name, int asked) {
    if (asked > 0) return asked;
    if (launch.resources.threads == 0) return 1;
    const int ctas = ctas_per_sm(launch.resources, machine);
    if (ctas == 0) throw BadInput(name + ": " + why_no_cta_fits(launch.resources, machine));
    return ctas;
}

}  // namespace

ImportedTrace import_trace(std::istream& in, const std::string& name, ForeignFormat format,
                           const Machine& machine, int ctas_per_sm) {
    Collector collector(name);
    const AccessVisitor visit = [&](const WarpAccess& access) { collector(access); };
    ImportedTrace trace;
    trace.launch =
        format == ForeignFormat::Nvbit ? read_nvbit(in, name, visit) : read_access_csv(in, name, visit);
    const Collected all = collector.take();
    if (all.requests.empty()) throw BadInput(name + ": no access to global memory");
    trace.ctas = static_cast<std::uint32_t>(all.instructions.size());
    trace.ctas_per_sm = resident_ctas(trace.launch, machine, name, ctas_per_sm);
    trace.warp_accesses = all.accesses;
    Timeline timeline(all, machine, trace.launch, trace.ctas_per_sm);
    if (timeline.pages() > kTraceAddressEnd >> kPageShift)
        throw BadInput(name + ": its requests touch more than 512 GiB");
    timeline.run(trace);
    return trace;
}

}  // namespace l2lens
