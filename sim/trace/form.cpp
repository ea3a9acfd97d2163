// SPDX-License-Identifier: Apache-2.0
#include "trace/form.hpp"

namespace l2lens {
namespace {

constexpr unsigned kWrite = 1;
constexpr unsigned kPathShift = 1;
constexpr unsigned kPaths = 3;  // its largest value
constexpr unsigned kShifted = 8;
constexpr unsigned kHintShift = 4;
constexpr unsigned kHints = 3;
constexpr unsigned kReduce = 64;
constexpr unsigned kUnknown = 128;

}  // namespace

void encode_form(ByteWriter& out, const AccessForm& form) {
    unsigned bits = static_cast<unsigned>(form.path) << kPathShift;
    if (form.operation == Operation::Write) bits |= kWrite;
    if (form.shifted) bits |= kShifted;
    if (form.reduce) bits |= kReduce;
    bits |= static_cast<unsigned>(form.hint) << kHintShift;
    out.u8(static_cast<std::uint8_t>(bits));
}

AccessForm decode_form(ByteReader& in, const char* what) {
    const auto refuse = [&](const char* problem) { in.fail(std::string("has a ") + what + problem); };
    const unsigned bits = in.u8();
    const unsigned path = bits >> kPathShift & kPaths;
    if ((bits & kUnknown) != 0) refuse(" of an unknown form");
    if (path > static_cast<unsigned>(Path::Load)) refuse(" of an unknown path");
    AccessForm form;
    form.operation = (bits & kWrite) != 0 ? Operation::Write : Operation::Read;
    form.path = static_cast<Path>(path);
    form.shifted = (bits & kShifted) != 0;
    form.reduce = (bits & kReduce) != 0;
    form.hint = static_cast<CacheHint>(bits >> kHintShift & kHints);
    if (form.shifted && form.path != Path::Tma) refuse(" that is shifted, but not TMA's");
    if (form.reduce && form.operation == Operation::Read) refuse(" that reads and adds");
    return form;
}

}  // namespace l2lens
