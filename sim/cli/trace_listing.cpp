// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_listing.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/interrupt.hpp"
#include "trace/text.hpp"

namespace l2lens::cli {
namespace {

// "[0, 64] + [128, 64]": where the box stands and how large it is, before it is cut to its tensor.
std::string box_text(const TraceWalk& walk, std::uint32_t step, int rank) {
    std::string at, size;
    for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d) {
        const char* comma = d == 0 ? "" : ", ";
        at += fmt::format("{}{}", comma, walk.box.start[d] + step * walk.box.step[d]);
        size += fmt::format("{}{}", comma, walk.box.extent[d]);
    }
    return fmt::format("[{}] + [{}]", at, size);
}

std::vector<std::string> box_row(const TraceReader& reader, const BoxRecord& box) {
    const TraceWalk& walk = reader.walks()[box.walk];
    const Tensor& tensor = reader.header().tensors[static_cast<std::size_t>(walk.box.tensor)];
    return {ns_text(box.time),
            std::to_string(box.sm),
            operation_name(walk.operation, walk.reduces()),
            tensor.name,
            box_text(walk, box.step, tensor.rank),
            path_name(walk.box.path),
            std::to_string(box.receivers),
            hint_name(walk.box.hint)};
}

std::vector<std::string> line_row(const LineRecord& line) {
    return {ns_text(line.time),
            std::to_string(line.sm),
            operation_name(line.operation, line.reduce),
            fmt::format("{:#x}", line.address),
            std::to_string(line.bytes),
            path_name(line),
            std::to_string(line.receivers),
            hint_name(line.hint)};
}

std::string params_text(const TraceHeader& header) {
    std::string text;
    for (const auto& [name, value] : header.params) text += (text.empty() ? "" : " ") + name + "=" + value;
    return text;
}

std::string lanes_text(const TraceHeader& header) {
    return header.lanes_of == 0 ? "all" : fmt::format("{} of {}", header.lanes, header.lanes_of);
}

}  // namespace

Listing trace_info(TraceReader& reader, const std::string& file) {
    std::uint64_t records = 0;
    Picoseconds first = kTraceTimeEnd, last = 0;
    const auto note = [&](const auto& batch) {
        for (const auto& record : batch) {
            first = std::min(first, record.time);
            last = std::max(last, record.time);
        }
    };
    RecordBatch batch;
    while (reader.next(batch)) {
        throw_if_interrupted();
        records += batch.size();
        note(batch.boxes);
        note(batch.lines);
    }
    const TraceHeader& header = reader.header();
    const bool boxes = header.kind == RecordKind::Box;
    std::error_code unknown;  // a pipe has no size
    const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
    Listing listing{"l2lens/trace_info", {"field", "value"}, {}};
    const auto add = [&](const char* field, const std::string& value) {
        if (!value.empty()) listing.rows.push_back({field, value});
    };
    add("file", file);
    add("bytes", unknown ? "" : std::to_string(bytes));
    add("written by", header.version.empty() ? "" : "l2lens " + header.version);
    add("kernel", header.kernel);
    add("parameters", params_text(header));
    add("order", header.order);
    add("mode", header.mode);
    add("gpu", header.gpu);
    add("gpu file", header.gpu.empty() ? "" : fmt::format("xxh64:{:016x}", header.gpu_hash));
    add("lanes", lanes_text(header));
    add("seed", std::to_string(header.seed));
    add("records", fmt::format("{} {}", records, boxes ? "boxes" : "requests"));
    add("walks", boxes ? std::to_string(header.walks) : "");
    for (const Tensor& tensor : header.tensors)
        add("tensor", fmt::format("{} at {:#x}", tensor.name, tensor.base));
    add("time", records == 0 ? "" : fmt::format("{} to {} ns", ns_text(first), ns_text(last)));
    add("complete", reader.warning().empty() ? "yes" : "no");
    return listing;
}

Listing trace_head(TraceReader& reader, std::uint64_t count) {
    const bool boxes = reader.header().kind == RecordKind::Box;
    Listing listing{"l2lens/trace_head", {}, {}};
    if (boxes) {
        listing.columns = {"time_ns", "sm", "op", "tensor", "box", "path", "receivers", "hint"};
    } else {
        listing.columns = {"time_ns", "sm", "op", "address", "bytes", "path", "receivers", "hint"};
    }
    RecordBatch batch;
    while (listing.rows.size() < count && reader.next(batch)) {
        for (std::size_t i = 0; i < batch.size() && listing.rows.size() < count; ++i)
            listing.rows.push_back(boxes ? box_row(reader, batch.boxes[i]) : line_row(batch.lines[i]));
    }
    return listing;
}

}  // namespace l2lens::cli
