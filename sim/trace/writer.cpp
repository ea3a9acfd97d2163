// SPDX-License-Identifier: Apache-2.0
#include "trace/writer.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "trace/walk_code.hpp"

namespace l2lens {
namespace {

constexpr std::size_t kFrameBytes = std::size_t{1} << 18;  // unpacked, when a frame is closed
constexpr std::size_t kLargestEnd = 256;                   // the end frame in the file

}  // namespace

TraceWriter::TraceWriter(std::ostream& out, const TraceHeader& header, std::span<const TraceWalk> walks,
                         std::uint64_t most_bytes)
    : frames_(out, header_json(header)), most_bytes_(most_bytes) {
    if (header.kind == RecordKind::Box) write_walks(header, walks);
    if (written() > most_bytes_ || most_bytes_ - written() < kLargestEnd) {
        throw BadInput(
            fmt::format("--max-size {} is too small: a trace of this kernel without any record takes "
                        "{} bytes",
                        most_bytes_, written() + kLargestEnd));
    }
}

template <class Record>
bool TraceWriter::add_record(const Record& record) {
    if (full_) return false;
    encoder_.add(record);
    return encoder_.bytes().size() < kFrameBytes || flush();
}
template bool TraceWriter::add_record(const BoxRecord&);
template bool TraceWriter::add_record(const LineRecord&);

// Writes the records at hand as a frame, unless it would not leave room for the end.
bool TraceWriter::flush() {
    if (encoder_.count() == 0) return true;
    const std::string packed = FrameWriter::pack(encoder_.bytes());
    full_ = written() + FrameWriter::size_in_file(packed) > most_bytes_ - kLargestEnd;
    if (full_) return false;
    frames_.write(FrameType::Records, encoder_.count(), encoder_.bytes().size(), packed);
    records_ += encoder_.count();
    encoder_ = RecordEncoder{};
    return true;
}

TraceEnd TraceWriter::finish(std::uint64_t sectors, bool complete) {
    if (!full_) flush();
    const TraceEnd end{complete && !full_, records_, sectors};
    write_frame(FrameType::End, 0, end_json(end));
    return end;
}

void TraceWriter::write_walks(const TraceHeader& header, std::span<const TraceWalk> walks) {
    ByteWriter bytes;
    std::uint32_t count = 0;
    const auto close = [&] {
        if (count > 0) write_frame(FrameType::Walks, count, bytes.bytes());
        bytes.clear();
        count = 0;
    };
    for (const TraceWalk& walk : walks) {
        encode_walk(bytes, walk, header.tensors[static_cast<std::size_t>(walk.box.tensor)].rank);
        ++count;
        if (bytes.size() >= kFrameBytes) close();
    }
    close();
}

void TraceWriter::write_frame(FrameType type, std::uint32_t count, const std::string& bytes) {
    frames_.write(type, count, bytes.size(), FrameWriter::pack(bytes));
}

}  // namespace l2lens
