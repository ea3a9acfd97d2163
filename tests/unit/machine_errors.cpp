// SPDX-License-Identifier: Apache-2.0
// Each way to write a wrong machine file gets its one line: what, where, what would be right.
#include <algorithm>
#include <cctype>

#include "base/random.hpp"
#include "load/machine_file.hpp"
#include "load/text_file.hpp"
#include "support/catch.hpp"
#include "support/complaint.hpp"

using namespace l2lens;

namespace {

std::string tiny_text() {
    return read_text_file(L2LENS_SOURCE_DIR "/models/gpus/tiny.toml");
}

// The text of tiny.toml with its first `from` replaced, and the line where that stands.
struct Edited {
    std::string text;
    int line;
};

Edited tiny_with(const std::string& from, const std::string& to) {
    std::string text = tiny_text();
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    text.replace(at, from.size(), to);
    return {text, static_cast<int>(line)};
}

std::string complaint(const std::string& text) {
    return test::complaint_of([&] { parse_machine(text, "my/gpu.toml"); });
}

// The whole line, with the line number counted by the test itself.
void expect(const std::string& from, const std::string& to, const std::string& message, int lines_up = 0) {
    const Edited edited = tiny_with(from, to);
    CHECK(complaint(edited.text) == "my/gpu.toml:" + std::to_string(edited.line - lines_up) + ": " + message);
}

// The line of tiny.toml that begins with `start`, to be replaced as a whole.
std::string line_starting(const std::string& start) {
    const std::string text = tiny_text();
    const std::size_t at = text.find("\n" + start);
    REQUIRE(at != std::string::npos);
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

}  // namespace

TEST_CASE("A mask may stand as one number") {
    const Edited edited = tiny_with("value = [[7]]", "value = [0x80]");
    CHECK(parse_machine(edited.text, "tiny.toml").hash.home_masks == std::vector<std::uint64_t>{0x80});
}

TEST_CASE("What TOML itself refuses is reported at its line") {
    CHECK_THAT(complaint("description = \"x\"\nchip = \n"), ContainsSubstring("my/gpu.toml:2: "));
    const Edited twice = tiny_with("chip = ", "chip = \"a\"\nchip = ");
    CHECK_THAT(complaint(twice.text),
               ContainsSubstring("my/gpu.toml:" + std::to_string(twice.line + 1) + ": "));
    CHECK(complaint(twice.text).find('\n') == std::string::npos);
    CHECK(complaint("") == "my/gpu.toml:1: 'description' is missing");
}

TEST_CASE("Unknown keys are named with the nearest known one") {
    expect("dram_jitter", "dram_jiter", "unknown key 'latency.dram_jiter'; did you mean 'dram_jitter'?");
    expect("[coalescer]", "[coalescr]", "unknown key 'coalescr'; did you mean 'coalescer'?");
    expect("chip = ", "chips = ", "unknown key 'chips'; did you mean 'chip'?");
    const std::string ways = line_starting("ways");
    expect(ways, "ways = { valu = 4, source = \"s\", confidence = \"inferred\" }",
           "unknown key 'l2.ways.valu'; did you mean 'value'?");
}

TEST_CASE("Missing keys are named at their section or parameter") {
    const Edited edited = tiny_with(line_starting("ways") + "\n", "");
    const Edited header = tiny_with("[l2]", "[l2]");
    CHECK(complaint(edited.text) == "my/gpu.toml:" + std::to_string(header.line) + ": 'l2.ways' is missing");
    expect(line_starting("ways"), "ways = { value = 4, confidence = \"inferred\" }",
           "'l2.ways.source' is missing");
    expect(line_starting("ways"), "ways = { source = \"s\", confidence = \"inferred\" }",
           "'l2.ways.value' is missing");
    expect(line_starting("ways"), "ways = { value = 4, source = \"s\" }", "'l2.ways.confidence' is missing");
    expect("unit = \"KiB\", ", "", "'sm.shared_memory.unit' is missing; it is 'KiB'");
}

TEST_CASE("A wrong unit is answered with the right one") {
    expect("unit = \"L2 cycles\"", "unit = \"cycles\"",
           "the unit of 'latency.hit' is 'L2 cycles', not 'cycles'");
    expect(line_starting("ways"),
           "ways = { value = 4, unit = \"B\", source = \"s\", confidence = \"inferred\" }",
           "the unit of 'l2.ways' is nothing (a count), not 'B'");
}

TEST_CASE("A wrong type is answered with the right one") {
    const std::string rest = ", source = \"s\", confidence = \"inferred\" }";
    expect(line_starting("ways"), "ways = { value = 4.0" + rest,
           "'l2.ways' must be a whole number, not a decimal number");
    expect(line_starting("ways"), "ways = { value = nan" + rest,
           "'l2.ways' must be a whole number, not nan or inf");
    expect(line_starting("ways"), "ways = { value = \"4\"" + rest,
           "'l2.ways' must be a whole number, not text");
    expect(line_starting("ways"), "ways = 4",
           "'l2.ways' must say where it is from: { value = ..., unit = \"\", source = \"...\", confidence = "
           "\"...\" }");
    expect("value = true", "value = 1", "'coalescer.present' must be true or false, not a whole number");
    expect("value = [[7]]", "value = 7",
           "'hash.home_masks' must be a list of lists of bits, not a whole number");
    expect("value = [[7]]", "value = [[true]]",
           "'hash.home_masks' must be a whole number, not true or false");
    expect("    [0, 1],", "    0, 1,", "'topology.sms' must be a list of whole numbers, not a whole number");
    expect("chip = \"\"", "chip = 3", "'chip' must be text, not a whole number");
    expect("confidence = \"inferred\"", "confidence = \"sure\"",
           "'topology.partitions.confidence' is measured, documented or inferred, not 'sure'");
    expect("unit = \"ns\"", "unit = 9", "'latency.sm_to_slice.unit' must be text, not a whole number");
    const Edited edited = tiny_with("[topology]", "coalescer = 3\n[topology]");
    const std::string coalescer = edited.text.substr(edited.text.find("\n[coalescer]"));
    std::string text = edited.text;
    text.erase(text.find("\n[coalescer]"), coalescer.find("\n[clock]"));
    CHECK(complaint(text) ==
          "my/gpu.toml:" + std::to_string(edited.line) + ": 'coalescer' must be a section, [coalescer]");
}

TEST_CASE("A number out of range is answered with the range") {
    const auto edit = [](const std::string& key, const std::string& value, const std::string& unit) {
        return key + " = { value = " + value + ", unit = \"" + unit +
               "\", source = \"s\", confidence = \"inferred\" }";
    };
    expect(line_starting("tag    ="), edit("tag", "0", "requests/L2 cycle"),
           "'bandwidth.tag' is 0 requests/L2 cycle; it must be between 0.001 and 1000");
    expect(line_starting("tag    ="), edit("tag", "nan", "requests/L2 cycle"),
           "'bandwidth.tag' is nan requests/L2 cycle; it must be between 0.001 and 1000");
    expect(line_starting("slice_to_sm"), edit("slice_to_sm", "-1", "ns"),
           "'latency.slice_to_sm' is -1 ns; it must be between 0 and 100000");
    expect(line_starting("ways"), edit("ways", "99999999999", ""),
           "'l2.ways' is 99999999999; it must be between 1 and 1024");
    // 2^53 + 1 is the first whole number between two doubles.
    for (const char* huge : {"9007199254740992", "9007199254740993", "9223372036854775807"}) {
        const std::string text = tiny_with(line_starting("hit "), edit("hit", huge, "L2 cycles")).text;
        CHECK_THAT(complaint(text), ContainsSubstring("'latency.hit' is 9") &&
                                        ContainsSubstring("; it must be between 0 and 100000"));
    }
    expect("value = [[7]]", "value = [[64]]", "'hash.home_masks' is 64 bits; it must be between 0 and 63");
    expect("value = [[7]]", "value = [[7, 7]]", "'hash.home_masks' lists a bit twice");
}

TEST_CASE("An impossible SM table is refused at its list") {
    // The problem of a list is reported where the list's parameter begins: its value stands a few lines
    // below.
    expect("    [2, 3],", "    [2, 1],", "'topology.sms' SM 1 is listed twice", 3);
    expect("    [2, 3],", "    [2, 7],",
           "'topology.sms' SM 7 is out of range: there are 4 SMs, numbered from 0", 3);
    expect("    [2, 3],", "    [2, 3], [],", "'topology.sms' GPC 2 has no SM", 3);
    expect("    0, 1,\n", "    0, 0,\n", "'topology.partition_of_gpc' gives partition 1 no SM", 2);
    expect("    0, 1,\n", "    0, 2,\n",
           "'topology.partition_of_gpc' names partition 2, but there are 2, numbered from 0", 2);
    expect("    0, 1,\n", "    0,\n",
           "'topology.partition_of_gpc' has 1 entries for the 2 GPCs of topology.sms", 2);
    expect("    0, 1, 2, 3,", "    0, 1, 2, 2,", "'topology.first_wave' SM 2 is listed twice", 2);
    expect("    0, 1, 2, 3,", "    0, 1, 2,", "'topology.first_wave' SM 3 is missing", 2);
}

TEST_CASE("An impossible geometry is refused at the parameter to look at") {
    const std::string rest = ", source = \"s\", confidence = \"inferred\" }";
    expect(line_starting("ways"), "ways = { value = 3" + rest,
           "'l2.slice' is 2048 bytes, not a whole number of sets of 3 lines of 128 bytes", 1);
    expect(line_starting("dirty_ways"), "dirty_ways = { value = 5" + rest,
           "'l2.dirty_ways' is 5; a set has 4 lines");
    expect(line_starting("fetch "), "fetch = { value = 48, unit = \"B\"" + rest,
           "'l2.fetch' is 48 B; it must be 32, 64 or 128");
    expect("value = [[7]]", "value = [[7], [8]]",
           "'hash.home_masks' has 2 masks; 2 partitions need 1 (one for each bit of the partition's number)");
    expect("value = [[7]]", "value = []",
           "'hash.home_masks' has 0 masks; 2 partitions need 1 (one for each bit of the partition's number)");
    expect("value = [[7]]", "value = [[]]",
           "'hash.home_masks' are not independent: some partition is nobody's home");
    expect("value = [[7]]", "value = [[6, 12]]",
           "'hash.home_masks' uses address bit 6, inside the 128 B that hash.interleave keeps in one slice");
    // Tensors lie below 512 GiB = 2^39 B.
    expect("value = [[7]]", "value = [[39]]",
           "'hash.home_masks' uses address bit 39; addresses have the bits 0 to 38");
    expect("value = [[7]]", "value = [[7, 63]]",
           "'hash.home_masks' uses address bit 63; addresses have the bits 0 to 38");
    CHECK(complaint(tiny_with("value = [[7]]", "value = [[38]]").text).empty());
    expect(line_starting("interleave"), "interleave = { value = 192, unit = \"B\"" + rest,
           "'hash.interleave' is 192 B; it must be a power of two");
    expect(line_starting("max_requesters"), "max_requesters = { value = 1" + rest,
           "'coalescer.max_requesters' is 1; a coalescer that merges serves at least 2");
    expect(line_starting("handshake"),
           "handshake = { value = 5, unit = \"cycles\"" + rest +
               "\nhandshake_jitter = { value = 11, unit = \"cycles\"" + rest,
           "'latency.handshake_jitter' is more than twice latency.handshake: some loads would leave before "
           "their stage is free",
           -1);
    expect(line_starting("shared_memory_per_cta"),
           "shared_memory_per_cta = { value = 228, unit = \"KiB\"" + rest,
           "'sm.shared_memory_per_cta' and sm.shared_memory_reserved are together 234496 bytes, more than "
           "the SM's 233472");
}

TEST_CASE("However a file is damaged, it is read or refused in one line") {
    const std::string whole = tiny_text();
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        INFO("seed " << seed);
        RandomStream random(seed, 1);
        std::string text = whole;
        for (std::uint32_t edits = 1 + random.below(3); edits > 0; --edits) {
            const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
            const std::size_t length = 1 + random.below(random.below(2) ? 3 : 200);
            const std::size_t from = random.below(static_cast<std::uint32_t>(text.size()));
            text.replace(at, length, text.substr(from, random.below(20)));
        }
        const std::string answer = complaint(text);  // any other exception fails the test
        if (answer.empty()) continue;
        CHECK(answer.starts_with("my/gpu.toml:"));
        CHECK(std::isdigit(static_cast<unsigned char>(answer.at(12))));
        CHECK(answer.find('\n') == std::string::npos);
    }
}
