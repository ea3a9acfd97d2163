// SPDX-License-Identifier: Apache-2.0
#include "trace/header.hpp"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "trace/records.hpp"

namespace l2lens {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSchema = "l2lens/trace";
constexpr std::size_t kMostTensors = 4096;
constexpr int kMostLanes = 4096;
constexpr std::uint64_t kMostFences = std::uint64_t{1} << 53;  // whole as a double

// One line, whatever names hold; bytes that are no UTF-8 are replaced.
std::string one_line(const ordered_json& json) {
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// Reads members of one object; each complaint names the key.
class Object {
public:
    Object(const ordered_json& json, std::string where) : json_(json), where_(std::move(where)) {
        if (!json.is_object()) throw BadInput(where_ + ": is no JSON object");
    }

    const ordered_json& at(const char* key) const {
        const auto found = json_.find(key);
        if (found == json_.end()) fail(key, "is missing");
        return *found;
    }
    std::string text(const char* key) const {
        if (!at(key).is_string()) fail(key, "is no text");
        return at(key).get<std::string>();
    }
    std::uint64_t whole(const char* key, std::uint64_t most) const { return whole(at(key), key, most); }
    bool truth(const char* key) const {
        if (!at(key).is_boolean()) fail(key, "is neither true nor false");
        return at(key).get<bool>();
    }
    std::vector<std::int64_t> list(const char* key, std::uint64_t most) const {
        if (!at(key).is_array() || at(key).empty() || at(key).size() > kMaxRank)
            fail(key, fmt::format("is no list of 1 to {} numbers", kMaxRank));
        std::vector<std::int64_t> numbers;
        for (const ordered_json& number : at(key)) {
            numbers.push_back(static_cast<std::int64_t>(whole(number, key, most)));
        }
        return numbers;
    }
    Object object(const char* key) const { return child(at(key), key); }
    Object child(const ordered_json& json, const std::string& name) const {
        return Object(json, where_ + ": '" + name + "'");
    }
    [[noreturn]] void fail(const std::string& key, const std::string& problem) const {
        throw BadInput(fmt::format("{}: '{}' {}", where_, key, problem));
    }
    const ordered_json& json() const { return json_; }

private:
    std::uint64_t whole(const ordered_json& number, const char* key, std::uint64_t most) const {
        if (!number.is_number_unsigned() || number.get<std::uint64_t>() > most)
            fail(key, fmt::format("is no whole number up to {}", most));
        return number.get<std::uint64_t>();
    }

    const ordered_json& json_;
    std::string where_;
};

ordered_json parse_json(std::string_view text, const std::string& where) {
    ordered_json json = ordered_json::parse(text.begin(), text.end(), nullptr, false);
    if (json.is_discarded()) throw BadInput(where + ": is no JSON");
    return json;
}

ordered_json tensor_json(const Tensor& tensor) {
    const auto rank = static_cast<std::ptrdiff_t>(tensor.rank);
    const auto list = [&](const Index& index) {
        return std::vector<std::int64_t>(index.begin(), index.begin() + rank);
    };
    return {{"name", tensor.name},
            {"base", tensor.base},
            {"shape", list(tensor.shape)},
            {"stride_bytes", list(tensor.stride_bytes)},
            {"element_bytes", tensor.element_bytes}};
}

// Every element lies below 512 GiB: checked here once, so that expanding boxes needs no checks.
Tensor parse_tensor(const Object& json) {
    Tensor tensor;
    tensor.name = json.text("name");
    tensor.base = json.whole("base", kTraceAddressEnd - 1);
    const auto shape = json.list("shape", kTraceAddressEnd);
    const auto strides = json.list("stride_bytes", kTraceAddressEnd);
    tensor.element_bytes = static_cast<int>(json.whole("element_bytes", 16));
    if (tensor.element_bytes == 0) json.fail("element_bytes", "is 0");
    if (strides.size() != shape.size()) json.fail("stride_bytes", "has not as many numbers as 'shape'");
    tensor.rank = static_cast<int>(shape.size());
    unsigned __int128 end = tensor.base + static_cast<unsigned>(tensor.element_bytes);
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 0) json.fail("shape", "has a 0");
        tensor.shape[d] = shape[d];
        tensor.stride_bytes[d] = strides[d];
        end += static_cast<unsigned __int128>(shape[d] - 1) * static_cast<std::uint64_t>(strides[d]);
    }
    if (strides.back() != tensor.element_bytes) json.fail("stride_bytes", "does not end in element_bytes");
    if (end > kTraceAddressEnd) json.fail("shape", "reaches beyond 512 GiB");
    return tensor;
}

std::uint64_t parse_hash(const Object& gpu) {
    const std::string text = gpu.text("hash");
    std::uint64_t hash = 0;
    const char* end = text.data() + text.size();
    if (!text.starts_with("xxh64:") || text.size() != 6 + 16) gpu.fail("hash", "is no xxh64:...");
    const auto [stop, error] = std::from_chars(text.data() + 6, end, hash, 16);
    if (error != std::errc{} || stop != end) gpu.fail("hash", "is no xxh64:...");
    return hash;
}

void parse_kernel(const Object& kernel, TraceHeader& header) {
    header.kernel = kernel.text("name");
    header.title = kernel.text("title");
    const Object params = kernel.object("params");
    for (const auto& [name, value] : params.json().items()) {
        header.params.emplace_back(name, params.text(name.c_str()));
    }
}

void parse_boxes(const Object& json, TraceHeader& header) {
    const ordered_json& tensors = json.at("tensors");
    if (!tensors.is_array() || tensors.size() > kMostTensors)
        json.fail("tensors", fmt::format("is no list of up to {} tensors", kMostTensors));
    for (const ordered_json& tensor : tensors)
        header.tensors.push_back(parse_tensor(json.child(tensor, "tensors")));
    header.walks = static_cast<std::uint32_t>(json.whole("walks", kMostTraceWalks));
}

}  // namespace

std::string header_json(const TraceHeader& header) {
    auto params = ordered_json::object();
    for (const auto& [name, value] : header.params) params[name] = value;
    ordered_json json{
        {"schema", kSchema},
        {"l2lens", header.version},
        {"records", header.kind == RecordKind::Box ? "box" : "line"},
        {"kernel", {{"name", header.kernel}, {"title", header.title}, {"params", std::move(params)}}},
        {"order", header.order},
        {"mode", header.mode},
        {"gpu", {{"name", header.gpu}, {"hash", fmt::format("xxh64:{:016x}", header.gpu_hash)}}},
        {"lanes", {{"simulated", header.lanes}, {"of", header.lanes_of}}},
        {"seed", header.seed},
        {"fences", header.fences}};
    if (header.kind == RecordKind::Box) {
        auto tensors = ordered_json::array();
        for (const Tensor& tensor : header.tensors) tensors.push_back(tensor_json(tensor));
        json["tensors"] = std::move(tensors);
        json["walks"] = header.walks;
    }
    return one_line(json);
}

TraceHeader parse_header_json(std::string_view text, const std::string& where) {
    const ordered_json parsed = parse_json(text, where);
    const Object json(parsed, where);
    if (json.text("schema") != kSchema) json.fail("schema", fmt::format("is not \"{}\"", kSchema));
    TraceHeader header;
    header.version = json.text("l2lens");
    const std::string kind = json.text("records");
    if (kind != "box" && kind != "line") json.fail("records", "is neither \"box\" nor \"line\"");
    header.kind = kind == "box" ? RecordKind::Box : RecordKind::Line;
    parse_kernel(json.object("kernel"), header);
    header.order = json.text("order");
    header.mode = json.text("mode");
    header.gpu = json.object("gpu").text("name");
    header.gpu_hash = parse_hash(json.object("gpu"));
    header.lanes_of = static_cast<int>(json.object("lanes").whole("of", kMostLanes));
    header.lanes = static_cast<int>(
        json.object("lanes").whole("simulated", static_cast<std::uint64_t>(header.lanes_of)));
    if (header.lanes_of > 0 && header.lanes == 0) json.fail("lanes", "has none simulated");
    header.seed = json.whole("seed", UINT64_MAX);
    if (parsed.contains("fences")) header.fences = json.whole("fences", kMostFences);  // older traces do not
    if (header.kind == RecordKind::Box) parse_boxes(json, header);
    return header;
}

std::string end_json(const TraceEnd& end) {
    return one_line({{"complete", end.complete}, {"records", end.records}, {"sectors", end.sectors}});
}

TraceEnd parse_end_json(std::string_view text, const std::string& where) {
    const ordered_json parsed = parse_json(text, where);
    const Object json(parsed, where);
    return {json.truth("complete"), json.whole("records", UINT64_MAX), json.whole("sectors", UINT64_MAX)};
}

}  // namespace l2lens
