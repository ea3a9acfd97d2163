// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_write_back: what becomes of written lines, as rows of traces/h200/write_back.csv (its README
// says what the patterns are). All SMs walk a buffer between them, then another one; the last walk is
// counted.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"

#include "gpu/counters/counter_session.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/flush.hpp"
#include "gpu/probe/kernels.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kBufferBytes = 256 * kMiB;
constexpr int kRepeats = 3;
constexpr int kShared = 8;  // passes: each line is read by SMs of both partitions

const std::vector<std::string> kMetrics{
    "dram__sectors_write.sum",
    "dram__sectors_read.sum",
    "lts__d_sectors_fill_device.sum",
    "lts__t_sectors_srcunit_tex.sum",
    "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "lts__t_sectors_srcunit_ltcfabric.sum",
    "lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum",
    "gpu__time_duration.sum",
};

int sms_of_device() {
    cudaDeviceProp properties{};
    check_cuda(cudaGetDeviceProperties(&properties, 0), "reading the device's properties");
    return properties.multiProcessorCount;
}

// The first so many SMs: numbers go from GPC to GPC, so that sixteen and more are about half of each
// partition.
Roles first_sms(int count) {
    std::vector<int> sms(static_cast<std::size_t>(count));
    std::iota(sms.begin(), sms.end(), 0);
    return Roles::of(sms, sms_of_device());
}

class Recorder {
public:
    Recorder()
        : memory_(2 * kBufferBytes),
          flush_(kBufferBytes),
          everyone_(Roles::all(sms_of_device())),
          session_(kMetrics) {
        memory_.fill_bytes(0);
        flush_.fill_bytes(0);
        std::printf("pattern,first_mib,second_mib");
        for (const std::string& metric : kMetrics) std::printf(",%s", metric.c_str());
        std::printf("\n");
    }

    char* first() const { return memory_.get(); }
    char* second() const { return memory_.get() + kBufferBytes; }

    void read(char* buffer, double mib, int passes) const {
        walk(buffer, mib, everyone_, Access::Load, passes);
    }
    void read_by(const DeviceRoles& readers, char* buffer, double mib) const {
        walk(buffer, mib, readers, Access::Load, 1);
    }
    void write(char* buffer, double mib, Access how = Access::Store) const {
        walk(buffer, mib, everyone_, how, 1);
    }

    // Flushes, prepares, and counts `counted`.
    void row(const std::string& pattern, double first_mib, double second_mib,
             const std::function<void()>& prepare, const std::function<void()>& counted) {
        const auto flush_and_prepare = [&] {
            flush_l2(flush_.get(), kBufferBytes);
            prepare();
        };
        std::printf("%s,%g,%g", pattern.c_str(), first_mib, second_mib);
        for (const CounterValue& value : session_.measure_repeatedly(counted, flush_and_prepare, kRepeats))
            std::printf(",%.0f", value.median);
        std::printf("\n");
    }

private:
    void walk(char* buffer, double mib, const DeviceRoles& sms, Access access, int passes) const {
        const auto chunks = static_cast<std::int64_t>(mib * kMiB) / kChunkBytes / 8 * 8;
        visit_chunks(buffer, chunks, sms, access, passes);
    }

    DeviceBuffer<char> memory_;
    DeviceBuffer<char> flush_;
    DeviceRoles everyone_;
    CounterSession session_;
};

void record_written(Recorder& on) {
    for (const double mib : {2., 4., 8., 12., 16., 20., 24., 26., 28., 32., 40., 48., 56., 64., 96., 128.}) {
        on.row(
            "write", mib, 0, [] {}, [&] { on.write(on.first(), mib); });
    }
    for (const double mib : {4., 16., 24.}) {
        const auto write = [&] { on.write(on.first(), mib); };
        for (const double read :
             {.25, 2., 4., 6., 8., 10., 12., 16., 20., 24., 28., 32., 36., 40., 44., 48., 56., 64., 80.}) {
            on.row("write_read", mib, read, write, [&] { on.read(on.second(), read, 1); });
        }
    }
    for (const double mib : {4., 16.}) {
        const auto write = [&] { on.write(on.first(), mib); };
        for (const double read : {1., 2., 4., 6., 8., 10., 12., 14., 16., 18., 20., 24., 28., 32., 40.}) {
            on.row("write_read_shared", mib, read, write, [&] { on.read(on.second(), read, kShared); });
        }
    }
}

void record_reread(Recorder& on) {
    for (const double mib : {4., 16.}) {
        for (const double read : {4., 8., 12., 16., 20., 24., 28., 32., 36., 40., 44., 48., 56., 64.}) {
            const auto write_and_read = [&] {
                on.write(on.first(), mib);
                on.read(on.second(), read, 1);
            };
            on.row("write_read_reread", mib, read, write_and_read, [&] { on.read(on.first(), mib, 1); });
        }
    }
}

// The fewer read, the less busy is DRAM.
void record_read_by_few(Recorder& on) {
    for (const int readers : {8, 16, 33, 66}) {
        const DeviceRoles few(first_sms(readers));
        for (const double mib : {16., 24.}) {
            for (const double read : {20., 24., 28., 32., 36., 40., 48., 64.}) {
                on.row(
                    "write_read_by_" + std::to_string(readers), mib, read, [&] { on.write(on.first(), mib); },
                    [&] { on.read_by(few, on.second(), read); });
            }
        }
    }
}

void record_displaced(Recorder& on, const char* pattern, const std::vector<double>& sizes, int passes,
                      Access how = Access::Store) {
    for (const double mib : sizes) {
        for (const double written : {1., 4., 8., 12., 16., 20., 24., 28., 32., 40., 48., 64., 96.}) {
            const auto read_and_write = [&] {
                on.read(on.first(), mib, passes);
                on.write(on.second(), written, how);
            };
            on.row(pattern, mib, written, read_and_write, [&] { on.read(on.first(), mib, 1); });
        }
    }
}

}  // namespace

int main() {
    try {
        Recorder recorder;
        record_written(recorder);
        record_reread(recorder);
        record_displaced(recorder, "read_shared_write_reread", {8, 16, 24}, kShared);
        record_displaced(recorder, "read_write_reread", {16, 32}, 1);
        record_displaced(recorder, "read_shared_bulk_write_reread", {16, 24}, kShared, Access::BulkStore);
        record_read_by_few(recorder);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
