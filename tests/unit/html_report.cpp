// SPDX-License-Identifier: Apache-2.0
// Is what the page says what the documents say, whatever their texts, and is a document that is not whole
// refused?
#include "report/html_report.hpp"

#include <fstream>
#include <iterator>
#include <random>

#include "base/error.hpp"
#include "report/details_json.hpp"
#include "report/html_data.hpp"
#include "report/html_page.hpp"
#include "report/json_meta.hpp"
#include "report/limits_text.hpp"
#include "report/predict_document.hpp"
#include "report/shell_quoted.hpp"
#include "report/web_assets.hpp"
#include "support/catch.hpp"
#include "support/complaint.hpp"
#include "support/effort.hpp"

#include "golden/sample_report.hpp"

using namespace l2lens;
using nlohmann::ordered_json;

namespace {

// Two orders, one of them with details made by hand.
std::string sample_text() {
    const Kernel kernel = golden::small_gemm();
    const Machine machine = golden::small_machine();
    std::vector<Prediction> predictions{golden::prediction("row_major", 130, 50, 5e6, 2, 8),
                                        golden::prediction("</script><b>", 100, 75, 2e6, 4, 4)};
    RunDetails details;
    details.scale = 2;
    details.bin_length = 10'000;
    details.bins.resize(3);
    for (std::size_t i = 0; i < 3; ++i) {
        details.bins[i].events[Event::TexReadSectors] = 4;
        details.bins[i].events[Event::TexReadHits] = i;
        details.bins[i].state = std::vector<std::uint8_t>(2 * 16, static_cast<std::uint8_t>(i));
    }
    details.panels = {{{0, true}, 8, 1, 0}, {{1, false}, 8, 1, 8}};
    details.misses = MissClasses{4, 3, 2, 1};
    details.slice_requests = {4, 4, 4, 4};
    predictions[0].details = details;
    for (std::int32_t id = 0; id < 64; ++id) {
        predictions[0].tile_of_launch.push_back(id);
        predictions[0].schedule.push_back({id % 16, id * 1000, id * 1000 + 900});
    }
    return document_text(predict_document({machine, kernel, predictions, golden::fixed_meta()}));
}

// What read_report_document says of the sample after a change; "" when it takes it.
template <class Change>
std::string refusal(Change&& change) {
    ordered_json json = ordered_json::parse(sample_text());
    change(json);
    return test::complaint_of([&] { read_report_document(json.dump(), "r.json"); });
}

}  // namespace

TEST_CASE("Text in HTML is text") {
    CHECK(html_escaped("a<b & \"c\" > 'd'") == "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;");
    CHECK(html_escaped("two\nlines\x1b[0m") == "two\nlines [0m");
    CHECK(html_escaped("µ → 火") == "µ → 火");
    CHECK(json_in_script(R"({"a":"</script><!--"})") == R"({"a":"\u003c/script>\u003c!--"})");
    CHECK(ordered_json::parse(json_in_script(R"({"a":"</script>"})"))["a"] == "</script>");
}

TEST_CASE("A command is quoted as a shell reads it") {
    CHECK(shell_quoted("m=8192") == "m=8192");
    CHECK(shell_quoted("group_m:8,hilbert") == "group_m:8,hilbert");
    CHECK(shell_quoted("lua: return pid // tn") == "'lua: return pid // tn'");
    CHECK(shell_quoted("it's") == R"('it'\''s')");
    CHECK(shell_quoted("") == "''");
    CHECK(shell_quoted("$(x)") == "'$(x)'");
}

TEST_CASE("The document on the page has the figures of the JSON, in one line per list") {
    const std::string text = sample_text();
    CHECK_THAT(text, ContainsSubstring("\"l2_hit_rate_pct\": [0,25,50]"));  // i of 4 sectors
    CHECK_THAT(text, ContainsSubstring("\"hit\": [0,2,4]"));                // times the scale of 2
    const ReportDocument document = read_report_document(text, "r.json");
    const ordered_json data = html_data({&document, 1});
    const ordered_json whole = ordered_json::parse(text);
    for (std::size_t i = 0; i < 2; ++i) {
        ordered_json shown = data["predictions"][0]["results"][i];
        shown.erase("flows");
        CHECK(shown == whole["results"][i]);
    }
    CHECK(data["predictions"][0]["results"][0]["details"]["residency"]["held"][2] == std::string(32, 'C'));
}

TEST_CASE("Digits of residency are those of base64") {
    std::string digits;
    for (int i = 0; i < 64; ++i) digits += digit64(i);
    CHECK(digits == "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");  // RFC 4648
    CHECK(digit64(-1) == 'A');
    CHECK(digit64(99) == '/');
}

TEST_CASE("Bytes of the memory chart are sectors of 32 bytes") {
    const ordered_json flows = memory_flows({{"lts__d_sectors_fill_device.sum", 1000},
                                             {"lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum", 400},
                                             {"dram__sectors_read.sum", 1000}});
    REQUIRE(flows.size() == 3);
    const auto bytes_to = [&](const char* to) {
        for (const ordered_json& flow : flows)
            if (flow["from"] == "dram" && flow["to"] == to) return flow["bytes"].get<double>();
        return -1.0;
    };
    CHECK(bytes_to("home") == 400 * 32);
    CHECK(bytes_to("own") == 600 * 32);
    CHECK(bytes_to("dram") == 1000 * 32);
}

TEST_CASE("What a page says is not modelled, README.md says, too") {
    std::ifstream file(L2LENS_SOURCE_DIR "/README.md");
    const std::string readme{std::istreambuf_iterator<char>(file), {}};
    const std::size_t begin = readme.find("## What is not modelled");
    REQUIRE(begin != std::string::npos);
    const std::string section = readme.substr(begin, readme.find("\n## ", begin) - begin);
    for (const Limit& limit : kLimits) {
        const std::string what(limit.what);
        // Its own page says whether a prediction is of a sample.
        if (what != "A sample.") CHECK_THAT(section, ContainsSubstring(what));
    }
}

TEST_CASE("A page is one document that names no other") {
    if (!web_assets().missing.empty()) {
        CHECK_THROWS_WITH(check_report_can_be_drawn(), ContainsSubstring("apt-get install"));
        return;
    }
    const ReportDocument document = read_report_document(sample_text(), "r.json");
    const std::string page = html_report({&document, 1});
    CHECK_THAT(page, Catch::Matchers::StartsWith("<!DOCTYPE html>"));
    CHECK_THAT(page,
               ContainsSubstring("default-src &#39;none&#39;") || ContainsSubstring("default-src 'none'"));
    CHECK_THAT(page, ContainsSubstring("&lt;/script&gt;&lt;b&gt;</button>"));  // the order's name
    CHECK(page.find("src=\"http") == std::string::npos);
    CHECK(page.find("@import") == std::string::npos);
    CHECK_THAT(page, ContainsSubstring("l2lens predict gemm</pre>"));
    // As many scripts end as begin: no text has ended one.
    const auto occurrences = [&](const std::string& what) {
        std::size_t n = 0;
        for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++n;
        return n;
    };
    CHECK(occurrences("</script>") == 4);
    CHECK(occurrences("<b>") == 0);
}

TEST_CASE("What is no result is refused in one line that says where") {
    CHECK(refusal([](ordered_json&) {}).empty());
    CHECK(refusal([](ordered_json& j) { j = {1, 2}; }) == "r.json: an object is wanted here, not array");
    CHECK(refusal([](ordered_json& j) { j["schema"] = "l2lens/orders"; }) ==
          "r.json: schema: 'l2lens/orders' is no l2lens/prediction (predict --json) or l2lens/validation "
          "(validate "
          "--json)");
    CHECK(refusal([](ordered_json& j) { j["schema_version"] = "2.0.0"; }) ==
          "r.json: schema_version: '2.0.0', but this l2lens reads 1.x");
    CHECK(refusal([](ordered_json& j) { j.erase("results"); }) == "r.json: has no 'results'");
    CHECK(refusal([](ordered_json& j) { j["results"] = ordered_json::array(); }) ==
          "r.json: results: is empty: there is nothing to draw");
    CHECK(refusal([](ordered_json& j) { j["results"][1]["time_us"] = "fast"; }) ==
          "r.json: results[1].time_us: a number is wanted here, not string");
    CHECK(refusal([](ordered_json& j) { j["results"][0]["metrics"]["waves"] = nullptr; }) ==
          "r.json: results[0].metrics.waves: a number is wanted here, not null");
    CHECK(refusal([](ordered_json& j) { j["results"][0]["details"]["schedule"]["sm"].erase(0); }) ==
          "r.json: results[0].details.schedule.sm: 63 numbers, but there should be 64");
    CHECK(refusal([](ordered_json& j) { j["results"][0]["details"]["schedule"]["tile"][3] = 64; }) ==
          "r.json: results[0].details.schedule.tile[3]: 64 is not from -1 to 63");
    CHECK(refusal([](ordered_json& j) { j["results"][0]["details"]["residency"]["held"][1] = "A"; }) ==
          "r.json: results[0].details.residency.held[1]: is not one digit for each panel in each partition");
    CHECK(refusal([](ordered_json& j) { j.erase("machine"); }) == "r.json: has no 'machine'");
    CHECK(refusal([](ordered_json& j) {
              j.erase("machine");
              j["results"][0].erase("details");
          }).empty());  // 1.0 had none
}

TEST_CASE("Half a file is refused, wherever it ends") {
    const std::string text = sample_text();
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int i = 0; i < test::cases(200); ++i) {
        const std::string half = text.substr(0, random() % (text.size() - 2));
        CHECK_THROWS_AS(read_report_document(half, "r.json"), BadInput);
    }
    CHECK_THROWS_WITH(read_report_document(text.substr(0, text.size() / 2), "r.json"),
                      ContainsSubstring("half-written"));
    CHECK_THROWS_WITH(read_report_document("{\n \"a\": nonsense", "r.json"),
                      Catch::Matchers::StartsWith("r.json:2: no JSON"));
    CHECK_THROWS_AS(read_report_document("", "r.json"), BadInput);
    CHECK_THROWS_WITH(read_report_document("{\"a\": 10E8576}", "r.json"),
                      "r.json: a number in it is too large to be read");
}

TEST_CASE("A changed byte is refused or drawn, but never more than that") {
    const std::string text = sample_text();
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const int rounds = test::cases(1000);
    int accepted = 0;
    int refused = 0;
    for (int i = 0; i < rounds; ++i) {
        std::string changed = text;
        changed[random() % changed.size()] = static_cast<char>(' ' + random() % 95);
        try {
            const ReportDocument document = read_report_document(changed, "r.json");
            ++accepted;
            if (web_assets().missing.empty()) CHECK(html_report({&document, 1}).size() > text.size() / 2);
        } catch (const BadInput&) {
            ++refused;
        }
    }
    CHECK(accepted + refused == rounds);
    CHECK(accepted > 0);
    CHECK(refused > 0);
}
