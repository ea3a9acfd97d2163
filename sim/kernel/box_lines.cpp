// SPDX-License-Identifier: Apache-2.0
#include "kernel/box_lines.hpp"

namespace l2lens {

namespace {

// Can a row of the box, at any step, begin inside a sector?
bool may_be_shifted(const Tensor& tensor, const BoxWalk& box) {
    const auto inner = static_cast<std::size_t>(tensor.rank - 1);
    std::int64_t places = static_cast<std::int64_t>(tensor.base) | box.start[inner] * tensor.element_bytes |
                          box.step[inner] * tensor.element_bytes;
    for (std::size_t d = 0; d < inner; ++d) places |= tensor.stride_bytes[d];
    return places % kSectorBytes != 0;
}

}  // namespace

// A piece of w bytes touches at most ceil(w / 128) + 1 lines; one of TMA's 128 B is at most two requests, or
// four when it begins inside a sector.
std::int64_t most_requests(const Tensor& tensor, const BoxWalk& box) {
    const auto inner = static_cast<std::size_t>(tensor.rank - 1);
    const std::int64_t row_lines =
        ceil_div<std::int64_t>(box.extent[inner] * tensor.element_bytes, kLineBytes);
    const std::int64_t of_piece = may_be_shifted(tensor, box) ? 4 : 2;
    std::int64_t requests = box.path == Path::Tma ? of_piece * row_lines : row_lines + 1;
    for (std::size_t d = 0; d < inner; ++d) {
        if (__builtin_mul_overflow(requests, box.extent[d], &requests)) return INT64_MAX;
    }
    return requests;
}

std::optional<RowsAtStride> rows_at_stride(const Tensor& tensor, const BoxWalk& box, std::int64_t step) {
    if (tensor.rank < 2) return std::nullopt;
    const detail::ClippedBox clipped(tensor, box, step);
    if (clipped.empty) return std::nullopt;
    const auto fastest = static_cast<std::size_t>(tensor.rank - 2);
    std::uint64_t address = tensor.base;
    for (std::size_t d = 0; d <= fastest; ++d) {
        if (d < fastest && clipped.high[d] - clipped.low[d] != 1) return std::nullopt;
        address += static_cast<std::uint64_t>(clipped.low[d] * tensor.stride_bytes[d]);
    }
    const detail::WholeRows rows(tensor, clipped);
    if (!rows.whole) return std::nullopt;
    return RowsAtStride{static_cast<LineNumber>((address >> kLineShift) + rows.first),
                        static_cast<std::uint32_t>(rows.past - rows.first),
                        static_cast<std::uint32_t>(clipped.high[fastest] - clipped.low[fastest]),
                        static_cast<std::uint64_t>(tensor.stride_bytes[fastest]) >> kLineShift};
}

std::optional<BoxWalk> joined_steps(const Tensor& tensor, const BoxWalk& box, std::int64_t begin,
                                    std::int64_t end) {
    BoxWalk joined = box;
    const auto inner = static_cast<std::size_t>(tensor.rank - 1);
    int moving = 0;
    for (std::size_t d = 0; d <= inner; ++d) {
        joined.start[d] += begin * box.step[d];
        if (box.step[d] == 0) continue;
        ++moving;
        joined.extent[d] *= end - begin;
        const bool cut = d == inner && (box.start[d] | box.step[d]) * tensor.element_bytes % kLineBytes != 0;
        if (end - begin > 1 && (box.step[d] != box.extent[d] || cut)) return std::nullopt;
    }
    if (end - begin > 1 && moving != 1) return std::nullopt;
    return joined;
}

void expand(const Tensor& tensor, const BoxWalk& box, std::int64_t step, std::vector<LineRequest>& requests) {
    for_each_line(tensor, box, step, [&](const LineRequest& request) { requests.push_back(request); });
}

}  // namespace l2lens
