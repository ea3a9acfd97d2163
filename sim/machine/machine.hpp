// SPDX-License-Identifier: Apache-2.0
// A GPU as data. Filled from models/gpus/NAME.toml by load/machine_file.hpp; nothing below this folder knows
// a GPU by name. A field is named like its key in the file, followed by its unit: parameters.hpp holds the
// table of both.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace l2lens {

// How much a value can be trusted: read off the hardware, printed by the vendor, or deduced.
enum class Confidence { Measured, Documented, Inferred };

// One value of a machine file as its reader should see it (`gpu show`, reports, docs).
struct Parameter {
    std::string key;    // "latency.fabric_request"
    std::string value;  // as written: "45", "[12, 13, 15]"
    std::string unit;   // "ns", "" for counts
    std::string source;
    Confidence confidence = Confidence::Inferred;
    int line = 0;  // in the file
};

struct Sm {
    int gpc = 0;
    int cpc = 0;  // of its GPC: whose turn it is when a slice is full
    int partition = 0;
    int first_wave_position = 0;  // the launch id this SM gets at one CTA per SM, in the recorded launch
};

struct Machine {
    std::string name;             // "h200"
    std::string description;      // "NVIDIA H200 SXM, 141 GB"
    std::string chip;             // CUPTI's name of the chip ("GH100"), "" for none
    std::string file;             // where it was read from
    std::uint64_t file_hash = 0;  // xxHash64 of the file

    std::vector<Sm> sms;
    int gpcs = 0;
    int partitions = 0;
    int cpcs_per_gpc =
        0;  // groups of TPCs of a GPC: TPC i (SMs 2i and 2i+1 in id order) is in group i mod this

    struct SmLimits {
        std::int64_t shared_memory_bytes = 0;     // per SM, usable by CTAs
        std::int64_t shared_memory_per_cta = 0;   // most that one CTA may ask for
        std::int64_t shared_memory_reserved = 0;  // taken by the driver for each resident CTA
        int registers = 0;                        // 32-bit registers per SM
        int threads = 0;
        int ctas = 0;
        double tensor_flops_per_cycle_16bit = 0;  // dense fp16/bf16, per SM (a multiply-add is two)
        double tensor_flops_per_cycle_8bit = 0;   // dense fp8/int8; 0 when there is none
        double tensor_flops_per_cycle_tf32 = 0;
        std::int64_t l1_bytes = 0;     // data cache for plain loads; 0: none is modelled
        bool l1_holds_shared = false;  // shared memory is taken out of it
        // After which share of a step's math a warpgroup has handed all of it to the tensor cores.
        double mma_issue = 0;
    } sm;

    struct L2 {
        int slices_per_partition = 0;  // active ones
        std::int64_t slice_bytes = 0;
        int ways = 0;
        int dirty_ways = 0;             // of a set that are dirty: the oldest of so many is written back
        int incomplete_ways = 0;        // of those have sectors that were written in part. 0: all
        int tag_queue_requests = 0;     // waiting for a slice's tags; 0: no limit
        int lookup_queue_requests = 0;  // waiting behind its coalescer while the slice takes none
        int far_queue_requests = 0;     // likewise of lines whose home is another partition
        // Unanswered, or waiting in front of it first come, first served; the next ones wait by CPC.
        int input_queue_requests = 0;
        int queue_lines = 0;           // waiting at a slice's output; 0: no limit
        int gpc_queue_lines = 0;       // waiting for its ways into the GPCs; 0: no limit
        int far_lines = 0;             // on their way to a slice over the fabric; 0: no limit
        bool far_in_order = false;     // a load engine gets far lines in the order in which it asks a slice
        bool misses_in_order = false;  // a home fetches what is missing first come, first served
        bool replies_apart = false;  // what leaves for the other partition does not pass the SMs' output port
        int fetch_bytes = 0;         // a miss of a plain load fills this much around it: 32, 64 or 128
        int tensor_fetch_bytes =
            0;  // the same for loads through a tensor map (CU_TENSOR_MAP_L2_PROMOTION_...)
        // Each partition caches any address for its own SMs, as the dies of an MI300X do: no address has a
        // home among them.
        bool private_partitions = false;
        // The memory takes the bytes that were written of a sector; else what is missing of it is fetched
        // when it is written back.
        bool byte_masks = false;
    } l2;

    // A cache in front of the memory, behind all partitions (AMD's Infinity Cache). None: 0 bytes.
    struct LastLevel {
        std::int64_t bytes = 0;
        int ways = 0;
        double latency_ns = 0;  // from a miss in the L2 to its data
        double bytes_per_ns = 0;
    } last_level;

    struct Hash {
        // The home partition of an address is the parity of these physical address bits (one mask per bit of
        // the partition number: two partitions have one mask, eight have three, one has none).
        std::vector<std::uint64_t> home_masks;
        int interleave_bytes = 0;  // bytes that stay in one slice: at least a line
        // Where the hash was solved, down to the set (memory/solved_map.hpp); else empty. Masks over address
        // bits, but for the last ones.
        std::vector<std::uint64_t> slot_masks;  // their parities follow the home's in a line's number
        std::vector<std::uint64_t> row_bits;    // one bit each: which of a slot's lines in a row
        std::vector<std::uint64_t> set_masks;   // over bits of a line's place in its slice
        static constexpr int kRowBits = 3;      // a slot has eight lines in a row
        static constexpr int kSetMasks = 8;     // parities that replace a place's lowest bits
    } hash;

    struct Coalescer {
        bool present = false;
        int max_requesters = 0;  // per entry, the first one included
    } coalescer;

    struct Clock {
        double l2_ghz = 0;
        double sm_max_ghz = 0;
        // Under tensor load the SM clock falls with power: ghz = power_base - power_slope * (TFLOP/s / 1000)
        // - power_l2 * (TB/s between SMs and L2) - power_fabric * (TB/s between the partitions), at most
        // sm_max_ghz. A slope of 0 keeps the clock at sm_max_ghz.
        double power_base_ghz = 0;
        double power_slope_ghz = 0;  // per 1000 TFLOP/s of 16-bit dense math
        double power_l2_ghz = 0;     // per TB/s
        double power_fabric_ghz = 0;
        // Each GPC has a clock of its own: their standard deviation under load, as a share of the mean.
        double gpc_spread = 0;
        double gpc_settles_ms = 1e6;  // into a launch, when they become alike
    } clock;

    struct Latency {
        double load_issue_cycles = 0;  // SM cycles from a box's issue to its first line on the wire (TMA)
        double sm_to_slice_ns = 0;
        double slice_to_sm_ns = 0;
        double sm_spread_cycles = 0;     // fixed differences between SMs, uniform in [0, this)
        double slice_spread_cycles = 0;  // fixed differences between (SM, slice) pairs
        double release_cycles = 0;       // from a step's math to the loads into its stage
        double handshake_cycles = 0;     // and, warp-specialized, until the producer has heard of it
        // Within which the handshake is uniform, step by step.
        double handshake_jitter_cycles = 0;
        double poll_cycles = 0;        // from one look of a waiting producer to its next; 0: it hears at once
        double sm_to_sm_cycles = 0;    // a signal from one CTA of a cluster to another
        double hit_l2_cycles = 0;      // from the tag to the data of a resident line, L2 clocks
        double tag_ns = 0;             // from the tag lookup of a miss to its request leaving
        double fabric_request_ns = 0;  // to the home partition
        double fabric_reply_ns = 0;    // and back
        double dram_ns = 0;            // the constant part
        double dram_jitter_ns = 0;     // mean of the exponential part, per line, of an idle DRAM
        // When DRAM is busy for the share l of the time that mean is longer by
        // dram_queue * l * l / (1 - dram_load * l). It runs while a line stands in line at its slice's DRAM.
        double dram_queue_ns = 0;
        double dram_load = 0;
        double dram_spread_ns = 0;      // beyond it waits spread by the root of this * their mean; 0: never
        double dram_refresh_ns = 0;     // how long a refresh takes, for the rest of which its lines wait
        double dram_refresh_share = 0;  // of lines that find one under way
        int dram_refresh_groups = 1;    // of channels, whose refreshes end at other times
        double dram_backlog_ns = 0;     // how fast the wait for what has come meanwhile grows with the load
        double dram_pause_ns = 0;       // in which DRAM serves nobody
        double dram_pause_every_us = 0;
        double dram_write_ns = 0;  // of a line that is written back, to a DRAM that is wholly busy
        double dram_turn_ns = 0;   // in which a slice's DRAM writes, and reads wait
        int dram_turn_lines = 0;   // that are written back, as soon as it has so many
    } latency;

    struct Bandwidth {
        double issue_lines_per_cycle = 0;        // one SM's load engine, requests per SM cycle
        double store_lines_per_cycle = 0;        // out of one SM, stores per SM cycle; 0: as loads are issued
        double sm_lines_per_cycle = 0;           // into one SM, 128 B lines per SM cycle
        double gpc_bytes_per_ns = 0;             // into one GPC
        double gpc_way_bytes_per_ns = 0;         // from a slice into one GPC, in place of that; 0: no limit
        double answer_overhead_bytes = 0;        // of a way or a GPC's port, per answer
        double tag_requests_per_l2_cycle = 0;    // one slice
        double write_requests_per_l2_cycle = 0;  // one slice, whole-line writes
        double output_sectors_per_l2_cycle = 0;  // one slice, to SMs and to the fabric together
        double fabric_sectors_per_l2_cycle = 0;  // per slice and direction
        double dram_bytes_per_ns = 0;            // the whole device
    } bandwidth;

    struct Launch {
        double overhead_ns = 0;           // of a launch, before its first CTA and after its last one
        double cta_gap_ns = 0;            // an SM's slot is free -> the next CTA of a grid runs in it
        double cluster_gap_ns = 0;        // the same for a cluster, in addition
        double persistent_gap_ns = 0;     // a persistent CTA takes its next tile
        double persistent_jitter_ns = 0;  // uniform, on that
        double stagger_ns = 0;            // between launch-consecutive CTAs of the first wave
        double exit_jitter_ns = 0;        // uniform, on the end of a grid's CTA
        double exit_round_ns = 0;         // so often a grid's dispatcher hears of a GPC's exits; 0: of each
        double start_jitter_ns = 0;       // uniform, of the CTAs that follow in a GPC at once, on cta_gap_ns
        double interval_ns = 0;           // between starts on a GPC, of CTAs of a grid that follow others
        double end_fences = 0;            // of each SM that ran a CTA, as a launch ends (schedule/fences.hpp)
        bool rotates = false;             // each launch begins on another GPC (schedule/first_wave.hpp)
        bool round_robin = false;         // launch id mod partitions is the partition a CTA runs in
    } launch;

    std::vector<Parameter> parameters;  // in file order

    int slices() const { return partitions * l2.slices_per_partition; }
    std::uint32_t sets_per_slice() const {
        return static_cast<std::uint32_t>(l2.slice_bytes / kLineBytes / l2.ways);
    }
    std::int64_t partition_bytes() const { return l2.slices_per_partition * l2.slice_bytes; }
    std::int64_t l2_bytes() const { return partitions * partition_bytes(); }
};

}  // namespace l2lens
