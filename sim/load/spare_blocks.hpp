// SPDX-License-Identifier: Apache-2.0
// Small blocks of memory that are kept to be used again. A kernel file's program() leaves a dozen tables and
// boxes a tile behind, which Lua collects hundreds at a time: the C library's allocator keeps seven of a size
// at hand and spends its time putting the others together and apart. What is kept is bounded, so that a
// program's memory is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace l2lens {

class SpareBlocks {
public:
    SpareBlocks() = default;
    SpareBlocks(const SpareBlocks&) = delete;
    SpareBlocks& operator=(const SpareBlocks&) = delete;
    ~SpareBlocks() {
        for (Block* block : spare_) {
            while (block != nullptr) std::free(std::exchange(block, block->next));
        }
    }

    static constexpr std::size_t kMostBytes = 512;  // of a small block

    // A block of at most kMostBytes; nullptr when there is no memory.
    void* take(std::size_t bytes) {
        Block*& first = spare_[size_class(bytes)];
        if (first == nullptr) return std::malloc(rounded(bytes));
        kept_ -= rounded(bytes);
        return std::exchange(first, first->next);
    }
    // A block that take() gave for as many bytes.
    void give_back(void* block, std::size_t bytes) {
        if (kept_ >= kMostKept) return std::free(block);
        kept_ += rounded(bytes);
        Block*& first = spare_[size_class(bytes)];
        first = new (block) Block{first};
    }

private:
    static constexpr std::size_t kStep = 16;
    static constexpr std::size_t kMostKept = std::size_t{2} << 20;

    struct Block {
        Block* next;
    };

    static std::size_t size_class(std::size_t bytes) { return (bytes - 1) / kStep; }
    static std::size_t rounded(std::size_t bytes) { return (size_class(bytes) + 1) * kStep; }

    std::array<Block*, kMostBytes / kStep> spare_{};
    std::size_t kept_ = 0;
};

}  // namespace l2lens
