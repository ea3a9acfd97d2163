// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/dense_ids.hpp"
#include "base/divisor.hpp"
#include "base/error.hpp"
#include "base/file_roles.hpp"
#include "base/nearest.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

using namespace l2lens;

TEST_CASE("A misspelt name gets the nearest one, a foreign one gets the list") {
    const std::vector<std::string> orders{"row_major", "hilbert", "gilbert", "morton"};
    CHECK(nearest_name("hilbrt", orders) == "hilbert");
    CHECK(nearest_name("row-major", orders) == "row_major");
    CHECK(nearest_name("zzzzzz", orders).empty());
    CHECK(suggestion("hilbrt", orders) == "; did you mean 'hilbert'?");
    const std::vector<std::string> machines{"h100-pcie", "h100-sxm", "h200"};
    CHECK(suggestion("h100", machines) == "; did you mean 'h100-pcie' or 'h100-sxm'?");
    CHECK_THAT(suggestion("zzzzzz", orders), ContainsSubstring("there are: row_major hilbert"));
}

TEST_CASE("Things are numbered as they are first met, and found again without comparing many") {
    // A million things of hashes that mix, met twice, with their even ones again in between.
    constexpr std::uint32_t kThings = 1'000'000;
    DenseIds ids;
    std::uint64_t compared = 0;
    const auto number_of = [&](std::uint32_t thing) {
        return ids.find_or_add(mix64(thing), [&](std::uint32_t number) {
            ++compared;
            return number == thing;
        });
    };
    for (std::uint32_t thing = 0; thing < kThings; ++thing) {
        REQUIRE(number_of(thing) == thing);
        if (thing % 2 == 0) REQUIRE(number_of(thing / 2) == thing / 2);
    }
    for (std::uint32_t thing = 0; thing < kThings; ++thing) REQUIRE(number_of(thing) == thing);
    // One comparison for each that is found, and few for those that only look alike.
    CHECK(10 * compared < std::uint64_t{16} * kThings);
}

TEST_CASE("Things whose hashes are all the same stay apart, and a number that is taken is never found") {
    DenseIds ids;
    for (std::uint32_t thing = 0; thing < 300; ++thing) {
        const auto same = [&](std::uint32_t number) { return number == thing; };
        REQUIRE(ids.find_or_add(42, same) == thing);
        REQUIRE(ids.find_or_add(42, same) == thing);
    }
    CHECK(ids.add() == 300);
    CHECK(ids.find_or_add(42, [](std::uint32_t) { return false; }) == 301);
}

TEST_CASE("Nanoseconds round to the nearest picosecond") {
    CHECK(from_ns(1.0) == 1000);
    CHECK(from_ns(0.0004) == 0);
    CHECK(from_ns(0.0006) == 1);
    CHECK(from_ns(-0.0006) == -1);
}

TEST_CASE("Two streams of one seed differ, the same stream repeats") {
    RandomStream a(1, 2), b(1, 2), c(1, 3);
    const auto first = a.next();
    CHECK(first == b.next());
    CHECK(first != c.next());
    for (int i = 0; i < 1000; ++i) {
        const double u = a.uniform();
        REQUIRE(u >= 0.0);
        REQUIRE(u < 1.0);
        REQUIRE(a.below(7) < 7);
    }
}

TEST_CASE("A divisor divides as the processor does, numbers beside its multiples and at both ends too") {
    RandomStream random(32, 1);
    std::vector<std::uint32_t> divisors{2, 3, 7, 80, 94, 96, 2560, 65535, 65536, 65537, 1u << 31, UINT32_MAX};
    for (int i = 0; i < 200; ++i)
        divisors.push_back(static_cast<std::uint32_t>(random.next() >> (32 + i % 31)) | 2);
    for (const std::uint32_t by : divisors) {
        const Divisor divisor(by);
        for (std::uint32_t i = 0; i < 500; ++i) {
            const auto any = static_cast<std::uint32_t>(random.next());
            for (const std::uint32_t n : {any, any / by * by, any / by * by - 1, i, UINT32_MAX - i}) {
                INFO(n << " by " << by);
                REQUIRE(divisor.quotient(n) == n / by);
                REQUIRE(divisor.remainder(n) == n % by);
            }
        }
    }
    CHECK(Divisor(1).remainder(UINT32_MAX) == 0);
}

TEST_CASE("A file has one role in a run, by whatever path it is named") {
    namespace fs = std::filesystem;
    const TemporaryFile holder("_roles", "");
    const fs::path folder = holder.path() + ".d";
    fs::create_directory(folder);
    const auto in_folder = [&](const char* name) { return (folder / name).string(); };
    fs::create_symlink("new.csv", folder / "link.csv");  // to what is not there yet
    fs::create_symlink(".", folder / "here");

    will_write(in_folder("new.csv"), "--csv");
    CHECK_NOTHROW(will_write(in_folder("./new.csv"), "--csv"));  // the same output, asked for again
    for (const char* same : {"new.csv", "./new.csv", "link.csv", "here/new.csv"}) {
        INFO(same);
        CHECK_THROWS_WITH(will_write(in_folder(same), "--json"),
                          ContainsSubstring("--csv and --json both go to"));
        CHECK_THROWS_WITH(will_read(in_folder(same)), ContainsSubstring("both an input and an output"));
    }
    will_read(holder.path());
    CHECK_THROWS_AS(will_write(holder.path(), "--csv"), BadInput);
    will_write("/dev/null", "--csv");
    CHECK_NOTHROW(will_write("/dev/null", "--json"));
    fs::remove_all(folder);
}
