// SPDX-License-Identifier: Apache-2.0
// cuBLAS, opened at run time: the GEMM that everything is compared with.
#pragma once

#include <cstdint>
#include <utility>

#include "base/error.hpp"

#include "gpu/shared_library.hpp"

namespace l2lens::gpu {

class Cublas {
public:
    Cublas() : library_(open()) {
        auto* create = library_.function<int(void**)>("cublasCreate_v2");
        if (!create || create(&handle_) != 0) throw Unavailable("cuBLAS does not start");
        gemm_ = library_.function<GemmEx>("cublasGemmEx");
        set_stream_ = library_.function<int(void*, void*)>("cublasSetStream_v2");
    }

    // A cudaStream_t.
    void set_stream(void* stream) const { set_stream_(handle_, stream); }

    // C[m,n] = A[m,k] B[n,k]^T, bf16, row-major; to cuBLAS's column-major eyes C^T = B A^T.
    void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b, void* c) const {
        const float one = 1;
        const float zero = 0;
        const int im = static_cast<int>(m);
        const int in = static_cast<int>(n);
        const int ik = static_cast<int>(k);
        if (gemm_(handle_, kOpT, kOpN, in, im, ik, &one, b, kBf16, ik, a, kBf16, ik, &zero, c, kBf16, in,
                  kCompute32F, kDefaultAlgorithm) != 0)
            throw Error(ExitCode::Internal, "cublasGemmEx failed");
    }

private:
    // cublas_api.h and library_types.h: enumerators never change.
    enum { kOpN = 0, kOpT = 1, kBf16 = 14, kCompute32F = 68, kDefaultAlgorithm = -1 };

    using GemmEx = int(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int,
                       int, const void*, void*, int, int, int, int);
    static SharedLibrary open() {
        auto library = SharedLibrary::open({"libcublas.so.13", "libcublas.so.12", "libcublas.so"},
                                           cuda_library_folders());
        if (!library) throw Unavailable("cuBLAS not found");
        library->keep_open();
        return std::move(*library);
    }

    SharedLibrary library_;
    void* handle_ = nullptr;
    GemmEx* gemm_ = nullptr;
    int (*set_stream_)(void*, void*) = nullptr;
};

}  // namespace l2lens::gpu
