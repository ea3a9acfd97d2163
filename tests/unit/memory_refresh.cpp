// SPDX-License-Identifier: Apache-2.0
// Who waits for a refresh of DRAM, and for how long (traces/h200/refresh.csv): expected values from the
// formulas in memory/refresh.hpp.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/random.hpp"
#include "memory/refresh.hpp"
#include "support/catch.hpp"

using namespace l2lens;

namespace {

constexpr Picoseconds kLength = 265 * kPsPerNs;
constexpr double kShare = 0.137;
constexpr int kGroups = 6;
constexpr LineNumber kPiece = 128;  // 16 KiB
constexpr int kTries = 40000;
constexpr double kLinesOfAllGroups = 1e6;  // so many that some wait in every group

}  // namespace

TEST_CASE("As many lines find a refresh under way as banks are refreshed, and wait half of one in the mean") {
    const Refresh refresh(kLength, kShare, kGroups, 1);
    double found = 0, waited = 0;
    for (int i = 0; i < kTries; ++i) {
        const auto wait = refresh.wait(i * kLength, static_cast<LineNumber>(i) * kPiece, 0);
        CHECK(wait.own >= 0);
        CHECK(wait.own <= kLength);
        CHECK(wait.others == 0);  // it stands for none
        found += wait.own > 0 ? 1 : 0;
        waited += static_cast<double>(wait.own);
    }
    CHECK(found / kTries == Approx(kShare).margin(0.01));
    CHECK(waited / found == Approx(static_cast<double>(kLength) / 2).epsilon(0.05));
}

TEST_CASE(
    "Lines of one piece and group wait together, and all that wait at one time get on at a few moments") {
    const Refresh refresh(kLength, kShare, kGroups, 1);
    for (Picoseconds turn = 0; turn < 200; ++turn) {
        const Picoseconds now = turn * kLength;
        std::set<Picoseconds> rests;
        for (LineNumber piece = 0; piece < 100; ++piece) {
            std::map<Picoseconds, int> lines;  // of a group, who wait for its rest, in the piece
            for (LineNumber line = 0; line < kPiece; ++line) {
                const Picoseconds own = refresh.wait(now, piece * kPiece + line, 0).own;
                if (own > 0) rests.insert(own), ++lines[own];
            }
            // A sixth of the piece in the mean, as pairs of lines are dealt; were it each pair for itself,
            // one alone would wait in half of the cases.
            for (const auto& [rest, waiting] : lines) REQUIRE(waiting > 2);
        }
        REQUIRE(rests.size() <= kGroups);
        if (!rests.empty()) REQUIRE(*rests.rbegin() <= refresh.longest(now, kLinesOfAllGroups, 0));
    }
}

TEST_CASE(
    "Of the lines that a simulated one stands for as many wait, and as long, as of lines that are tried") {
    constexpr double kLines = 16;
    const Refresh refresh(kLength, kShare, kGroups, kLines);
    RandomStream random(1, 0);
    double found = 0, waited = 0, tried = 0;
    for (int i = 0; i < kTries; ++i) {
        const Picoseconds now = i * kLength;
        const Picoseconds others = refresh.wait(now, 0, random.next()).others;
        found += others > 0 ? 1 : 0;
        waited += static_cast<double>(others);
        Picoseconds longest = 0;
        for (int line = 1; line < kLines; ++line)
            longest =
                std::max(longest, refresh.wait(now, static_cast<LineNumber>(random.next() >> 32), 0).own);
        tried += static_cast<double>(longest);
    }
    CHECK(found / kTries == Approx(1 - std::pow(1 - kShare, kLines - 1)).margin(0.01));
    CHECK(waited == Approx(tried).epsilon(0.03));
}

TEST_CASE("The longest wait of a box's lines is that of as many lines that are tried") {
    const Refresh refresh(kLength, kShare, kGroups, 1);
    RandomStream random(1, 0);
    for (const int lines : {4, 30, 200}) {
        INFO(lines << " lines");
        double tried = 0, drawn = 0;
        for (int i = 0; i < kTries / 10; ++i) {
            const Picoseconds now = i * kLength;
            Picoseconds longest = 0;
            for (int line = 0; line < lines; ++line)
                longest =
                    std::max(longest, refresh.wait(now, static_cast<LineNumber>(random.next() >> 32), 0).own);
            tried += static_cast<double>(longest);
            drawn += static_cast<double>(refresh.longest(now, lines, random.next()));
        }
        CHECK(drawn == Approx(tried).epsilon(0.05));
    }
}

TEST_CASE("Memory without refreshes waits for none") {
    const Refresh refresh(0, 0, kGroups, 16);
    CHECK(refresh.wait(12345, 678, 0).own == 0);
    CHECK(refresh.wait(12345, 678, 0).others == 0);
    CHECK(refresh.longest(12345, 100, 1) == 0);
}
