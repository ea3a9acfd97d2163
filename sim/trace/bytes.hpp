// SPDX-License-Identifier: Apache-2.0
// Little-endian numbers and varints (LEB128; signed ones zigzag, as in Protocol Buffers), written to and read
// from a string. Reading past the end, or a varint of more than 64 bits, is a BadInput.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace l2lens {

class ByteWriter {
public:
    void u8(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
    void u32(std::uint32_t value) {
        for (unsigned shift = 0; shift < 32; shift += 8) u8(static_cast<std::uint8_t>(value >> shift));
    }
    void u64(std::uint64_t value) {
        for (unsigned shift = 0; shift < 64; shift += 8) u8(static_cast<std::uint8_t>(value >> shift));
    }
    void f64(double value) { u64(std::bit_cast<std::uint64_t>(value)); }
    void varint(std::uint64_t value) {
        while (value >= 0x80) {
            u8(static_cast<std::uint8_t>(value | 0x80));
            value >>= 7;
        }
        u8(static_cast<std::uint8_t>(value));
    }
    void zigzag(std::int64_t value) {
        varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
    }

    std::size_t size() const { return bytes_.size(); }
    const std::string& bytes() const { return bytes_; }
    void clear() { bytes_.clear(); }

private:
    std::string bytes_;
};

class ByteReader {
public:
    // `where` begins each complaint.
    ByteReader(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

    std::uint8_t u8() {
        if (at_ == bytes_.size()) fail("ends inside a number");
        return static_cast<std::uint8_t>(bytes_[at_++]);
    }
    std::uint32_t u32() {
        std::uint32_t value = 0;
        for (unsigned shift = 0; shift < 32; shift += 8) value |= std::uint32_t{u8()} << shift;
        return value;
    }
    std::uint64_t u64() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 8) value |= std::uint64_t{u8()} << shift;
        return value;
    }
    double f64() { return std::bit_cast<double>(u64()); }
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t byte = u8();
            if (shift == 63 && byte > 1) break;
            value |= std::uint64_t{byte & 0x7Fu} << shift;
            if (byte < 0x80) return value;
        }
        fail("has a number of more than 64 bits");
    }
    std::int64_t zigzag() {
        const std::uint64_t value = varint();
        return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
    }
    // A varint that must be below `end`.
    std::uint64_t below(std::uint64_t end, const char* what) {
        const std::uint64_t value = varint();
        if (value >= end)
            fail(std::string(what) + " is " + std::to_string(value) + ", not below " + std::to_string(end));
        return value;
    }
    // previous + zigzag, which must be in [0, end).
    std::uint64_t next_below(std::uint64_t previous, std::uint64_t end, const char* what) {
        const std::uint64_t value = previous + static_cast<std::uint64_t>(zigzag());
        if (value >= end) fail(std::string(what) + " is out of range");
        return value;
    }

    bool at_end() const { return at_ == bytes_.size(); }
    [[noreturn]] void fail(const std::string& problem) const { throw BadInput(where_ + " " + problem); }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    std::string where_;
};

}  // namespace l2lens
