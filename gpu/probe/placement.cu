// SPDX-License-Identifier: Apache-2.0
// Where does the hardware put CTAs and clusters?
#include "gpu/device_buffer.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/probe/kernels.hpp"

namespace l2lens::gpu {
namespace {

__device__ CtaSpan spin(int ns) {
    CtaSpan span;
    span.sm = sm_id();
    span.start_ns = global_timer();
    do span.end_ns = global_timer();
    while (span.end_ns < span.start_ns + ns);
    return span;
}

__global__ void spin_kernel(CtaSpan* spans, int ns) {
    extern __shared__ char unused[];
    if (threadIdx.x == 0) spans[blockIdx.x] = spin(ns);
}

std::vector<CtaSpan> run_spinning(int ctas, int ns, int cluster) {
    const int shared = probe::prepare_one_cta_per_sm(spin_kernel);
    check_cuda(cudaFuncSetAttribute(spin_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
               "allowing clusters");
    DeviceBuffer<CtaSpan> spans(static_cast<std::size_t>(ctas));
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(ctas));
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = static_cast<std::size_t>(shared);
    config.attrs = &attribute;
    config.numAttrs = cluster > 1 ? 1 : 0;
    check_cuda(cudaLaunchKernelEx(&config, spin_kernel, spans.get(), ns), "launching spinning CTAs");
    check_cuda(cudaDeviceSynchronize(), "recording where CTAs run");
    return spans.to_host();
}

bool clusters_fit(int size) {
    int device = 0;
    int major = 0;
    check_cuda(cudaGetDevice(&device), "asking for the current device");
    check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
               "asking for the capability");
    return major >= 9 && size <= 16;
}

constexpr int kSpinNs = 20000;  // all CTAs of a wave start well before the first one ends

}  // namespace

std::vector<int> place_first_wave(int sms) {
    std::vector<int> order;
    for (const CtaSpan& span : run_spinning(sms, kSpinNs, 1)) order.push_back(span.sm);
    return order;
}

std::vector<std::vector<int>> place_clusters(int size, int sms) {
    if (!clusters_fit(size)) return {};
    const int clusters = sms / size;
    const auto spans = run_spinning(clusters * size, kSpinNs, size);
    std::vector<std::vector<int>> placed(static_cast<std::size_t>(clusters));
    for (std::size_t i = 0; i < spans.size(); ++i)
        placed[i / static_cast<std::size_t>(size)].push_back(spans[i].sm);
    return placed;
}

std::vector<CtaSpan> record_spinning_ctas(int ctas, int spin_ns) {
    return run_spinning(ctas, spin_ns, 1);
}

}  // namespace l2lens::gpu
