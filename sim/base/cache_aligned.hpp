// SPDX-License-Identifier: Apache-2.0
// A vector that begins at a cache line of the machine it runs on, so that a set of 16 four-byte tags is one
// cache line and not two.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace l2lens {

template <class T>
struct CacheAlignedAllocator {
    using value_type = T;
    static constexpr std::align_val_t kAlignment{64};

    CacheAlignedAllocator() = default;
    template <class U>
    explicit CacheAlignedAllocator(const CacheAlignedAllocator<U>&) {}

    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, kAlignment); }

    friend bool operator==(const CacheAlignedAllocator&, const CacheAlignedAllocator&) { return true; }
};

template <class T>
using CacheAlignedVector = std::vector<T, CacheAlignedAllocator<T>>;

}  // namespace l2lens
