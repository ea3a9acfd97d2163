// SPDX-License-Identifier: Apache-2.0
// Device memory that frees itself. Private to gpu/ (includes the runtime's header).
#pragma once

#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/cuda_check.hpp"

namespace l2lens::gpu {

template <class T>
class DeviceBuffer {
public:
    DeviceBuffer() = default;
    explicit DeviceBuffer(std::size_t count) : count_(count) {
        if (count_ > 0)
            check_cuda(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()),
                       "allocating " + std::to_string(bytes()) + " bytes of device memory");
    }
    explicit DeviceBuffer(std::span<const T> values) : DeviceBuffer(values.size()) {
        check_cuda(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice),
                   "copying to the device");
    }
    DeviceBuffer(DeviceBuffer&& other) noexcept : data_(other.data_), count_(other.count_) {
        other.data_ = nullptr;
        other.count_ = 0;
    }
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~DeviceBuffer() { cudaFree(data_); }

    T* get() const { return data_; }
    std::size_t size() const { return count_; }
    std::size_t bytes() const { return count_ * sizeof(T); }

    void fill_bytes(int value) { check_cuda(cudaMemset(data_, value, bytes()), "filling device memory"); }

    std::vector<T> to_host() const {
        std::vector<T> values(count_);
        check_cuda(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost),
                   "copying from the device");
        return values;
    }

private:
    T* data_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace l2lens::gpu
