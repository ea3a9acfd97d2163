// SPDX-License-Identifier: Apache-2.0
// The binary form: what is written comes back, and whatever happened to a file on its way is found out.
#include <limits>
#include <random>

#include "base/error.hpp"
#include "support/catch.hpp"
#include "support/complaint.hpp"
#include "trace/bytes.hpp"
#include "trace/form.hpp"
#include "trace/frames.hpp"
#include "trace/walk_code.hpp"
#include "trace/writer.hpp"

#include "trace_support.hpp"

using namespace l2lens;
using namespace l2lens::test;

namespace {

Tensor matrix(const std::string& name, std::int64_t rows, std::int64_t columns, std::uint64_t base) {
    Tensor tensor;
    tensor.name = name;
    tensor.rank = 2;
    tensor.shape = {rows, columns};
    tensor.stride_bytes = {columns * 2, 2};
    tensor.element_bytes = 2;
    tensor.base = base;
    return tensor;
}

TraceWalk walk_over(int tensor, Index start, Index step, std::int64_t count, Operation operation) {
    TraceWalk walk;
    walk.box.tensor = tensor;
    walk.box.start = start;
    walk.box.step = step;
    walk.box.extent = {8, 64};
    walk.count = count;
    walk.operation = operation;
    return walk;
}

TraceHeader box_header() {
    TraceHeader header;
    header.version = "1.2.3";
    header.kind = RecordKind::Box;
    header.kernel = "gemm";
    header.title = "gemm 64x64";
    header.params = {{"m", "64"}, {"dtype", "bf16"}};
    header.order = "group_m:8";
    header.mode = "grid";
    header.gpu = "tiny";
    header.gpu_hash = 0x0123456789abcdef;
    header.lanes = 1;
    header.lanes_of = 1;
    header.seed = 18446744073709551615u;
    header.tensors = {matrix("A", 64, 512, 0), matrix("B", 64, 512, 1 << 21)};
    header.walks = 3;
    return header;
}

const std::vector<TraceWalk> kWalks{walk_over(0, {0, 0}, {0, 64}, 8, Operation::Read),
                                    walk_over(1, {-4, 0}, {0, 64}, 8, Operation::Read),
                                    walk_over(1, {60, 448}, {0, 0}, 1, Operation::Write)};

TraceHeader line_header() {
    TraceHeader header = box_header();
    header.kind = RecordKind::Line;
    header.tensors.clear();
    header.walks = 0;
    return header;
}

template <class Record>
std::string trace_of(const TraceHeader& header, const std::vector<TraceWalk>& walks,
                     const std::vector<Record>& records) {
    std::ostringstream out;
    TraceWriter writer(out, header, walks);
    for (const Record& record : records) REQUIRE(writer.add(record));
    writer.finish(42);
    return out.str();
}

std::vector<BoxRecord> some_boxes(std::size_t count, std::mt19937_64& random) {
    std::vector<BoxRecord> boxes;
    Picoseconds window = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (random() % 8 == 0) window += static_cast<Picoseconds>(random() % 100'000);
        BoxRecord box;
        box.window = window;
        box.cycle_ps = window % 3 == 0 ? 505.05 : 1000.0;
        box.time = window + static_cast<Picoseconds>(random() % 1'000'000);
        box.walk = static_cast<std::uint32_t>(random() % kWalks.size());
        box.step = static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(kWalks[box.walk].count));
        box.sm = static_cast<std::uint16_t>(random() % 4);
        box.receivers = random() % 16 == 0 ? 2 : 1;
        boxes.push_back(box);
    }
    return boxes;
}

std::vector<LineRecord> some_lines(std::size_t count, std::mt19937_64& random) {
    std::vector<LineRecord> lines;
    Picoseconds window = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (random() % 8 == 0) window += static_cast<Picoseconds>(random() % 100'000);
        LineRecord line;
        line.window = window;
        line.time = window + static_cast<Picoseconds>(random() % 1'000'000);
        const std::uint64_t from = random() % kLineBytes;
        line.address = (random() % (kTraceAddressEnd / kLineBytes)) * kLineBytes + from;
        line.bytes = static_cast<std::uint8_t>(1 + random() % (kLineBytes - from));
        line.sm = static_cast<std::uint16_t>(random());
        line.receivers = static_cast<std::uint8_t>(1 + random() % 255);
        line.operation = random() % 2 == 0 ? Operation::Read : Operation::Write;
        line.path = static_cast<Path>(random() % 3);
        line.shifted = line.path == Path::Tma && random() % 4 == 0;
        line.hint = static_cast<CacheHint>(random() % 4);
        line.reduce = line.operation == Operation::Write && random() % 2 == 0;
        lines.push_back(line);
    }
    return lines;
}

// Where the frames begin; the last is the end of the file.
std::vector<std::size_t> frame_offsets(const std::string& bytes) {
    std::istringstream in(bytes);
    FrameReader frames(in, "t");
    std::vector<std::size_t> offsets{static_cast<std::size_t>(frames.offset())};
    while (frames.next()) offsets.push_back(static_cast<std::size_t>(frames.offset()));
    return offsets;
}

std::string complaint_about(const std::string& bytes) {
    std::string warning;
    const std::string refusal = test::complaint_of([&] {
        const auto reader = reader_of(bytes);
        RecordBatch batch;
        while (reader->next(batch)) {
        }
        warning = reader->warning();
    });
    return refusal.empty() ? warning : "refused: " + refusal;
}

}  // namespace

TEST_CASE("Numbers survive at their edges") {
    const std::vector<std::uint64_t> whole{0, 1, 127, 128, 16383, 16384, 1ull << 63, UINT64_MAX};
    const std::vector<std::int64_t> numbers{0, -1, 1, -64, 64, INT64_MIN, INT64_MAX};
    ByteWriter out;
    for (const auto value : whole) out.varint(value);
    for (const auto value : numbers) out.zigzag(value);
    out.f64(-0.1);
    ByteReader in(out.bytes(), "here");
    for (const auto value : whole) CHECK(in.varint() == value);
    for (const auto value : numbers) CHECK(in.zigzag() == value);
    CHECK(in.f64() == -0.1);
    CHECK(in.at_end());
    CHECK_THROWS_WITH(in.u8(), ContainsSubstring("here ends inside a number"));
    const std::string too_long(9, '\xff');
    CHECK_THROWS_WITH(ByteReader(too_long + "\x02", "x").varint(), ContainsSubstring("64 bits"));
    CHECK(ByteReader(too_long + "\x01", "x").varint() == UINT64_MAX);
}

TEST_CASE("Boxes come back as they were, over many frames") {
    std::mt19937_64 random(1);
    const std::vector<BoxRecord> boxes = some_boxes(200'000, random);
    const std::string bytes = trace_of(box_header(), kWalks, boxes);
    CHECK(frame_offsets(bytes).size() > 4);
    const auto reader = reader_of(bytes);
    CHECK(boxes_of(*reader) == boxes);
    CHECK(reader->warning().empty());
    REQUIRE(reader->end());
    CHECK(reader->end()->records == boxes.size());
    CHECK(reader->end()->sectors == 42);
    REQUIRE(reader->walks().size() == 3);
    CHECK(reader->walks()[1].box.start == kWalks[1].box.start);
    CHECK(reader->walks()[1].box.step == kWalks[1].box.step);
    CHECK(reader->walks()[2].box.extent == kWalks[2].box.extent);
    CHECK(reader->walks()[2].operation == Operation::Write);
}

TEST_CASE("Requests come back as they were") {
    std::mt19937_64 random(2);
    const std::vector<LineRecord> lines = some_lines(50'000, random);
    const auto reader = reader_of(trace_of(line_header(), {}, lines));
    CHECK(lines_of(*reader) == lines);
    CHECK(reader->warning().empty());
}

TEST_CASE("A trace without records is one") {
    const auto reader = reader_of(trace_of(line_header(), {}, std::vector<LineRecord>{}));
    CHECK(lines_of(*reader).empty());
    CHECK(reader->warning().empty());
}

TEST_CASE("The head is what traces/README.md says") {
    const std::string bytes = trace_of(box_header(), kWalks, std::vector<BoxRecord>{});
    CHECK(bytes.substr(0, 8) == std::string("\x89L2T\r\n\x1a\n", 8));
    CHECK(bytes.substr(8, 4) == std::string("\1\0\0\0", 4));
    const std::string json =
        R"({"schema":"l2lens/trace","l2lens":"1.2.3","records":"box","kernel":{"name":"gemm",)"
        R"("title":"gemm 64x64","params":{"m":"64","dtype":"bf16"}},"order":"group_m:8","mode":"grid",)"
        R"("gpu":{"name":"tiny","hash":"xxh64:0123456789abcdef"},"lanes":{"simulated":1,"of":1},)"
        R"("seed":18446744073709551615,"fences":0,"tensors":[{"name":"A","base":0,"shape":[64,512],)"
        R"("stride_bytes":[1024,2],"element_bytes":2},{"name":"B","base":2097152,"shape":[64,512],)"
        R"("stride_bytes":[1024,2],"element_bytes":2}],"walks":3})";
    CHECK(bytes.substr(24, json.size()) == json);
    const TraceHeader back = reader_of(bytes)->header();
    CHECK(header_json(back) == json);
}

TEST_CASE("A trace cut at any byte is refused, or reads up to its last whole frame") {
    std::mt19937_64 random(3);
    const std::vector<BoxRecord> boxes = some_boxes(60'000, random);
    const std::string bytes = trace_of(box_header(), kWalks, boxes);
    const std::vector<std::size_t> frames = frame_offsets(bytes);
    REQUIRE(frames.size() > 4);  // walks, records, records, end
    const std::size_t after_walks = frames[1];
    std::vector<std::size_t> cuts;
    for (std::size_t cut = 0; cut < std::min<std::size_t>(bytes.size(), after_walks + 300); ++cut)
        cuts.push_back(cut);
    for (const std::size_t frame : frames)
        for (std::size_t cut = frame - 3; cut < std::min(bytes.size(), frame + 40); ++cut)
            cuts.push_back(cut);
    for (const std::size_t cut : cuts) {
        INFO("cut at byte " << cut);
        if (cut < after_walks) {
            CHECK_THROWS_AS(reader_of(bytes.substr(0, cut)), BadInput);
            continue;
        }
        const auto reader = reader_of(bytes.substr(0, cut));
        const std::vector<BoxRecord> read = boxes_of(*reader);
        REQUIRE(read.size() <= boxes.size());
        CHECK(std::equal(read.begin(), read.end(), boxes.begin()));
        const auto whole = static_cast<std::size_t>(std::upper_bound(frames.begin(), frames.end(), cut) -
                                                    frames.begin() - 1);
        CHECK_THAT(reader->warning(), ContainsSubstring("cut"));
        CHECK_THAT(reader->warning(), ContainsSubstring("frame " + std::to_string(whole + 1)));
        CHECK_FALSE(reader->end());
    }
}

TEST_CASE("Any flipped bit is found, and its frame named") {
    std::mt19937_64 random(4);
    const std::string bytes = trace_of(box_header(), kWalks, some_boxes(40, random));
    const std::size_t first_frame = frame_offsets(bytes).front();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string bad = bytes;
            bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
            INFO("byte " << at << ", bit " << bit);
            const std::string complaint = complaint_about(bad);
            REQUIRE(complaint.starts_with("refused: t.l2t"));
            REQUIRE((at < first_frame || complaint.find("frame ") != std::string::npos));
        }
    }
}

TEST_CASE("Frames that are moved, doubled, dropped or of another trace are found") {
    std::mt19937_64 random(5);
    const std::string bytes = trace_of(box_header(), kWalks, some_boxes(100'000, random));
    const std::vector<std::size_t> at = frame_offsets(bytes);
    REQUIRE(at.size() >= 5);
    const auto frame = [&](std::size_t i) { return bytes.substr(at[i], at[i + 1] - at[i]); };
    const std::string head = bytes.substr(0, at[1]);  // with the walks
    const std::string last = frame(at.size() - 2);
    CHECK_THAT(complaint_about(head + frame(2) + frame(1) + last), ContainsSubstring("frame 2 at byte"));
    CHECK_THAT(complaint_about(head + frame(1) + frame(1) + last), ContainsSubstring("frame 3 at byte"));
    CHECK_THAT(complaint_about(head + last), ContainsSubstring("frame 2 at byte"));
    CHECK_THAT(complaint_about(bytes + "x"), ContainsSubstring("followed by more bytes"));
    CHECK_THAT(complaint_about(bytes + bytes), ContainsSubstring("refused"));
    TraceHeader other = box_header();
    other.seed = 1;
    const std::string foreign = trace_of(other, kWalks, some_boxes(10, random));
    const std::vector<std::size_t> foreign_at = frame_offsets(foreign);
    CHECK_THAT(complaint_about(head + foreign.substr(foreign_at[1])), ContainsSubstring("frame 2 at byte"));
}

TEST_CASE("Other files and other versions are refused") {
    CHECK_THAT(complaint_about(""), ContainsSubstring("empty"));
    CHECK_THAT(complaint_about("\x89PNG\r\n\x1a\n0123456789abcdef"), ContainsSubstring("no l2lens trace"));
    CHECK_THAT(complaint_about(std::string(100, '\0')), ContainsSubstring("no l2lens trace"));
    std::string later = trace_of(line_header(), {}, std::vector<LineRecord>{});
    later[8] = 2;
    CHECK_THAT(complaint_about(later), ContainsSubstring("version 2; this program reads version 1"));
}

TEST_CASE("A trace stops at its largest size and stays readable") {
    std::mt19937_64 random(6);
    const std::vector<LineRecord> lines = some_lines(400'000, random);
    for (const std::uint64_t most : {1'000u, 400'000u, 1'000'000u}) {
        std::ostringstream out;
        TraceWriter writer(out, line_header(), {}, most);
        std::size_t added = 0;
        while (added < lines.size() && writer.add(lines[added])) ++added;
        CHECK(added < lines.size());
        CHECK_FALSE(writer.finish(7).complete);
        CHECK(out.str().size() <= most);
        CHECK(out.str().size() == writer.written());
        const auto reader = reader_of(out.str());
        const std::vector<LineRecord> read = lines_of(*reader);
        CHECK(read.size() <= added);
        CHECK((most < 400'000 || !read.empty()));
        CHECK(std::equal(read.begin(), read.end(), lines.begin()));
        CHECK_THAT(reader->warning(), ContainsSubstring("largest size"));
    }
    std::ostringstream out;
    CHECK_THROWS_WITH(TraceWriter(out, line_header(), {}, 100),
                      ContainsSubstring("--max-size 100 is too small"));
}

TEST_CASE("What a head must not say") {
    struct Case {
        const char* from;
        const char* to;
        const char* complaint;
    };
    const std::vector<Case> cases{
        {"\"l2lens/trace\"", "\"l2lens/other\"", "'schema'"},
        {"\"box\"", "\"tile\"", "'records'"},
        {"\"m\":\"64\"", "\"m\":64", "'m' is no text"},
        {"xxh64:0", "xxh32:0", "'hash'"},
        {"\"simulated\":1", "\"simulated\":2", "'simulated'"},
        {"\"simulated\":1", "\"simulated\":0", "'lanes'"},
        {"\"shape\":[64,512]", "\"shape\":[64]", "'stride_bytes'"},
        {"\"shape\":[64,512]", "\"shape\":[0,512]", "'shape' has a 0"},
        {"\"shape\":[64,512]", "\"shape\":[640000000,512]", "512 GiB"},
        {"\"shape\":[64,512]", "\"shape\":[-64,512]", "'shape'"},
        {"\"base\":0", "\"base\":549755813888", "'base'"},
        {"\"element_bytes\":2", "\"element_bytes\":0", "'element_bytes'"},
        {"[1024,2]", "[1024,4]", "'stride_bytes'"},
        {"\"walks\":3", "\"walks\":4000000000", "'walks'"},
        {"\"walks\":3", "\"walks\":3.5", "'walks'"},
        {"\"seed\":18446744073709551615", "\"seed\":-1", "'seed'"},
        {"\"fences\":0", "\"fences\":-1", "'fences'"},
        {"\"fences\":0", "\"fences\":9007199254740993", "'fences'"},
        {",\"walks\":3", "", "'walks' is missing"},
        {"{\"schema\"", "[{\"schema\"", "no JSON"},
    };
    const std::string json = header_json(box_header());
    for (const Case& c : cases) {
        std::string bad = json;
        const std::size_t at = bad.find(c.from);
        REQUIRE(at != std::string::npos);
        bad.replace(at, std::string(c.from).size(), c.to);
        INFO(bad);
        CHECK_THROWS_WITH(parse_header_json(bad, "t.l2t: head"),
                          ContainsSubstring(c.complaint) && ContainsSubstring("t.l2t: head"));
    }
}

TEST_CASE("A walk keeps its hint and that it adds") {
    const std::vector<Tensor> tensors{matrix("A", 64, 512, 0)};
    for (const CacheHint hint :
         {CacheHint::None, CacheHint::EvictFirst, CacheHint::EvictLast, CacheHint::NoAllocate}) {
        for (const bool reduce : {false, true}) {
            TraceWalk walk = walk_over(0, {0, 0}, {0, 64}, 8, Operation::Write);
            walk.box.hint = hint;
            walk.box.reduce = reduce;
            ByteWriter out;
            encode_walk(out, walk, 2);
            ByteReader in(out.bytes(), "frame 1");
            const TraceWalk back = decode_walk(in, tensors);
            CHECK(back.box.hint == hint);
            CHECK(back.reduces() == reduce);
            CHECK(in.at_end());
        }
    }
}

TEST_CASE("Forms are the bits that traces/README.md says, and others are refused") {
    struct Case {
        unsigned bits;
        const char* complaint;  // "" for none
    };
    const std::vector<Case> cases{
        {0x00, ""},  // tma read
        {0x05, ""},  // ld write
        {0x09, ""},  // tma write, shifted
        {0x41, ""},  // tma write that adds
        {0x61, ""},  // the same, evict_last
        {0x34, ""},  // ld read, no_allocate
        {0x06, "has a record of an unknown path"},
        {0x0a, "has a record that is shifted, but not TMA's"},
        {0x40, "has a record that reads and adds"},
        {0x80, "has a record of an unknown form"},
    };
    for (const Case& c : cases) {
        INFO(c.bits);
        const std::string byte(1, static_cast<char>(c.bits));
        ByteReader in(byte, "frame 1");
        if (*c.complaint != '\0') {
            CHECK_THROWS_WITH(decode_form(in, "record"), std::string("frame 1 ") + c.complaint);
            continue;
        }
        const AccessForm form = decode_form(in, "record");
        CHECK((form.operation == Operation::Write) == ((c.bits & 1) != 0));
        CHECK(static_cast<unsigned>(form.path) == (c.bits >> 1 & 3));
        CHECK(form.shifted == ((c.bits & 8) != 0));
        CHECK(static_cast<unsigned>(form.hint) == (c.bits >> 4 & 3));
        CHECK(form.reduce == ((c.bits & 0x40) != 0));
        ByteWriter out;
        encode_form(out, form);
        CHECK(out.bytes() == byte);
    }
}

TEST_CASE("Walks that could not be expanded are refused") {
    const std::vector<Tensor> tensors{matrix("A", 64, 512, 0)};
    const auto complaint = [&](TraceWalk walk) {
        ByteWriter out;
        encode_walk(out, walk, 2);
        ByteReader in(out.bytes(), "frame 1");
        return test::complaint_of([&] { decode_walk(in, tensors); });
    };
    const TraceWalk good = kWalks[0];
    CHECK(complaint(good).empty());
    TraceWalk bad = good;
    bad.box.tensor = 1;
    CHECK_THAT(complaint(bad), ContainsSubstring("tensor"));
    bad = good;
    bad.count = 0;
    CHECK_THAT(complaint(bad), ContainsSubstring("without steps"));
    bad = good;
    bad.box.extent = {0, 64};
    CHECK_THAT(complaint(bad), ContainsSubstring("empty box"));
    bad.box.extent = {1 << 20, 64};
    CHECK_THAT(complaint(bad), ContainsSubstring("too many requests"));
    bad = good;
    bad.box.start = {INT64_MIN, 0};
    CHECK_THAT(complaint(bad), ContainsSubstring("out of range"));
    bad = good;
    bad.box.step = {std::int64_t{1} << 40, 0};
    CHECK_THAT(complaint(bad), ContainsSubstring("out of range"));
}
