// SPDX-License-Identifier: Apache-2.0
#include "trace/walk_code.hpp"

#include <cstdlib>

#include "kernel/box_lines.hpp"
#include "trace/form.hpp"

namespace l2lens {
namespace {

// Elements, whatever the step; times 16 B they stay far below 2^63.
constexpr std::int64_t kFarthest = std::int64_t{1} << 40;
constexpr std::int64_t kMostSteps = std::int64_t{1} << 32;

bool within_reach(std::int64_t start, std::int64_t step, std::int64_t count) {
    const auto last = static_cast<__int128>(step) * (count - 1) + start;
    return start >= -kFarthest && start <= kFarthest && last >= -kFarthest && last <= kFarthest &&
           step >= -kFarthest && step <= kFarthest;
}

}  // namespace

void encode_walk(ByteWriter& out, const TraceWalk& walk, int rank) {
    out.varint(static_cast<std::uint64_t>(walk.box.tensor));
    encode_form(out, {walk.operation, walk.box.path, false, walk.reduces(), walk.box.hint});
    out.varint(static_cast<std::uint64_t>(walk.count));
    for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d) {
        out.zigzag(walk.box.start[d]);
        out.zigzag(walk.box.step[d]);
        out.varint(static_cast<std::uint64_t>(walk.box.extent[d]));
    }
}

TraceWalk decode_walk(ByteReader& in, std::span<const Tensor> tensors) {
    TraceWalk walk;
    walk.box.tensor = static_cast<int>(in.below(tensors.size(), "a walk's tensor"));
    const Tensor& tensor = tensors[static_cast<std::size_t>(walk.box.tensor)];
    const AccessForm form = decode_form(in, "walk");
    if (form.shifted) in.fail("has a walk that says of lines that they are shifted");
    walk.operation = form.operation;
    walk.box.path = form.path;
    walk.box.reduce = form.reduce;
    walk.box.hint = form.hint;
    walk.count = static_cast<std::int64_t>(in.below(kMostSteps, "a walk's count"));
    if (walk.count == 0) in.fail("has a walk without steps");
    for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d) {
        walk.box.start[d] = in.zigzag();
        walk.box.step[d] = in.zigzag();
        walk.box.extent[d] = static_cast<std::int64_t>(in.below(kFarthest, "a walk's extent"));
        if (walk.box.extent[d] == 0) in.fail("has an empty box");
        if (!within_reach(walk.box.start[d], walk.box.step[d], walk.count))
            in.fail("has a walk out of range");
    }
    if (most_requests(tensor, walk.box) > kMostBoxRequests) in.fail("has a box of too many requests");
    return walk;
}

}  // namespace l2lens
