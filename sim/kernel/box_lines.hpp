// SPDX-License-Identifier: Apache-2.0
// From a box to the cache-line requests an SM sends for it, in issue order.
//
// TMA moves a box in columns of at most 128 B (the widest swizzle atom: CUDA driver API,
// cuTensorMapEncodeTiled, CU_TENSOR_MAP_SWIZZLE_128B): all rows of the first column, then all rows of the
// second. Each row piece is one request per line it touches, so rows whose pitch is no multiple of 128 B ask
// for two. A piece that begins inside a sector (TMA wants 16 B) asks for its first and its last sector by
// themselves: GEMMs whose pitch is 16 B beyond a multiple of 32 send 2.63 requests a row for 4.5 sectors,
// those of a pitch of 32 or 96 B beyond 128 send 1.76, of 64 B 1.53 (lrc__xbar2lrc_requests_op_read in
// traces/h200/gemm_more.csv). Threads' own loads (cp.async, ld) cover whole rows, and what falls into one
// line of a row is one request.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "kernel/kernel.hpp"

namespace l2lens {

struct LineRequest {
    LineNumber line = 0;
    SectorMask sectors = 0;       // touched
    SectorMask partial = 0;       // touched, but not wholly covered: a store has to fetch or mask these
    std::uint16_t position = 0;   // in the issue order of the whole box
    std::uint8_t first_byte = 0;  // of the line; the sectors are those of the bytes from here
    std::uint8_t bytes = 0;
    bool shifted = false;  // of a TMA row that begins inside a sector
};

// Most requests of one box: what `position` can number.
inline constexpr std::int64_t kMostBoxRequests = 1 << 16;

// An upper bound of the requests for `box`, wherever it stands.
std::int64_t most_requests(const Tensor& tensor, const BoxWalk& box);

namespace detail {

inline SectorMask sectors_between(std::uint32_t first, std::uint32_t last) {
    return first >= last ? SectorMask{0} : static_cast<SectorMask>((1u << last) - (1u << first));
}

}  // namespace detail

// The sectors of the bytes [from, to) of a line.
struct TouchedSectors {
    SectorMask touched;
    SectorMask partial;
};
inline TouchedSectors touched_sectors(std::uint32_t from, std::uint32_t to) {
    constexpr std::uint32_t kSector = kSectorBytes;
    const SectorMask touched = detail::sectors_between(from / kSector, ceil_div(to, kSector));
    const SectorMask whole = detail::sectors_between(ceil_div(from, kSector), to / kSector);
    return {touched, static_cast<SectorMask>(touched & ~whole)};
}

namespace detail {

// Where a run of bytes is cut into requests beside the ends of lines.
struct Cuts {
    std::uint64_t edge = 0;
    std::uint64_t last_edge = 0;

    // Behind the first sector and before the last one of a run that begins inside a sector; else none.
    static Cuts of_tma(std::uint64_t begin, std::uint64_t end) {
        if (begin % kSectorBytes == 0) return {};
        return {(begin / kSectorBytes + 1) * kSectorBytes, end / kSectorBytes * kSectorBytes};
    }
    std::uint64_t after(std::uint64_t begin, std::uint64_t stop) const {
        if (edge > begin) stop = std::min(stop, edge);
        if (last_edge > begin) stop = std::min(stop, last_edge);
        return stop;
    }
};

// The requests for the bytes [begin, end).
template <class Visit>
void visit_run(std::uint64_t begin, std::uint64_t end, Cuts cuts, std::uint16_t& position, Visit& visit) {
    while (begin < end) {
        const std::uint64_t line = begin >> kLineShift;
        const std::uint64_t stop = cuts.after(begin, std::min(end, (line + 1) << kLineShift));
        const auto from = static_cast<std::uint32_t>(begin - (line << kLineShift));
        const auto to = static_cast<std::uint32_t>(stop - (line << kLineShift));
        const TouchedSectors sectors = touched_sectors(from, to);
        visit(LineRequest{static_cast<LineNumber>(line), sectors.touched, sectors.partial, position++,
                          static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to - from),
                          cuts.edge != 0});
        begin = stop;
    }
}

// A box at one step, cut to its tensor. Rows are everything but the last dimension.
struct ClippedBox {
    Index low{};
    Index high{};
    std::int64_t unclipped_low = 0;  // of the last dimension: where the first column begins
    std::int64_t unclipped_high = 0;
    bool empty = false;

    ClippedBox(const Tensor& tensor, const BoxWalk& box, std::int64_t step) {
        const auto rank = static_cast<std::size_t>(tensor.rank);
        for (std::size_t d = 0; d < rank; ++d) {
            const std::int64_t start = box.start[d] + step * box.step[d];
            unclipped_low = start;
            unclipped_high = start + box.extent[d];
            low[d] = std::max<std::int64_t>(unclipped_low, 0);
            high[d] = std::min(unclipped_high, tensor.shape[d]);
            empty = empty || low[d] >= high[d];
        }
    }
};

// Calls body(address of element 0 of the row) for each row, the last but one dimension fastest: rows of that
// one lie at a constant stride.
template <class Body>
void for_each_row(const Tensor& tensor, const ClippedBox& box, Body&& body) {
    const auto outer = static_cast<std::size_t>(tensor.rank - 1);
    if (outer == 0) return body(tensor.base);
    const std::size_t fastest = outer - 1;
    const auto stride = static_cast<std::uint64_t>(tensor.stride_bytes[fastest]);
    Index at = box.low;
    for (;;) {
        std::uint64_t address = tensor.base;
        for (std::size_t d = 0; d < outer; ++d)
            address += static_cast<std::uint64_t>(at[d] * tensor.stride_bytes[d]);
        for (std::int64_t i = box.low[fastest]; i < box.high[fastest]; ++i, address += stride) body(address);
        std::size_t d = fastest;
        while (d > 0 && ++at[d - 1] == box.high[d - 1]) {
            at[d - 1] = box.low[d - 1];
            --d;
        }
        if (d == 0) return;
    }
}

}  // namespace detail

// Calls visit(LineRequest) for each request of `box` at `step`.
template <class Visit>
void for_each_line(const Tensor& tensor, const BoxWalk& box, std::int64_t step, Visit&& visit) {
    const detail::ClippedBox clipped(tensor, box, step);
    if (clipped.empty) return;
    const auto inner = static_cast<std::size_t>(tensor.rank - 1);
    const std::int64_t element = tensor.element_bytes;
    const std::int64_t begin = clipped.low[inner] * element;
    const std::int64_t end = clipped.high[inner] * element;
    const std::int64_t box_end = clipped.unclipped_high * element;
    const std::int64_t width = box.path == Path::Tma ? kLineBytes : box_end - clipped.unclipped_low * element;
    std::uint16_t position = 0;
    for (std::int64_t column = clipped.unclipped_low * element; column < box_end; column += width) {
        const std::int64_t from = std::max(begin, column);
        const std::int64_t to = std::min(end, column + width);
        if (from >= to) continue;
        detail::for_each_row(tensor, clipped, [&](std::uint64_t row) {
            const std::uint64_t first = row + static_cast<std::uint64_t>(from);
            const std::uint64_t past = row + static_cast<std::uint64_t>(to);
            const auto cuts = box.path == Path::Tma ? detail::Cuts::of_tma(first, past) : detail::Cuts{};
            detail::visit_run(first, past, cuts, position, visit);
        });
    }
}

namespace detail {

// The lines of each row of a box, counted from the row's first element, when all of them are whole.
struct WholeRows {
    bool whole = false;
    std::uint64_t first = 0;
    std::uint64_t past = 0;

    WholeRows(const Tensor& tensor, const ClippedBox& clipped) {
        const auto inner = static_cast<std::size_t>(tensor.rank - 1);
        const std::int64_t element = tensor.element_bytes;
        const std::int64_t begin = clipped.low[inner] * element;
        const std::int64_t end = clipped.high[inner] * element;
        const std::int64_t column = clipped.unclipped_low * element;  // where TMA's first column begins
        std::int64_t places = static_cast<std::int64_t>(tensor.base) | begin | end | column;
        for (std::size_t d = 0; d < inner; ++d) places |= tensor.stride_bytes[d];
        whole = places % kLineBytes == 0;
        first = static_cast<std::uint64_t>(begin) >> kLineShift;
        past = static_cast<std::uint64_t>(end) >> kLineShift;
    }
};

}  // namespace detail

// Is every request for `box` at `step` a whole line of its own?
inline bool has_whole_rows(const Tensor& tensor, const BoxWalk& box, std::int64_t step) {
    const detail::ClippedBox clipped(tensor, box, step);
    return clipped.empty || detail::WholeRows(tensor, clipped).whole;
}

// When every request for `box` at `step` is a whole line of its own, calls visit(first line, lines) for each
// row, whose lines follow each other in memory, from the row of the first request to that of the last, and
// returns true: the lines of for_each_line, and several times as fast. Otherwise returns false.
template <class Visit>
bool for_each_whole_row(const Tensor& tensor, const BoxWalk& box, std::int64_t step, Visit&& visit) {
    const detail::ClippedBox clipped(tensor, box, step);
    if (clipped.empty) return true;
    const detail::WholeRows rows(tensor, clipped);
    if (!rows.whole) return false;
    detail::for_each_row(tensor, clipped, [&](std::uint64_t row) {
        visit(static_cast<LineNumber>((row >> kLineShift) + rows.first),
              static_cast<std::uint32_t>(rows.past - rows.first));
    });
    return true;
}

// Rows of whole lines at one stride from each other.
struct RowsAtStride {
    LineNumber first;     // line of the first row
    std::uint32_t lines;  // of a row
    std::uint32_t rows;
    std::uint64_t stride;  // lines
};
// The rows that for_each_whole_row visits, when they are at one stride and there are any.
std::optional<RowsAtStride> rows_at_stride(const Tensor& tensor, const BoxWalk& box, std::int64_t step);

// The boxes of the steps [begin, end) of a walk as one box at step 0, when each begins where the one before
// it ends and no line is cut there.
std::optional<BoxWalk> joined_steps(const Tensor& tensor, const BoxWalk& box, std::int64_t begin,
                                    std::int64_t end);

// Appends the requests of `box` at `step` to `requests`.
void expand(const Tensor& tensor, const BoxWalk& box, std::int64_t step, std::vector<LineRequest>& requests);

}  // namespace l2lens
