// SPDX-License-Identifier: Apache-2.0
#include "trace/record_code.hpp"

#include "trace/form.hpp"

namespace l2lens {
namespace {

// An SM clock is between 10 MHz and 100 GHz; this also keeps the arrival times of a box in range.
constexpr double kShortestCycle = 10;
constexpr double kLongestCycle = 100'000;
constexpr std::uint64_t kSmEnd = 1u << 16;

std::int64_t difference(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a - b);
}

std::uint64_t zigzagged(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t unzigzagged(std::uint64_t value) {
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

bool same_form(const LineRecord& a, const LineRecord& b) {
    return a.bytes == b.bytes && a.receivers == b.receivers && a.operation == b.operation &&
           a.path == b.path && a.shifted == b.shifted && a.reduce == b.reduce && a.hint == b.hint;
}

void read_form(ByteReader& in, LineRecord& record) {
    const AccessForm form = decode_form(in, "record");
    record.operation = form.operation;
    record.path = form.path;
    record.shifted = form.shifted;
    record.reduce = form.reduce;
    record.hint = form.hint;
    record.bytes = in.u8();
    record.receivers = in.u8();
}

// What boxes and lines have in common: the head of an item, and the windows before it.
template <class Record>
struct ItemHead {
    bool flag = false;

    ItemHead(ByteReader& in, Record& record) {
        std::uint64_t head = in.varint();
        while (head == 0) {
            read_window(in, record);
            head = in.varint();
        }
        flag = ((head - 1) & 1) != 0;
        const std::uint64_t sm = record.sm + static_cast<std::uint64_t>(unzigzagged((head - 1) >> 1));
        if (sm >= kSmEnd) in.fail("has an SM out of range");
        record.sm = static_cast<std::uint16_t>(sm);
        const auto end = static_cast<std::uint64_t>(kTraceTimeEnd);
        record.time = static_cast<Picoseconds>(
            in.next_below(static_cast<std::uint64_t>(record.time), end, "a record's time"));
    }

    static void read_window(ByteReader& in, Record& record) {
        const std::uint64_t item = in.varint();
        const auto end = static_cast<std::uint64_t>(record.window) + (item >> 1);
        if (end >= static_cast<std::uint64_t>(kTraceTimeEnd)) in.fail("has a window out of range");
        record.window = static_cast<Picoseconds>(end);
        const double cycle = (item & 1) != 0 ? in.f64() : 0;
        if constexpr (requires { record.cycle_ps; }) {
            if ((item & 1) != 0) record.cycle_ps = cycle;
            if (!(record.cycle_ps >= kShortestCycle && record.cycle_ps <= kLongestCycle))
                in.fail("has an SM clock out of range");
        }
    }
};

}  // namespace

void RecordEncoder::window(Picoseconds end, double cycle_ps) {
    const auto ahead = static_cast<std::uint64_t>(end - box_.window);
    const bool clock = cycle_ps != box_.cycle_ps;
    out_.varint(0);
    out_.varint(ahead << 1 | (clock ? 1u : 0u));
    if (clock) out_.f64(cycle_ps);
    box_.window = end;
    box_.cycle_ps = cycle_ps;
}

void RecordEncoder::add(const BoxRecord& record) {
    if (count_ == 0 || record.window != box_.window || record.cycle_ps != box_.cycle_ps) {
        window(record.window, record.cycle_ps);
    }
    const bool multicast = record.receivers != 1;
    out_.varint(1 + (zigzagged(std::int64_t{record.sm} - box_.sm) << 1 | (multicast ? 1u : 0u)));
    out_.zigzag(record.time - box_.time);
    out_.zigzag(std::int64_t{record.walk} - box_.walk);
    out_.zigzag(std::int64_t{record.step} - box_.step);
    if (multicast) out_.u8(record.receivers);
    box_ = record;
    ++count_;
}

void RecordEncoder::add(const LineRecord& record) {
    if (count_ == 0 || record.window != box_.window) window(record.window, 0);
    const bool form = !same_form(record, line_);
    out_.varint(1 + (zigzagged(std::int64_t{record.sm} - line_.sm) << 1 | (form ? 1u : 0u)));
    out_.zigzag(record.time - line_.time);
    out_.zigzag(difference(record.address, line_.address));
    if (form) {
        encode_form(out_, {record.operation, record.path, record.shifted, record.reduce, record.hint});
        out_.u8(record.bytes);
        out_.u8(record.receivers);
    }
    line_ = record;
    ++count_;
}

std::vector<BoxRecord> decode_boxes(ByteReader& in, std::uint32_t count, std::span<const TraceWalk> walks) {
    std::vector<BoxRecord> records;
    BoxRecord record;
    for (std::uint32_t i = 0; i < count; ++i) {
        const ItemHead<BoxRecord> head(in, record);
        if (record.cycle_ps == 0) in.fail("does not begin with a window");
        record.walk = static_cast<std::uint32_t>(in.next_below(record.walk, walks.size(), "a record's walk"));
        const auto steps = static_cast<std::uint64_t>(walks[record.walk].count);
        record.step = static_cast<std::uint32_t>(in.next_below(record.step, steps, "a record's step"));
        record.receivers = head.flag ? in.u8() : std::uint8_t{1};
        if (record.receivers == 0) in.fail("has a record without receivers");
        records.push_back(record);
    }
    if (!in.at_end()) in.fail("has more bytes than records");
    return records;
}

std::vector<LineRecord> decode_lines(ByteReader& in, std::uint32_t count) {
    std::vector<LineRecord> records;
    LineRecord record;
    for (std::uint32_t i = 0; i < count; ++i) {
        const ItemHead<LineRecord> head(in, record);
        record.address = in.next_below(record.address, kTraceAddressEnd, "a record's address");
        if (head.flag) read_form(in, record);
        if (record.bytes == 0 || record.address % kLineBytes + record.bytes > kLineBytes)
            in.fail("has a record that is not inside one line");
        if (record.receivers == 0) in.fail("has a record without receivers");
        records.push_back(record);
    }
    if (!in.at_end()) in.fail("has more bytes than records");
    return records;
}

}  // namespace l2lens
