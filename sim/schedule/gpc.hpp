// SPDX-License-Identifier: Apache-2.0
// One GPC: its SMs, the CTAs on them and, unless each slice's way into it is what limits (bandwidth.gpc_way),
// the port through which all their data comes. GPCs meet only in the L2 and in the dispatcher, so they run in
// parallel.
//
// A CTA is a loop of steps over a ring of S stages. Step k waits until all lines of its boxes have landed,
// then computes.
// Multistage (Triton's software pipeline): S-1 steps are loaded at the start; the loads of step k+S-1 leave
// when step k is issued and the math of step k-1 has retired. A loop that waits for its math (eight warps of
// Triton's) issues a step when the one before has retired, and its loads leave then.
// Warp-specialized: S steps are loaded at the start; a producer warp refills step k's stage when step k+1 is
// issued and the math of step k has retired, since the consumers wait for all but their last MMAs before they
// free a stage, as CUTLASS's do. A step without math frees it when its data have landed. The refill leaves
// when the producer has heard of it, for which it looks now and then. Math of one CTA runs in order, two
// steps deep (wgmma is asynchronous); the CTAs of an SM share its tensor cores. A step counts as issued, to
// what follows it, when its MMAs are with the tensor cores (Machine::sm.mma_issue). A persistent CTA whose
// epilogue overlaps loads on into its next tile: a static one knows it, a dynamic one draws it when all of
// its tile is loaded. A step that only stores takes no stage of a producer's. When things happen is in
// gpc.cpp, what is sent then in gpc_boxes.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "machine/machine.hpp"
#include "memory/event_wheel.hpp"
#include "memory/l1_cache.hpp"
#include "memory/messages.hpp"
#include "schedule/exit_reports.hpp"
#include "schedule/load_engine.hpp"
#include "schedule/mode.hpp"
#include "schedule/pace.hpp"
#include "schedule/program_cursor.hpp"
#include "schedule/recorded_paces.hpp"
#include "schedule/request_sink.hpp"
#include "schedule/tensor_cores.hpp"
#include "schedule/wire.hpp"
#include "schedule/work.hpp"

namespace l2lens {

// Where a CTA stands in its cluster. The CTAs of a cluster are on consecutive SMs of the GPC, in rank order.
struct ClusterPlace {
    std::uint8_t rank = 0;      // row * columns + column
    std::uint32_t members = 1;  // bit r: rank r exists (a cluster at the grid's edge has fewer)

    bool is_first() const { return (members & ((1u << rank) - 1)) == 0; }
};

// Does a CTA of a cluster with so many columns receive what that of rank `loader` loads for `axis` (0: rows,
// 1: columns)?
inline bool receives(int rank, int loader, int axis, int columns) {
    return axis == 0 ? rank % columns == loader % columns : rank / columns == loader / columns;
}

// A CTA that has left its slot.
struct Exit {
    Picoseconds time;
    Picoseconds finished;  // not before `time`: the end of its epilogue
    std::int32_t slot;     // global slot number: SM * CTAs per SM + slot
    std::int32_t tile;
};

// A persistent CTA that has loaded its tile and is free to load the next one: its cluster's first CTA says
// so.
struct Draw {
    Picoseconds time;
    std::int32_t slot;  // global
};

// What the SMs asked for, over all lanes; the lanes know only the simulated share.
struct Demand {
    std::uint64_t load_sectors = 0;
    std::uint64_t store_sectors = 0;
    std::uint64_t l1_sectors = 0;  // of plain loads, of the simulated lanes only
    std::uint64_t l1_hits = 0;
    double flops = 0;  // math retired

    Demand& operator+=(const Demand& other);
};

class Gpc {
public:
    Gpc(const Machine& machine, const Work& work, Mode mode, int number, int ctas_per_sm, int lanes,
        std::uint64_t seed);

    // Starts a CTA at `time`, in or after the next window, or the next tile of a persistent one; `next` is
    // the one after it, as far as that is known (-1).
    void start(Picoseconds time, std::int32_t slot, std::int32_t tile, std::int32_t next,
               ClusterPlace cluster);
    // The tile that follows in the slot was drawn at `time`: a prologue later its loads may leave.
    void announce(Picoseconds time, std::int32_t slot, std::int32_t tile);
    void receive(const Answer& answer);
    void run_until(Picoseconds end);
    bool idle() const { return wheel_.empty(); }

    // From `now` on cycles last this long in the mean over the GPCs (the clock follows power).
    void set_cycle(double picoseconds, Picoseconds now) {
        cycle_ = picoseconds * clocks_.cycle(static_cast<std::size_t>(number_), now);
    }
    // In picoseconds, of this GPC.
    double cycle() const { return cycle_; }

    // What it asked of each lane since it was last asked: handed over for as many empty lists.
    void swap_requests(std::vector<std::vector<Request>>& empty) { requests_.swap(empty); }
    std::vector<Exit>& exits() { return exits_; }
    std::vector<Draw>& draws() { return draws_; }
    const Demand& demand() const { return demand_; }

    // From now on its CTAs ask for no step sooner than those of a recorded launch.
    void keep(const RecordedPaces& paces) { recorded_ = &paces; }

    // From now on keeps a list of the boxes it issues, for a RequestSink.
    void observe() { observed_ = true; }
    std::vector<BoxIssue>& issued() { return issued_; }

private:
    enum class Kind : std::uint8_t { Answer, Begin, Announce, Load, StageReady, Release, MathDone, Exit };

    struct Action {
        Kind kind;
        // Of an answer.
        std::uint8_t sectors;
        std::uint8_t requesters;
        std::array<std::uint16_t, kMaxRequesters> landing;
        union {
            std::uint32_t late;  // of an answer
            std::int32_t slot;   // of the rest
        };
    };
    static_assert(sizeof(Action) == 24);

    struct Stage {
        std::int32_t missing = 0;    // lines that have not landed
        std::int32_t in_sample = 0;  // lines of its boxes
        float requests = 0;          // lines that the L1 has not, the ones that are not simulated included
        float weight = 1;            // lines that a simulated line of this stage stands for
        Picoseconds turn = 0;        // of one simulated whole line at the GPC's port
        double in_sm = 0;            // cycles of one at the SM's port
        Picoseconds free_from = 0;   // for the loads of its next step
        Picoseconds sent = 0;        // its loads have left the SM
        Picoseconds ready = 0;
        bool passed = false;  // a step that takes none of the kernel's stages
    };

    // What became of boxes with lines in the sample: those of the others fare alike. Of an SM's last step,
    // not of a mean, since CTAs whose boxes all took the same would keep together that part.
    struct Sampled {
        std::vector<Picoseconds> latency;  // per SM: from a step's last load to its last line
        double l1_lines = 0;               // that plain loads looked up in the L1
        double l1_passed = 0;              // and that it passed on

        void took(int sm, Picoseconds time) { latency[static_cast<std::size_t>(sm)] = time; }
        void met(int lines, int passed) {
            l1_lines += lines;
            l1_passed += passed;
        }
        double passed() const { return l1_lines > 0 ? l1_passed / l1_lines : 1; }
    };

    // A persistent CTA that loads across tiles keeps counting steps from one to the next.
    struct Slot {
        bool resident = false;
        TileChain tiles;
        std::int32_t announced = -1;  // the next tile, whose loads may leave from `announced_at` on
        Picoseconds announced_at = 0;
        MathWait math_wait;
        double pace = 1;             // what its math takes of the mean
        std::int64_t steps = 0;      // up to the tile's end
        std::int64_t loadable = 0;   // up to the next one's
        std::int64_t permitted = 0;  // steps for which there is a stage
        ProgramCursor load;          // next step to load
        ProgramCursor math;          // next step to issue
        ProgramCursor done;          // next step to retire
        bool waiting = false;        // for a stage
        ClusterPlace cluster;
        // Lines of boxes none of which is simulated: the next simulated ones take their turns at the port.
        float uncharged = 0;
        // The thread that asks has time for the next step's boxes from here on; -1: it has not asked yet.
        Picoseconds asks_from = -1;
        bool asks_later = false;      // an event for them is on its way
        int loads_due = 0;            // steps whose stage is free here but not yet in the whole cluster
        std::int64_t to_release = 0;  // next step whose successor may go on
        std::int64_t released = 0;    // steps whose successors have been told so
        ProgramCursor refill;         // warp-specialized: next step whose stage is to be freed
        Picoseconds issued = 0;       // when the last issued step was with the tensor cores
        Picoseconds last_done = 0;
        std::array<Stage, kMaxStages> stages;
    };

    struct SmState {
        LoadEngine engine;
        Picoseconds port_free = 0;
        bool math_busy = false;
    };

    void push(Picoseconds time, Kind kind, std::int32_t slot);
    void on_answer(Picoseconds now, const Action& answer);
    void land(std::int32_t slot, int ring, int sectors, Picoseconds settled);
    void begin(Picoseconds now, std::int32_t slot);
    void on_announced(Picoseconds now, std::int32_t index);
    void draw_if_due(Picoseconds now, std::int32_t index);
    void try_issue(Picoseconds now, std::int32_t index);
    void release_if_due(Picoseconds now, std::int32_t index);
    void on_release(Picoseconds now, std::int32_t index);
    void refill(Picoseconds now, std::int32_t index);
    void start_math(Picoseconds now, int sm);
    void on_math_done(Picoseconds now, std::int32_t index);
    void retire(Picoseconds now, std::int32_t index);
    void permit_load(Picoseconds now, Picoseconds free_from, std::int32_t index);
    void load_more(Picoseconds now, std::int32_t index);
    void want_loads(Picoseconds now, std::int32_t index);
    void open_stage(Picoseconds now, std::int32_t index);
    void issue_loads(Picoseconds now, std::int32_t index);
    void close_stage(Picoseconds now, std::int32_t index);
    void pass_stores(Picoseconds now, std::int32_t index);
    void weigh(Stage& stage, float weight) const;
    Picoseconds port_turn(float weight, int sectors) const;
    Picoseconds issue_stores(Picoseconds now, Picoseconds at, std::int32_t index, const Work::Phase& phase,
                             std::int64_t k);
    std::int32_t send(Picoseconds& start, int sm, std::int32_t walk, std::int64_t k, Request prototype);
    SectorMask take_from_l1(const PlacedLine& line, L1Cache& l1, const BoxWalk& box, Request& request);

    const Work::Phase& phase_of(const ProgramCursor& cursor) const {
        return work_.program(cursor.tile)[cursor.phase];
    }
    bool wants_more_loads(const Slot& s) const {
        return s.load.step + s.loads_due < std::min(s.permitted, s.loadable);
    }
    // For a step beside those that have their stages.
    static bool has_room(const Slot& s) {
        return std::max(s.permitted, s.load.step) - s.done.step + 1 < kMaxStages;
    }
    Picoseconds cycles(double n) const { return static_cast<Picoseconds>(n * cycle_); }
    // From a step's math to the loads of a later one.
    Picoseconds release() {
        const double jitter = kernel_.release_jitter_cycles;
        return cycles(machine_.latency.release_cycles + kernel_.release_cycles +
                      (jitter > 0 ? jitter * (of_releases_.uniform() - 0.5) : 0));
    }
    // And until the producer of a warp-specialized kernel has heard of the free stage.
    Picoseconds handshake() {
        const Machine::Latency& latency = machine_.latency;
        return cycles(latency.handshake_cycles + latency.handshake_jitter_cycles * (random_.uniform() - 0.5));
    }
    // From one look of a waiting producer to its next; 0: nobody waits so.
    Picoseconds poll() const {
        return kernel_.pipeline == Pipeline::WarpSpecialized ? cycles(machine_.latency.poll_cycles) : 0;
    }
    int sm_of(std::int32_t slot) const { return slot / ctas_per_sm_; }
    std::int32_t local_slot(std::int32_t global) const {
        return local_sm_[static_cast<std::size_t>(global / ctas_per_sm_)] * ctas_per_sm_ +
               global % ctas_per_sm_;
    }
    std::int32_t global_slot(std::int32_t local) const {
        return sms_[static_cast<std::size_t>(sm_of(local))] * ctas_per_sm_ + local % ctas_per_sm_;
    }
    // Calls body(slot) for the CTAs of index's cluster, itself included.
    template <class Body>
    void for_each_member(std::int32_t index, Body&& body);
    // The same for those that receive what it loads for `axis` (0: rows, 1: columns).
    template <class Body>
    void for_each_receiver(std::int32_t index, int axis, Body&& body);
    // The steps of a slot go round all places, however many stages the kernel has: some take none.
    static std::int32_t ring_of(std::int64_t step) { return static_cast<std::int32_t>(step % kMaxStages); }
    static Stage& stage_of(Slot& s, std::int64_t step) {
        return s.stages[static_cast<std::size_t>(ring_of(step))];
    }
    Slot& slot(std::int32_t index) { return slots_[static_cast<std::size_t>(index)]; }

    const Machine& machine_;
    const Work& work_;
    const Kernel& kernel_;
    const int number_;
    GpcClocks clocks_;
    const TilePaces paces_;
    const ExitReports exit_reports_;
    const int ctas_per_sm_;
    double cycle_ = 1000;
    double math_rate_ = 1;                // flops per SM cycle
    double mma_issue_per_flop_ = 0;       // SM cycles for which a warpgroup hands its MMAs over
    Picoseconds port_free_ = 0;           // of the port
    std::vector<int> sms_;                // SM ids
    std::vector<std::int32_t> local_sm_;  // SM id -> place in sms_
    std::vector<SmState> sm_state_;
    std::vector<Slot> slots_;
    std::vector<Picoseconds> epilogue_until_;  // per slot: the last tile's epilogue, if it overlaps
    std::vector<SmWire> wires_;                // per SM
    std::vector<L1Cache> l1_;                  // per SM, when plain loads go through one
    Picoseconds l1_ready_ = 0;                 // the last hit's data in the box that was sent last
    EventWheel<Action> wheel_;
    std::vector<std::vector<Request>> requests_;  // per lane
    std::vector<Exit> exits_;
    std::vector<Draw> draws_;
    const RecordedPaces* recorded_ = nullptr;
    bool observed_ = false;
    std::vector<BoxIssue> issued_;
    Sampled sampled_;
    RandomStream random_;
    RandomStream of_releases_;  // apart, so that they are the same in a replay, which draws no exits
    Demand demand_;
};

template <class Body>
void Gpc::for_each_member(std::int32_t index, Body&& body) {
    const ClusterPlace place = slot(index).cluster;
    const std::int32_t first = index - place.rank * ctas_per_sm_;
    for (int rank = 0; place.members >> rank != 0; ++rank) {
        if ((place.members >> rank & 1u) != 0) body(first + rank * ctas_per_sm_);
    }
}

template <class Body>
void Gpc::for_each_receiver(std::int32_t index, int axis, Body&& body) {
    const int loader = slot(index).cluster.rank;
    for_each_member(index, [&](std::int32_t member) {
        if (receives(slot(member).cluster.rank, loader, axis, kernel_.cluster[1])) body(member);
    });
}

}  // namespace l2lens
