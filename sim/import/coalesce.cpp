// SPDX-License-Identifier: Apache-2.0
#include "import/coalesce.hpp"

#include <algorithm>
#include <bitset>

#include "base/units.hpp"

namespace l2lens {
namespace {

using LineBytes = std::bitset<kLineBytes>;

struct TouchedLine {
    std::uint64_t line;
    LineBytes bytes;
};

void touch(std::vector<TouchedLine>& lines, std::uint64_t address, std::uint64_t width) {
    while (width > 0) {
        const std::uint64_t line = address / kLineBytes, from = address % kLineBytes;
        const std::uint64_t count = std::min<std::uint64_t>(width, kLineBytes - from);
        auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.line == line; });
        if (found == lines.end()) found = lines.insert(lines.end(), TouchedLine{line, {}});
        for (std::uint64_t i = from; i < from + count; ++i) found->bytes.set(i);
        address += count;
        width -= count;
    }
}

// Every sector of which a byte is touched, wholly.
LineBytes whole_sectors(const LineBytes& bytes) {
    LineBytes sectors;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (!bytes.test(i)) continue;
        const std::size_t first = i / kSectorBytes * kSectorBytes;
        for (std::size_t byte = first; byte < first + kSectorBytes; ++byte) sectors.set(byte);
        i = first + kSectorBytes - 1;
    }
    return sectors;
}

void append_runs(const TouchedLine& line, const LineBytes& bytes, std::vector<ByteRun>& runs) {
    for (std::size_t i = 0; i < bytes.size();) {
        std::size_t end = i;
        while (end < bytes.size() && bytes.test(end)) ++end;
        if (end > i) runs.push_back({line.line * kLineBytes + i, static_cast<std::uint8_t>(end - i)});
        i = end + 1;
    }
}

}  // namespace

void coalesce(const WarpAccess& access, std::vector<ByteRun>& runs) {
    std::vector<TouchedLine> lines;
    for (int lane = 0; lane < access.lanes; ++lane)
        touch(lines, access.address[static_cast<std::size_t>(lane)], access.width);
    std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
    for (const TouchedLine& line : lines) {
        const bool read = access.operation == Operation::Read;
        append_runs(line, read ? whole_sectors(line.bytes) : line.bytes, runs);
    }
}

}  // namespace l2lens
