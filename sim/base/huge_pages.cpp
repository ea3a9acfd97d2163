// SPDX-License-Identifier: Apache-2.0
#include "base/huge_pages.hpp"

#include <cstdlib>

#if defined(__GLIBC__)
#include <cstddef>
#include <cstdint>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace l2lens {

void prefer_huge_pages() {
#if defined(__GLIBC__)
    constexpr std::uintptr_t kHugePage = 2 << 20;
    constexpr int kHeapBytes = 64 << 20;      // reserved; only what is touched takes memory
    constexpr int kLargestOnHeap = 32 << 20;  // of an allocation; larger ones get pages of their own
    if (mallopt(M_TOP_PAD, kHeapBytes) == 0 || mallopt(M_TRIM_THRESHOLD, 2 * kHeapBytes) == 0 ||
        mallopt(M_MMAP_THRESHOLD, kLargestOnHeap) == 0)
        return;
    const auto heap_end = [] { return static_cast<char*>(sbrk(0)); };
    char* const end = heap_end();
    char* const from = end + (kHugePage - reinterpret_cast<std::uintptr_t>(end) % kHugePage) % kHugePage;
    constexpr std::size_t kMoreThanIsFree = 1 << 20;
    void* volatile grown = std::malloc(kMoreThanIsFree);  // volatile, or the compiler leaves both out
    std::free(grown);
    char* const to = heap_end();
    // A refusal leaves small pages, which is no error.
    if (to > from) static_cast<void>(madvise(from, static_cast<std::size_t>(to - from), MADV_HUGEPAGE));
#endif
}

}  // namespace l2lens
