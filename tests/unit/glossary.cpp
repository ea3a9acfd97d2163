// SPDX-License-Identifier: Apache-2.0
// Is everything explained, and is what is explained still so?
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "glossary/entry.hpp"
#include "glossary/event_notes.hpp"
#include "glossary/parameter_notes.hpp"
#include "machine/parameters.hpp"
#include "support/catch.hpp"

using namespace l2lens;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
}

// Every name in sim/ but for this folder, whose texts name what they explain, and after each the one before
// it: "Lane" and "class Lane".
std::set<std::string> names_in_sources() {
    std::set<std::string> names;
    const fs::path root = fs::path(L2LENS_SOURCE_DIR) / "sim";
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        const bool source = entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp";
        if (!source || entry.path().parent_path().filename() == "glossary") continue;
        std::string before, name;
        for (const char c : text_of(entry.path()) + ' ') {
            if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
                name += c;
            } else if (!name.empty()) {
                names.insert(name);
                names.insert(before + " " + name);
                before = std::exchange(name, "");
            }
        }
    }
    return names;
}

const Metric& metric(std::string_view id) {
    const Metric* found = find_metric(id);
    REQUIRE(found != nullptr);
    return *found;
}

}  // namespace

TEST_CASE(
    "Every counter, metric and parameter has a unit, a meaning, a formula, a vendor's name and a place in "
    "the model") {
    std::size_t explained = 0;
    for (const Entry& entry : all_entries()) {
        CAPTURE(entry.word);
        CHECK(!entry.meaning.empty());
        if (entry.kind == EntryKind::Word || entry.kind == EntryKind::Order) continue;
        ++explained;
        CHECK(!entry.unit.empty());
        CHECK(!entry.formula.empty());
        CHECK(!entry.vendor.empty());
        CHECK(!entry.model.empty());
    }
    CHECK(explained == all_metrics().size() + parameter_table().size());
}

TEST_CASE("Every note is about a parameter that there is") {
    std::set<std::string_view> keys;
    for (const ParameterNote& note : parameter_notes()) {
        CAPTURE(note.key);
        CHECK(find_parameter(note.key) != nullptr);
        CHECK(keys.insert(note.key).second);
    }
}

TEST_CASE("Every event has its own note") {
    for (int e = 0; e < kEventCount; ++e) {
        CAPTURE(e);
        CHECK(event_note(static_cast<Event>(e)).event == static_cast<Event>(e));
        CHECK(!event_note(static_cast<Event>(e)).where.empty());
    }
}

TEST_CASE("No word stands for two things") {
    std::set<std::string> words;
    for (const Entry& entry : all_entries()) {
        CAPTURE(entry.word);
        CHECK(words.insert(entry.word).second);
        CHECK(find_entry(entry.word)->kind == entry.kind);
    }
}

TEST_CASE("The functions that entries point to exist") {
    const std::set<std::string> code = names_in_sources();
    REQUIRE(code.size() > 5'000);
    const std::regex reference(R"(([A-Z]\w+)::(\w+)|(\w+)\(\))");
    int references = 0;
    for (const Entry& entry : all_entries()) {
        for (std::sregex_iterator match(entry.model.begin(), entry.model.end(), reference), end; match != end;
             ++match) {
            ++references;
            const std::string type = (*match)[1];
            const std::string name = (*match)[2].matched ? (*match)[2] : (*match)[3];
            CAPTURE(entry.word, type, name);
            CHECK(code.contains(name));
            if (!type.empty()) CHECK((code.contains("class " + type) || code.contains("struct " + type)));
        }
    }
    CHECK(references > 50);
}

TEST_CASE("What a metric is counted from is found from its function") {
    CHECK(counted_from(metric("dram__sectors_read.sum")) == "FillSectors (Lane::read_dram)");
    CHECK_THAT(counted_from(metric("merged_pct")),
               Contains("CoalescableSectors") && Contains("MergedSectors") && !Contains("TexReadSectors"));
    CHECK_THAT(counted_from(metric("lts__t_sectors.avg")), Contains("l2.slices_per_partition"));
    CHECK_THAT(counted_from(metric("lts__cycles_elapsed.avg")), Contains("clock.l2"));
    CHECK(counted_from(metric("lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum")) ==
          "FabricReadMisses (Lane::on_home_lookup and store)");
}

TEST_CASE("An order is found with its parameters, and nothing is found that there is not") {
    CHECK(find_entry("group_m:8")->word == "group_m");
    CHECK(find_entry("sector")->kind == EntryKind::Word);
    CHECK(find_entry("latency.dram")->unit == "ns");
    CHECK(!find_entry("latency"));
    CHECK(!find_entry(""));
}

TEST_CASE("docs/glossary.md is what the tables say: docs/refresh glossary writes it") {
    CHECK((text_of(fs::path(L2LENS_SOURCE_DIR) / "docs/glossary.md") == glossary_markdown()));
}
