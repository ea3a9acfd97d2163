// SPDX-License-Identifier: Apache-2.0
#include "kernel/box_lines.hpp"

namespace l2lens {

// A piece of w bytes touches at most ceil(w / 128) + 1 lines; one of TMA's 128 B is at most four requests.
std::int64_t most_requests(const Tensor& tensor, const BoxWalk& box) {
    const auto inner = static_cast<std::size_t>(tensor.rank - 1);
    const std::int64_t row_lines =
        ceil_div<std::int64_t>(box.extent[inner] * tensor.element_bytes, kLineBytes);
    std::int64_t requests = box.path == Path::Tma ? 4 * row_lines : row_lines + 1;
    for (std::size_t d = 0; d < inner; ++d) {
        if (__builtin_mul_overflow(requests, box.extent[d], &requests)) return INT64_MAX;
    }
    return requests;
}

void expand(const Tensor& tensor, const BoxWalk& box, std::int64_t step, std::vector<LineRequest>& requests) {
    for_each_line(tensor, box, step, [&](const LineRequest& request) { requests.push_back(request); });
}

}  // namespace l2lens
