// SPDX-License-Identifier: Apache-2.0
// The container of a trace: a head, then frames that can each be checked and unpacked alone. All checks are
// seeded with the head's own and with the frame's number, so that a frame of another trace, or one in another
// place, is found out. A file cut anywhere reads up to its last whole frame.
//
//   head    magic (8 bytes), version (u32), bytes of JSON (u32), xxHash64 of the JSON and the two (u64), JSON
//   frame   type (u32: 'W', 'R' or 'E'), count (u32), unpacked bytes (u32), packed bytes (u32),
//           xxHash64 of the packed bytes (u64), xxHash64 of all before in this frame (u64), zstd frame
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace l2lens {

// Like PNG's: not text, and a transfer that mends line ends or strips the eighth bit breaks it.
inline constexpr std::string_view kTraceMagic{"\x89L2T\r\n\x1a\n", 8};
inline constexpr std::uint32_t kTraceVersion = 1;
inline constexpr std::size_t kLargestFrame = std::size_t{1} << 20;  // unpacked

enum class FrameType : std::uint32_t { Walks = 'W', Records = 'R', End = 'E' };

class FrameWriter {
public:
    FrameWriter(std::ostream& out, std::string_view header);

    // What a frame of these bytes takes in the file.
    static std::string pack(std::string_view bytes);
    static std::size_t size_in_file(const std::string& packed);

    void write(FrameType type, std::uint32_t count, std::size_t unpacked, const std::string& packed);
    std::uint64_t written() const { return written_; }

private:
    std::ostream& out_;
    std::uint64_t seed_ = 0;
    std::uint64_t frames_ = 0;
    std::uint64_t written_ = 0;
};

struct Frame {
    FrameType type = FrameType::End;
    std::uint32_t count = 0;
    std::string bytes;
    std::string where;  // "FILE: frame 3 at byte 4711"
};

class FrameReader {
public:
    // Reads the head; throws BadInput when this is no trace, one of another version, or cut inside the head.
    FrameReader(std::istream& in, std::string name);

    const std::string& header() const { return header_; }

    // The next frame, or nothing at the end of the file; then cut() says whether it ends inside a frame.
    // Throws BadInput, naming frame and offset, for one that is corrupt.
    std::optional<Frame> next();
    bool cut() const { return cut_; }
    std::uint64_t frames() const { return frames_; }  // whole ones so far
    std::uint64_t offset() const { return offset_; }  // behind the last of them

private:
    std::string read(std::size_t bytes);  // fewer at the end of the file

    std::istream& in_;
    std::string name_;
    std::string header_;
    std::uint64_t seed_ = 0;
    std::uint64_t frames_ = 0;
    std::uint64_t offset_ = 0;
    bool cut_ = false;
};

}  // namespace l2lens
