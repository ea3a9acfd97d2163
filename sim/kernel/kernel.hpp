// SPDX-License-Identifier: Apache-2.0
// What a CTA reads, computes and writes. A kernel file (models/kernels/NAME.lua, load/kernel_file.hpp) yields
// a Kernel; its programs are affine and stay compressed: a phase of `count` steps whose boxes move by a fixed
// stride.
//
//   Kernel ─ tensors
//          ├ grid: up to four axes of tiles
//          └ one Program per tile ─ phases ─ loads and stores (BoxWalk) + math
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace l2lens {

// Tiles of a kernel's grid, and so launches of an order, at most.
inline constexpr std::int64_t kMostTiles = std::int64_t{1} << 24;

inline constexpr int kMaxRank = 5;  // a TMA descriptor's limit

inline constexpr int kMaxStages =
    16;  // of a pipeline: a landing in the model numbers slot and stage in 14 bits

using Index = std::array<std::int64_t, kMaxRank>;

// Dimensions are slowest first, as a C array's: shape {rows, columns}; the last one is contiguous.
struct Tensor {
    std::string name;
    int rank = 0;
    Index shape{};         // elements
    Index stride_bytes{};  // stride_bytes[rank-1] == element_bytes
    int element_bytes = 0;
    std::uint64_t base = 0;  // byte address, given by layout_tensors(): 2 MiB aligned, tensors in order
    int alias_of = -1;       // the tensor whose memory this is, seen in another shape; -1: has its own

    std::int64_t bytes() const;  // from the first to past the last element
};

enum class Path : std::uint8_t {
    Tma,      // bulk tensor copy: no L1, tensor-map promotion
    CpAsync,  // LDGSTS.BYPASS: no L1
    Load,     // through L1
};

// What an access tells the caches (PTX ld and st: .L2::evict_first, .L2::evict_last, .L1::no_allocate).
enum class CacheHint : std::uint8_t {
    None,
    EvictFirst,  // in the L2 before any line without a hint
    EvictLast,   // in the L2 after any line without a hint
    NoAllocate,  // takes no place in the L1
};

// A box that moves by `step` each time its phase advances. Clipped to its tensor as TMA does: what lies
// outside is not requested.
struct BoxWalk {
    int tensor = 0;
    Path path = Path::Tma;
    CacheHint hint = CacheHint::None;
    bool reduce = false;     // of a store: added to what is there, in the L2 (red), which needs the old value
    int multicast = 1;       // CTAs of the cluster that receive one request's data
    int multicast_axis = 0;  // the ordered axis along which they differ: 0 rows, 1 columns
    Index start{};           // element coordinates at the phase's first step
    Index step{};            // added per step
    Index extent{};          // elements, before clipping

    friend bool operator==(const BoxWalk&, const BoxWalk&) = default;
};

// Bytes that `steps` steps of a walk move: what lies in its tensor.
double walk_bytes(const Tensor& tensor, const BoxWalk& walk, std::int64_t steps);
// How many of its boxes hold nothing of the tensor.
std::int64_t boxes_outside(const Tensor& tensor, const BoxWalk& walk, std::int64_t steps);

struct Phase {
    std::int64_t count = 0;       // steps
    double math_flops = 0;        // tensor-core work per step, of the kernel's `math`
    double math_cycles = 0;       // SM cycles per step in addition
    std::vector<BoxWalk> loads;   // in issue order
    std::vector<BoxWalk> stores;  // issued when the step's math has retired
};

struct Program {
    std::vector<Phase> phases;
};

// When the loads of step k+stages-1 are issued.
enum class Pipeline : std::uint8_t {
    Multistage,       // when the math of step k-1 has retired, as Triton does
    WarpSpecialized,  // as soon as a stage is free
};

enum class MathType : std::uint8_t { Bits16, Bits8, Tf32 };

// What one CTA takes of an SM; decides how many run on it.
struct Resources {
    std::int64_t shared_memory_bytes = 0;
    int registers_per_thread = 0;
    int threads = 0;
};

struct Kernel {
    std::string name;
    std::vector<std::pair<std::string, std::string>> params;  // resolved, in declaration order
    std::string title;  // "gemm 8192x8192x8192 bf16 tn, tile 128x128x64, 4 stages"
    std::vector<Tensor> tensors;

    // The tile grid, slowest axis first. The last two axes are the ones a 2-D order walks (rows, columns);
    // the ones before them are outer loops.
    std::vector<std::string> axes;   // "m", "n"
    std::vector<std::int64_t> grid;  // tiles per axis, same length

    std::vector<Program> programs;  // one per tile, row-major over `grid`

    Resources resources;
    Pipeline pipeline = Pipeline::Multistage;
    MathType math = MathType::Bits16;
    int stages = 1;
    std::array<int, 2> cluster{1, 1};  // CTAs of a cluster along the two ordered axes
    double prologue_ns = 0;            // CTA start -> first load
    double prologue_jitter_ns = 0;     // up to so much longer, uniform, anew for each CTA
    double epilogue_ns = 0;  // last math -> exit, or longer: the stores begin half-way, and have left by then
    double epilogue_jitter_ns = 0;  // standard deviation of that among tiles
    // Loads go on into the SM's next tile as stages become free, whose math waits for the epilogue:
    // persistent loops that prefetch across tiles.
    bool epilogue_overlaps = false;
    double next_tile_ns = 0;  // there: until a producer knows its next tile, from its last load of this one
    // There: what of a tile's stores waits in buffers of its own while the next tile's math goes on.
    std::int64_t store_buffer_bytes = 0;
    double release_cycles = 0;         // of a step's loop, beyond the machine's latency.release
    double release_jitter_cycles = 0;  // within which that is uniform, anew for each step
    double load_interval_cycles = 0;   // from a step's loads to a CTA's next ones, at least
    // Each step waits for the math of the one before, and can begin that long after its end; 0: a step is
    // issued while the one before computes.
    double step_gap_cycles = 0;
    double math_jitter_cycles = 0;  // uniform, per step
    // Standard deviation of the paces of CTAs that do the same, as a share of the mean: what a step's math
    // takes is multiplied by its CTA's pace.
    double pace_spread = 0;

    // Fences of GPU scope, as an acquiring or releasing atomic has them: they are counted as lookups.
    double fences_per_tile = 0;
    double fences_per_cta = 0;  // of a persistent launch's CTAs, too

    // Launches that follow in the same stream, in turn: what they find in the L2 is what the ones before left
    // there. They have the same tensors.
    std::vector<Kernel> then;

    bool waits_for_math() const { return step_gap_cycles > 0; }
    int ctas_of_cluster() const { return cluster[0] * cluster[1]; }
    std::int64_t tiles() const;
    std::int64_t tile_rows() const { return grid[grid.size() - 2]; }
    std::int64_t tile_columns() const { return grid[grid.size() - 1]; }
    std::int64_t outer_tiles() const;  // product of the axes before the last two
    double flops() const;              // tensor-core work of the whole launch
    bool has_tensor_math() const;      // does any step of it load the tensor cores?
};

// Places the tensors one after another from address 0, each on a 2 MiB boundary (what cudaMalloc gives large
// buffers), up to 30 MiB behind the end of the one before it, as an allocator may that has served others.
// Where those of recorded launches lay is not known. It hardly matters, on an H200 as in the model
// (traces/h200/places.csv). Throws BadInput beyond the 512 GiB that line numbers reach.
void layout_tensors(Kernel& kernel);

// Lets `next` and what follows it run after `kernel`. A tensor of `next` that has the name and the bytes of
// one of `kernel` is the same memory. Tensors are placed anew.
void append_launches(Kernel& kernel, Kernel next);

// The launches of a kernel in turn, itself first.
std::vector<const Kernel*> launches_of(const Kernel& kernel);

}  // namespace l2lens
