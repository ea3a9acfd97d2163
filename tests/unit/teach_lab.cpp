// SPDX-License-Identifier: Apache-2.0
// Labs: are the shipped ones whole, and is an answer judged as their files say?
#include <set>

#include "base/error.hpp"
#include "load/expression.hpp"
#include "support/catch.hpp"
#include "teach/lab.hpp"
#include "teach/lab_page.hpp"
#include "teach/markdown.hpp"

using namespace l2lens;
using Catch::Matchers::Contains;

namespace {

LabKey number_key() {
    LabKey key;
    key.answer = "200";
    key.unit = "bytes";
    key.accept_percent = 5;
    key.right = "yes";
    key.otherwise = "think again";
    key.wrong = {{"400", "twice"}};
    return key;
}

LabKey choice_key() {
    LabKey key;
    key.answer = "group_m:4";
    key.choices = {"row_major", "group_m:4", "hilbert"};
    key.right = "yes";
    key.otherwise = "think again";
    key.wrong = {{"row_major", "no"}};
    return key;
}

const char* const kLab =
    "# Title\n\nText.\n\n```\n$ l2lens predict copy m=64 --gpu tiny\n$ l2lens teach copy --gpu tiny\n```\n\n"
    "<!-- lab\nanswer = \"run1.time_us\"\nright = \"r\"\notherwise = \"o\"\n[[wrong]]\nvalue = \"1\"\nwhy = "
    "\"w\"\n-->\n";

}  // namespace

TEST_CASE("There are eight labs, numbered from 1, with names of their own") {
    int number = 0;
    std::set<std::string> names;
    for (const LabFile& file : lab_files()) {
        const Lab lab = parse_lab(file);
        CAPTURE(lab.name);
        CHECK(lab.number == ++number);
        CHECK(names.insert(lab.name).second);
        CHECK(lab.wrong.size() >= 2);
        CHECK_THAT(lab.page, Contains("**Predict first:**") && !Contains("<!--"));
        CHECK_THAT(lab.page, Contains("l2lens lab " + std::to_string(number) + " check"));
        CHECK((lab.choices.empty() != lab.unit.empty()));
        // No lab knows its answer: it names what the commands gave.
        CHECK_THAT(lab.answer, Contains("run1") || Contains("run2"));
    }
    CHECK(number == 8);
}

TEST_CASE("A number is judged within its tolerance, with its unit or without") {
    const LabKey key = number_key();
    for (const char* right : {"200", "200.0", "+2e2", "190", "210", " 200 bytes", "200bytes"}) {
        CAPTURE(right);
        CHECK(judge(key, right).right);
    }
    for (const char* wrong : {"189", "211", "0", "-200"}) CHECK(judge(key, wrong).why == "think again");
    CHECK(judge(key, "390").why == "twice");
    CHECK(!judge(key, "390").right);
    for (const char* none : {"", "abc", "200 lines", "1,000", "nan", "inf", "0x20"}) {
        CAPTURE(none);
        CHECK_THROWS_WITH(judge(key, none), Contains("is no number"));
    }
}

TEST_CASE("An exact answer has no tolerance, and zero can be one") {
    LabKey key = number_key();
    key.accept_percent = 0;
    CHECK(!judge(key, "200.1").right);
    key.answer = "0";
    CHECK(judge(key, "0").right);
    CHECK(!judge(key, "0.001").right);
}

TEST_CASE("A choice is one of the choices, a misspelt one is told the nearest") {
    CHECK(judge(choice_key(), "group_m:4").right);
    CHECK(judge(choice_key(), "row_major").why == "no");
    CHECK(judge(choice_key(), "hilbert").why == "think again");
    CHECK_THROWS_WITH(judge(choice_key(), "hilbrt"), Contains("did you mean 'hilbert'?"));
}

TEST_CASE("A lab's file is read strictly") {
    const Lab lab = parse_lab({"03-some-name.md", kLab});
    CHECK(lab.number == 3);
    CHECK(lab.name == "some-name");
    CHECK(lab.title == "Title");
    REQUIRE(lab.commands.size() == 1);
    CHECK(lab.commands[0] == std::vector<std::string>{"copy", "m=64", "--gpu", "tiny"});
    CHECK(lab.lesson == std::vector<std::string>{"copy", "--gpu", "tiny"});
    const std::string text = kLab;
    const auto without = [&](const std::string& words) {
        std::string less = text;
        return less.erase(less.find(words), words.size());
    };
    CHECK_THROWS_WITH(parse_lab({"sectors.md", text}), Contains("NN-NAME.md"));
    CHECK_THROWS_WITH(parse_lab({"01-a.md", without("# Title")}), Contains("heading"));
    CHECK_THROWS_WITH(parse_lab({"01-a.md", without("$ l2lens predict")}), Contains("predict"));
    CHECK_THROWS_WITH(parse_lab({"01-a.md", without("right = \"r\"")}), Contains("'right'"));
    CHECK_THROWS_WITH(parse_lab({"01-a.md", without("-->")}), Contains("<!-- lab"));
    CHECK_THROWS_WITH(parse_lab({"01-a.md", without("[[wrong]]")}), Contains("[[wrong]]"));
    CHECK_THROWS_WITH(parse_lab({"01-a.md", without("answer = ")}), Contains("01-a.md:"));
}

TEST_CASE("Templates are text and expressions in turn") {
    CHECK(split_template("a {{b}} c") == std::vector<std::string>{"a ", "b", " c"});
    CHECK(split_template("{{b}}") == std::vector<std::string>{"", "b", ""});
    CHECK(split_template("a") == std::vector<std::string>{"a"});
}

TEST_CASE("Expressions see names as tables, and nothing of the system") {
    ValueTree run;
    run.entries["dram__bytes_read.sum"] = 512.0;
    run.entries["order"] = std::string("row_major");
    ValueTree names;
    names.entries["run1"] = run;
    const auto value = [&](const std::string& text) {
        return evaluate_expressions("lab 9", names, {text})[0];
    };
    CHECK(std::get<double>(value("run1['dram__bytes_read.sum'] / 32")) == 16.0);
    CHECK(std::get<std::string>(value("run1.order .. '!'")) == "row_major!");
    CHECK_THROWS_WITH(value("run2.x"), Contains("lab 9"));
    CHECK_THROWS_WITH(value("run1.nothing"), Contains("neither a number nor text"));
    CHECK_THROWS_WITH(value("0 / 0"), Contains("neither a number nor text"));
    CHECK_THROWS_AS(value("os.time()"), BadInput);
    CHECK_THROWS_AS(value("1 +"), BadInput);
}

TEST_CASE("Markdown becomes HTML with all text escaped") {
    const std::string html = markdown_html(
        "# A & B\n\nWords of `x<y`\nand **more** [here](a.md).\n\n* one\n  and on\n* two\n\n```\n$ a < "
        "b\n```\n");
    CHECK(html ==
          "<h1>A &amp; B</h1>\n<p>Words of <code>x&lt;y</code> and <strong>more</strong> <a "
          "href=\"a.md\">here</a>.</p>\n<ul>\n<li>one and on</li>\n<li>two</li>\n</ul>\n"
          "<pre tabindex=\"0\"><code>$ a &lt; b\n</code></pre>\n");
    CHECK(markdown_text("# A\n\nB `c`\n\n```\nd\n```\n", false) == "A\n\nB c\n\n    d\n");
}

TEST_CASE("A page holds its data where it cannot end the script") {
    const Lab lab = parse_lab({"01-a.md", kLab});
    LabKey key = number_key();
    key.right = "</script><script>alert(1)</script>";
    const std::string page = lab_page(lab, key, {{"l2lens predict copy"}, {"<table>"}, "", {}, {}});
    CHECK_THAT(page, !Contains("alert(1)</script>"));
    CHECK_THAT(page, Contains("&lt;table&gt;") && Contains("<title>Lab 1: Title</title>"));
    CHECK_THAT(page, !Contains("{{") && !Contains("http"));
}
