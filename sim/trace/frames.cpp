// SPDX-License-Identifier: Apache-2.0
#include "trace/frames.hpp"

#include <istream>
#include <ostream>

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/error.hpp"
#include "trace/bytes.hpp"
#include "trace/header.hpp"

namespace l2lens {
namespace {

constexpr int kCompressionLevel = 3;  // beyond it, records of regular kernels shrink by less than a tenth
constexpr std::size_t kHeadBytes = kTraceMagic.size() + 4 + 4 + 8;
constexpr std::size_t kFrameHeadBytes = 4 * 4 + 8 + 8;

std::uint64_t hash_of(std::string_view bytes, std::uint64_t seed) {
    return XXH64(bytes.data(), bytes.size(), seed);
}

std::uint64_t head_check(std::uint32_t version, std::string_view header) {
    return hash_of(header, (std::uint64_t{version} << 32) | static_cast<std::uint32_t>(header.size()));
}

std::string unpack(std::string_view packed, std::size_t unpacked, const ByteReader& complain) {
    if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != unpacked) {
        complain.fail("is not as long as it says");
    }
    std::string bytes(unpacked, '\0');
    const std::size_t got = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
    if (ZSTD_isError(got) != 0) complain.fail(fmt::format("does not unpack: {}", ZSTD_getErrorName(got)));
    if (got != unpacked) complain.fail("is not as long as it says");
    return bytes;
}

}  // namespace

FrameWriter::FrameWriter(std::ostream& out, std::string_view header) : out_(out) {
    seed_ = head_check(kTraceVersion, header);
    ByteWriter head;
    head.u32(kTraceVersion);
    head.u32(static_cast<std::uint32_t>(header.size()));
    head.u64(seed_);
    out_ << kTraceMagic << head.bytes() << header;
    written_ = kHeadBytes + header.size();
}

std::string FrameWriter::pack(std::string_view bytes) {
    std::string packed(ZSTD_compressBound(bytes.size()), '\0');
    const std::size_t size =
        ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kCompressionLevel);
    if (ZSTD_isError(size) != 0) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(size));
    packed.resize(size);
    return packed;
}

std::size_t FrameWriter::size_in_file(const std::string& packed) {
    return kFrameHeadBytes + packed.size();
}

void FrameWriter::write(FrameType type, std::uint32_t count, std::size_t unpacked,
                        const std::string& packed) {
    const std::uint64_t seed = seed_ + frames_++;
    ByteWriter head;
    head.u32(static_cast<std::uint32_t>(type));
    head.u32(count);
    head.u32(static_cast<std::uint32_t>(unpacked));
    head.u32(static_cast<std::uint32_t>(packed.size()));
    head.u64(hash_of(packed, seed));
    head.u64(hash_of(head.bytes(), seed));
    out_ << head.bytes() << packed;
    written_ += size_in_file(packed);
}

FrameReader::FrameReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {
    const std::string head = read(kHeadBytes);
    const auto known = std::min(head.size(), kTraceMagic.size());
    if (head.empty() || head.substr(0, known) != kTraceMagic.substr(0, known)) {
        throw BadInput(name_ + ": is no l2lens trace");
    }
    if (head.size() < kHeadBytes) throw BadInput(name_ + ": is cut inside the head of a trace");
    ByteReader fields(std::string_view(head).substr(kTraceMagic.size()), name_);
    const std::uint32_t version = fields.u32();
    if (version != kTraceVersion) {
        throw BadInput(fmt::format("{}: is a trace of version {}; this program reads version {}", name_,
                                   version, kTraceVersion));
    }
    const std::uint32_t size = fields.u32();
    seed_ = fields.u64();
    if (size > kLargestTraceHeader) throw BadInput(name_ + ": the head of the trace is corrupt");
    header_ = read(size);
    if (header_.size() < size) throw BadInput(name_ + ": is cut inside the head of a trace");
    if (head_check(version, header_) != seed_) throw BadInput(name_ + ": the head of the trace is corrupt");
    offset_ = kHeadBytes + size;
}

std::optional<Frame> FrameReader::next() {
    const std::string head = read(kFrameHeadBytes);
    if (head.size() < kFrameHeadBytes) {
        cut_ = !head.empty();
        return std::nullopt;
    }
    Frame frame;
    frame.where = fmt::format("{}: frame {} at byte {}", name_, frames_ + 1, offset_);
    ByteReader fields(head, frame.where);
    const std::uint64_t seed = seed_ + frames_;
    const std::uint32_t type = fields.u32();
    frame.count = fields.u32();
    const std::uint32_t unpacked = fields.u32();
    const std::uint32_t packed_size = fields.u32();
    const std::uint64_t packed_check = fields.u64();
    if (fields.u64() != hash_of(std::string_view(head).substr(0, kFrameHeadBytes - 8), seed)) {
        fields.fail("has a corrupt head");
    }
    if (type != 'W' && type != 'R' && type != 'E') fields.fail("is of an unknown type");
    if (unpacked > kLargestFrame || packed_size > ZSTD_compressBound(kLargestFrame)) {
        fields.fail("is larger than 1 MiB");
    }
    const std::string packed = read(packed_size);
    if (packed.size() < packed_size) {
        cut_ = true;
        return std::nullopt;
    }
    if (hash_of(packed, seed) != packed_check) fields.fail("is corrupt");
    frame.type = static_cast<FrameType>(type);
    frame.bytes = unpack(packed, unpacked, fields);
    ++frames_;
    offset_ += kFrameHeadBytes + packed_size;
    return frame;
}

// In pieces: a wrong size costs no more memory than the file has bytes.
std::string FrameReader::read(std::size_t bytes) {
    constexpr std::size_t kPiece = 1 << 16;
    std::string text;
    while (text.size() < bytes) {
        const std::size_t had = text.size();
        text.resize(std::min(bytes, had + kPiece));
        in_.read(text.data() + had, static_cast<std::streamsize>(text.size() - had));
        const auto got = static_cast<std::size_t>(in_.gcount());
        if (in_.bad()) throw BadInput(name_ + ": cannot be read");
        if (had + got < text.size()) {
            text.resize(had + got);
            break;
        }
    }
    return text;
}

}  // namespace l2lens
