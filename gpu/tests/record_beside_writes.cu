// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_beside_writes: how long boxes from DRAM take that SMs ask for at a given pace while other SMs
// write, in order, memory of their own. Most readers ask for boxes of 128 rows, a few for boxes of one row: a
// line. These get two rows of CSV, which column `reads` tells apart; sms and bytes_per_ns are of all readers
// together, and write_bytes_per_ns is what the writers are to write together. Rows of
// traces/*/beside_writes.csv.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include <cuda.h>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/probe/bench.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/paced_boxes.cuh"
#include "gpu/tests/recorder.hpp"
#include "gpu/tests/row_boxes.cuh"

using namespace l2lens;
using namespace l2lens::gpu;
using namespace l2lens::gpu::paced_boxes;
using namespace l2lens::gpu::row_boxes;

namespace {

constexpr int kLineReaders = 8;  // of many readers
constexpr int kMostWriters = 32;

constexpr int kThreads = 64;
constexpr int kStores = 4;  // of a thread, of 16 B each
constexpr int kStoredBytes = kThreads * static_cast<int>(sizeof(uint4));
constexpr int kPieceBytes = kStores * kStoredBytes;

// Of all writers: more than they write in the longest run, beside readers that get 500 B/ns.
constexpr std::int64_t kWrittenBytes = kMostWriters * (std::int64_t{108} << 20);

struct Job {
    CUtensorMap boxes, lines;
    const int* roles;  // the readers', then the writers'
    Pacing pacing;
    int line_readers;  // the first of the readers
    int writers;
    int write_period;           // SM cycles from one piece to the next
    std::int64_t writer_bytes;  // of memory for each writer
    char* written;
    Meeting* meeting;
};

// Until the last boxes are due.
__device__ void write_pieces(const Job& job, int writer, long long begin) {
    char* const to = job.written + writer * job.writer_bytes;
    const long long end = begin + static_cast<long long>(kBoxes) * job.pacing.period;
    long long due = begin;
    for (std::int64_t at = 0; at < job.writer_bytes && due <= end; at += kPieceBytes) {
        while (clock64() < due) {
        }
        // Two odd factors, so that no two lines are alike.
        const unsigned piece = static_cast<unsigned>(at) * 2654435761u;
        const unsigned thread = threadIdx.x * 40503u;
        for (unsigned i = 0; i < kStores; ++i)
            reinterpret_cast<uint4*>(to + at + i * kStoredBytes)[threadIdx.x] =
                make_uint4(piece, thread, static_cast<unsigned>(due), i);
        due += job.write_period;
    }
}

__global__ void beside_writes_kernel(const __grid_constant__ Job job) {
    extern __shared__ std::uint8_t raw[];
    __shared__ Ring ring;
    __shared__ long long begin;
    const int role = job.roles[sm_id()];
    if (role < 0) return;
    const int readers = job.pacing.readers;
    if (threadIdx.x == 0) begin = begin_together(ring, job.meeting, role, readers + job.writers);
    __syncthreads();
    if (role >= readers) {
        write_pieces(job, role - readers, begin);
    } else if (threadIdx.x == 0) {
        const bool lines = role < job.line_readers;
        ask(job.pacing, lines ? &job.lines : &job.boxes, lines ? kRowBytes : kBoxBytes, role,
            place_of_boxes(raw), ring, begin);
    } else if (threadIdx.x == 32) {
        watch(job.pacing, role, ring);
    }
}

struct Reads {
    std::vector<int> sms;
    int line_readers;  // the first of them
    double period_ns;
};

struct Timed {
    std::vector<float> cycles;  // [SM][kTimed]
    double bytes_per_ns;
};

struct Writes {
    std::vector<int> sms;
    int period = 0;             // of each, from one piece to the next, in SM cycles
    std::int64_t sm_bytes = 0;  // of memory
};

// By the last SMs of those that do not read.
Writes writes_beside(const ProbeBench& bench, const std::vector<int>& reading, double bytes_per_ns) {
    Writes writes;
    if (bytes_per_ns == 0) return writes;
    for (int sm = bench.sms() - 1; sm >= 0 && writes.sms.size() < kMostWriters; --sm)
        if (std::find(reading.begin(), reading.end(), sm) == reading.end()) writes.sms.push_back(sm);
    const auto sms = static_cast<std::int64_t>(writes.sms.size());
    writes.period = static_cast<int>(static_cast<double>(sms * kPieceBytes) / bytes_per_ns * bench.sm_ghz());
    writes.sm_bytes = kWrittenBytes / sms / kPieceBytes * kPieceBytes;
    return writes;
}

Timed time_reads(const ProbeBench& bench, const char* matrix, char* written, const Reads& reads,
                 double write_bytes_per_ns) {
    const auto period = static_cast<int>(reads.period_ns * bench.sm_ghz());
    const Writes writes = writes_beside(bench, reads.sms, write_bytes_per_ns);
    std::vector<int> sms = reads.sms;
    sms.insert(sms.end(), writes.sms.begin(), writes.sms.end());
    const std::size_t readers = reads.sms.size();
    const std::vector<int> first = random_first_cycles(readers, period);
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    const DeviceBuffer<int> first_cycle{std::span<const int>(first)};
    DeviceBuffer<Meeting> meeting(1);
    meeting.fill_bytes(0);
    const Times times(readers);
    const auto rows = static_cast<std::int64_t>(readers) * kBoxRows * kPages;
    const Job job{
        tile_map(matrix, rows, kColumns, kBoxRows),
        tile_map(matrix, rows, kColumns, 1),
        roles.device(),
        {first_cycle.get(), static_cast<int>(readers), kBoxesOfPage, true, kMostInFlight, period, period / 2,
         times.cycles.get(), times.each_ns.get(), times.ask_ns.get(), times.end_ns.get()},
        reads.line_readers,
        static_cast<int>(writes.sms.size()),
        writes.period,
        writes.sm_bytes,
        written,
        meeting.get()};
    const int shared = probe::prepare_one_cta_per_sm(beside_writes_kernel) - kAlignment;
    bench.flush();
    beside_writes_kernel<<<static_cast<unsigned>(bench.sms()), kThreads, static_cast<std::size_t>(shared)>>>(
        job);
    check_launch("pacing boxes beside writes");
    const auto line_readers = static_cast<std::size_t>(reads.line_readers);
    const std::size_t bytes = kTimed * (line_readers * kRowBytes + (readers - line_readers) * kBoxBytes);
    return {times.cycles.to_host(), static_cast<double>(bytes) / static_cast<double>(times.lasted_ns())};
}

void record(const ProbeBench& bench, const char* matrix, char* written, const Reads& reads) {
    for (const double writes : {0., 50., 100., 200., 400., 700., 1000.}) {
        const Timed timed = time_reads(bench, matrix, written, reads, writes);
        const auto boxes = timed.cycles.begin() + std::ptrdiff_t{reads.line_readers} * kTimed;
        const auto print = [&](const char* kind, std::vector<float> cycles) {
            std::printf("%s,%.0f,%zu,%.0f,%.0f", kind, writes, reads.sms.size(), reads.period_ns,
                        timed.bytes_per_ns);
            print_times(std::move(cycles), bench.sm_ghz());
        };
        print("boxes", {boxes, timed.cycles.end()});
        print("lines", {timed.cycles.begin(), boxes});
    }
}

void record_all(const ProbeBench& bench) {
    std::vector<int> readers;
    for (int sm = 0; sm < bench.sms(); ++sm)
        if (sm % 4 != 3) readers.push_back(sm);
    // What nobody has written comes faster than DRAM has it.
    DeviceBuffer<char> matrix(readers.size() * kPages * kBoxesOfPage * kBoxBytes);
    matrix.fill_bytes(1);
    DeviceBuffer<char> written(static_cast<std::size_t>(kWrittenBytes));
    written.fill_bytes(1);
    std::printf(
        "reads,write_bytes_per_ns,sms,period_ns,bytes_per_ns,mean_ns,p1_ns,p10_ns,p50_ns,p90_ns,p99_ns\n");
    const double bytes_of_period = static_cast<double>(readers.size() - kLineReaders) * kBoxBytes;
    for (const double bytes_per_ns : {500., 1000., 1500., 2000.})
        record(bench, matrix.get(), written.get(), {readers, kLineReaders, bytes_of_period / bytes_per_ns});
    record(bench, matrix.get(), written.get(), {{0, 1}, 1, 2000});
}

}  // namespace

int main(int count, char**) {
    return run_recorder("l2lens_gpu_beside_writes", count, [](ProbeBench& bench) {
        if (!bench.has_clusters()) throw Unavailable("tensor boxes need compute capability 9.0 or newer");
        record_all(bench);
    });
}
