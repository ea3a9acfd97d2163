// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gpu/probe/device_side.cuh"
#include "gpu/tests/tile_watch.hpp"

namespace l2lens::gpu {
namespace {

constexpr int kThreads = 1024;
constexpr std::int64_t kLongestNs = 20'000'000'000;  // then everybody leaves, whatever happened

enum Role : int { kFree = -1, kHold = -2 };  // 0 and up: the watcher's number
enum State : int { kArrived, kStop, kStates };

struct WatchArgs {
    WatchedMatrix matrix;
    std::int64_t samples, sample_columns;
    const int* roles;
    int watchers;
    int* state;
    std::int64_t* seen_ns;
};

__device__ int look(const int* at) {
    return *static_cast<const volatile int*>(at);
}

// Nobody leaves before all CTAs are placed: a CTA that waits for a place would take the free SM's.
__device__ void wait_for_all(const WatchArgs& args) {
    if (threadIdx.x == 0) {
        atomicAdd(args.state + kArrived, 1);
        while (look(args.state + kArrived) < static_cast<int>(gridDim.x)) __nanosleep(200);
    }
    __syncthreads();
}

__device__ void scan(const WatchArgs& args, int number) {
    const WatchedMatrix& c = args.matrix;
    for (std::int64_t i = std::int64_t{number} * kThreads + threadIdx.x; i < args.samples;
         i += std::int64_t{args.watchers} * kThreads) {
        if (args.seen_ns[i] != 0) continue;
        const std::uint16_t* at =
            c.data + i / args.sample_columns * c.step * c.columns + i % args.sample_columns * c.step;
        if (*static_cast<const volatile std::uint16_t*>(at) != c.poison) args.seen_ns[i] = global_timer();
    }
}

__global__ void __launch_bounds__(kThreads) watch_kernel(const __grid_constant__ WatchArgs args) {
    extern __shared__ char unused[];
    const int role = args.roles[sm_id()];
    const std::int64_t begin = global_timer();
    wait_for_all(args);
    if (role == kFree || (role == kHold && threadIdx.x != 0)) return;
    bool more = true;
    while (more) {
        more = look(args.state + kStop) == 0 && global_timer() < begin + kLongestNs;
        if (role >= 0)
            scan(args, role);  // once more after the order to stop
        else
            __nanosleep(1000);
    }
}

cudaStream_t make_stream() {
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    return stream;
}

std::vector<int> assign_roles(const std::vector<int>& free_sms, int watchers) {
    int device = 0;
    int sms = 0;
    check_cuda(cudaGetDevice(&device), "asking for the current device");
    check_cuda(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "asking for the SMs");
    std::vector<int> roles(static_cast<std::size_t>(sms), kHold);
    for (const int sm : free_sms) roles.at(static_cast<std::size_t>(sm)) = kFree;
    int number = 0;
    for (int& role : roles)
        if (role == kHold && number < watchers) role = number++;
    return roles;
}

}  // namespace

TileWatch::TileWatch(const WatchedMatrix& matrix, const std::vector<int>& free_sms, int watchers)
    : stream_(make_stream()),
      control_stream_(make_stream()),
      state_(kStates),
      seen_ns_(static_cast<std::size_t>(matrix.samples())) {
    const std::vector<int> roles = assign_roles(free_sms, watchers);
    roles_ = DeviceBuffer<int>(std::span(roles));
    state_.fill_bytes(0);
    seen_ns_.fill_bytes(0);
    check_cuda(cudaDeviceSynchronize(), "preparing to watch");
    const int shared = probe::prepare_one_cta_per_sm(watch_kernel);
    watch_kernel<<<static_cast<unsigned>(roles.size()), kThreads, static_cast<std::size_t>(shared),
                   static_cast<cudaStream_t>(stream_)>>>({matrix, matrix.samples(), matrix.sample_columns(),
                                                          roles_.get(), watchers, state_.get(),
                                                          seen_ns_.get()});
    check_launch("the watchers");
    int arrived = 0;
    while (arrived < static_cast<int>(roles.size())) {
        check_cuda(cudaMemcpyAsync(&arrived, state_.get() + kArrived, sizeof arrived, cudaMemcpyDeviceToHost,
                                   static_cast<cudaStream_t>(control_stream_)),
                   "asking whether the watchers are there");
        check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(control_stream_)),
                   "waiting for the watchers");
    }
}

std::vector<std::int64_t> TileWatch::stop() {
    stopped_ = true;
    const int yes = 1;
    check_cuda(cudaMemcpyAsync(state_.get() + kStop, &yes, sizeof yes, cudaMemcpyHostToDevice,
                               static_cast<cudaStream_t>(control_stream_)),
               "telling the watchers to stop");
    check_cuda(cudaDeviceSynchronize(), "waiting for the watchers to stop");
    return seen_ns_.to_host();
}

TileWatch::~TileWatch() {
    try {
        if (!stopped_) stop();
    } catch (const Error&) {  // the GPU is lost: nothing is left to stop
    }
    cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
    cudaStreamDestroy(static_cast<cudaStream_t>(control_stream_));
}

}  // namespace l2lens::gpu
