// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"

#include "report/csv.hpp"
#include "report/text_table.hpp"
#include "support/catch.hpp"

using namespace l2lens;

TEST_CASE("Numbers keep three digits, and rounding never adds one") {
    CHECK(format_count(411'000'000) == "411 M");
    CHECK(format_count(53'600'000) == "53.6 M");
    CHECK(format_count(999'600) == "1.00 M");
    CHECK(format_count(512) == "512");
    CHECK(format_bytes(4.3647e9) == "4.36 GB");
    CHECK(format_bytes(0) == "0 B");
    CHECK(format_binary_bytes(50 * 1048576.0) == "50 MiB");
    CHECK(format_binary_bytes(47 * 640 * 1024.0) == "29.4 MiB");
    CHECK(format_time(1.52e6) == "1.52 ms");
    CHECK(format_time(99'960) == "100 us");
    CHECK(format_time(16) == "16.0 ns");
    CHECK(format_percent(57.2) == "57.2 %");
    CHECK(format_signed_percent(0.41) == "+0.4 %");
    CHECK(format_signed_percent(148.2) == "+148 %");
    CHECK(format_plain(12) == "12");
    CHECK(format_plain(12.5) == "12.5");
    CHECK(format_plain(-0.001) == "0");
}

TEST_CASE("One of a thing is singular") {
    CHECK(counted(0, "tile") == "0 tiles");
    CHECK(counted(1, "tile") == "1 tile");
    CHECK(counted(132, "SM") == "132 SMs");
}

TEST_CASE("Exact numbers read back the same, whole ones without a point") {
    CHECK(format_exact(536870912) == "536870912");
    CHECK(format_exact(1e14) == "100000000000000");
    CHECK(std::stod(format_exact(0.1)) == 0.1);
    CHECK(std::stod(format_exact(1.0 / 3)) == 1.0 / 3);
}

TEST_CASE("A long name is cut by characters, not bytes, and control characters do not reach the terminal") {
    CHECK(one_line("a\nb\x1b[31m", 20) == "a b [31m");
    CHECK(one_line("abcdefghij", 8) == "abcde...");
    CHECK(one_line("\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", 4) == "\xC3\xA4...");
    CHECK(display_width("\xC3\xA4"
                        "bc") == 3);
}

TEST_CASE("A table aligns its columns and leaves out empty ones") {
    TextTable table({{"name", Align::Left}, {"n", Align::Right}, {"none", Align::Left}});
    table.add_row({"a", "1", ""});
    table.add_row({"long one", "1000", ""}, Style::Bad);
    CHECK(table.text(false) == "name         n\na            1\nlong one  1000\n");
    CHECK_THAT(table.text(true), ContainsSubstring("\x1b[31mlong one  1000\x1b[0m\n"));
    CHECK_THROWS(table.add_row({"too", "few"}));
}

TEST_CASE("CSV fields are quoted when they have to be") {
    CHECK(csv_field("plain") == "plain");
    CHECK(csv_field("a,b") == "\"a,b\"");
    CHECK(csv_field("say \"x\"\n") == "\"say \"\"x\"\"\n\"");
}
