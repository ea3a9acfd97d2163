// SPDX-License-Identifier: Apache-2.0
// The sets of a slice and the request coalescer, one rule at a time.
#include <vector>

#include "memory/coalescer.hpp"
#include "memory/sector_cache.hpp"
#include "memory/turn_queue.hpp"
#include "support/catch.hpp"

using namespace l2lens;

namespace {

constexpr int kWays = 4;

// Touches lines first .. first + count - 1 of one set; how many were there.
int sweep(SectorCache& cache, std::uint32_t set, LineNumber first, int count) {
    int present = 0;
    for (int i = 0; i < count; ++i) {
        const auto line = static_cast<LineNumber>(first + static_cast<LineNumber>(i));
        present += cache.find_or_allocate(set, line).present ? 1 : 0;
    }
    return present;
}

Request read_of(LineNumber line, std::uint8_t gpc, Picoseconds time, SectorMask sectors = kWholeLine) {
    Request request;
    request.line = line;
    request.gpc = gpc;
    request.time = time;
    request.sectors = sectors;
    request.landing = static_cast<std::uint16_t>(time);
    return request;
}

bool joins(Coalescer& coalescer, const Request& request) {
    return coalescer.join(request) >= 0;
}

}  // namespace

TEST_CASE("As many lines as a set has ways all hit on the second sweep") {
    SectorCache cache(8, kWays);
    CHECK(sweep(cache, 3, 100, kWays) == 0);
    CHECK(sweep(cache, 3, 100, kWays) == kWays);
    CHECK(sweep(cache, 2, 100, kWays) == 0);  // another set
    CHECK(sweep(cache, 3, 100, kWays) == kWays);
}

TEST_CASE("A cyclic sweep over one line more than a set has ways never hits") {
    // The textbook worst case of least recently used: each line is the oldest when it comes round again.
    SectorCache cache(2, kWays);
    for (int pass = 0; pass < 5; ++pass) CHECK(sweep(cache, 1, 7, kWays + 1) == 0);
}

TEST_CASE("The least recently used line leaves, not the first that came") {
    SectorCache cache(1, kWays);
    sweep(cache, 0, 0, kWays);
    CHECK(sweep(cache, 0, 0, 1) == 1);  // line 0 is the youngest now
    CHECK(sweep(cache, 0, 50, 1) == 0);
    CHECK(sweep(cache, 0, 0, 1) == 1);
    CHECK(sweep(cache, 0, 1, 1) == 0);  // line 1 was the oldest
}

TEST_CASE("A dirty line is cleaned when it is the oldest, stays for one more, and comes back empty") {
    SectorCache cache(1, 2, 2);
    const auto first = cache.find_or_allocate(0, 5);
    cache.at(first.way).add(0x2);
    cache.write(0, first.way, 0x3);
    CHECK(cache.find_or_allocate(0, 6).cleaned.dirty == 0);  // the set was not full
    SECTION("a line that is not there takes the place of the next oldest") {
        const auto third = cache.find_or_allocate(0, 7);
        CHECK(third.cleaned.dirty == 0x3);
        CHECK(third.cleaned.incomplete == 0x1);  // written in part
        CHECK(third.cleaned.way == first.way);
        CHECK_FALSE(cache.contains(0, 6));
    }
    SECTION("a line that is there has it cleaned, too") {
        CHECK(cache.find_or_allocate(0, 6).cleaned.dirty == 0x3);
        CHECK(cache.find_or_allocate(0, 6).cleaned.dirty == 0);
    }
    SECTION("while DRAM takes no more it stays dirty") {
        const auto third = cache.find_or_allocate(0, 7, SectorCache::Priority::Normal, false);
        CHECK(third.cleaned.dirty == 0);
        CHECK_FALSE(cache.contains(0, 6));
        CHECK(cache.find_or_allocate(0, 7).cleaned.dirty == 0x3);
    }
    REQUIRE(cache.contains(0, 5));
    CHECK(cache.find_or_allocate(0, 8).cleaned.dirty == 0);
    REQUIRE_FALSE(cache.contains(0, 5));
    CHECK(cache.at(cache.find_or_allocate(0, 5).way).valid() == 0);
}

TEST_CASE("Of as many dirty lines as a set may have the oldest is cleaned at the next lookup, and stays") {
    constexpr int kMost = 2;
    SectorCache cache(1, kWays, kMost);
    const auto write = [&](LineNumber line) {
        const SectorCache::Found found = cache.find_or_allocate(0, line);
        cache.write(0, found.way, 0x3);
        return found.cleaned.dirty;
    };
    CHECK(write(7) == 0);
    CHECK(write(8) == 0);
    CHECK(write(9) == 0x3);  // 7
    CHECK(cache.contains(0, 7));
    CHECK(cache.find_or_allocate(0, 7).cleaned.dirty == 0x3);  // 8
    CHECK(cache.find_or_allocate(0, 7).cleaned.dirty == 0);    // 9 is left
    CHECK(cache.at(cache.find_or_allocate(0, 9).way).dirty() == 0x3);
}

TEST_CASE("A set all of whose lines are dirty lets the one go that it has cleaned") {
    SectorCache cache(1, 1, 1);
    cache.write(0, cache.find_or_allocate(0, 5).way, 0x1);
    const auto next = cache.find_or_allocate(0, 6);
    CHECK_FALSE(next.present);
    CHECK(next.cleaned.dirty == 0x1);
    CHECK_FALSE(cache.contains(0, 5));
}

TEST_CASE("Of more lines written in part than a set may have the oldest is cleaned, and whole then") {
    SectorCache cache(1, kWays, kWays);
    const auto write = [&](LineNumber line, SectorMask valid) {
        const std::uint32_t way = cache.find_or_allocate(0, line).way;
        cache.at(way).add(valid);
        cache.write(0, way, 0x3);
        return cache.clean_incomplete_beyond(0, 1);
    };
    CHECK(write(7, 0x3).dirty == 0);  // wholly
    CHECK(write(8, 0x1).dirty == 0);
    const SectorCache::Cleaned cleaned = write(9, 0x2);
    CHECK(cleaned.dirty == 0x3);
    CHECK(cleaned.incomplete == 0x2);
    CHECK(cache.at(cache.find_or_allocate(0, 8).way).valid() == 0x3);
    CHECK(cache.at(cache.find_or_allocate(0, 9).way).dirty() == 0x3);
}

TEST_CASE("A line is ready when the last of its sectors has come, and settles no sooner") {
    SectorCache::Line line;
    CHECK(line.fill() == -1);
    CHECK(line.ready() == 0);
    line.arrives(from_ns(100), from_ns(100) + 512);
    CHECK(line.ready() == from_ns(100));
    CHECK(line.settled() == from_ns(100) + 512);
    line.arrives(from_ns(90), from_ns(90));  // other sectors, which came before
    CHECK(line.ready() == from_ns(100));
    CHECK(line.settled() == from_ns(100) + 512);
    line.arrives(from_ns(200), from_ns(200));
    CHECK(line.ready() == from_ns(200));
    CHECK(line.settled() == from_ns(200));
}

TEST_CASE("A line that waits for a fill has that number, and nothing of before counts when it arrives") {
    constexpr std::int32_t kFill = 1 << 30;
    SectorCache::Line line;
    line.arrives(from_ns(500), from_ns(900));
    line.add(0x3);
    line.wait_for(kFill);
    CHECK(line.fill() == kFill);
    CHECK(line.valid() == 0x3);
    line.arrived(from_ns(400), from_ns(400));
    CHECK(line.fill() == -1);
    CHECK(line.ready() == from_ns(400));
    CHECK(line.settled() == from_ns(400));
}

TEST_CASE("A line keeps times of four seconds to the picosecond, and 2 us that it settles after them") {
    SectorCache::Line line;
    const Picoseconds late = from_ns(4e9) + 1;
    line.arrived(late, late + from_ns(2000));
    CHECK(line.ready() == late);
    CHECK(line.settled() <= late + from_ns(2000));
    CHECK(line.settled() > late + from_ns(2000) - 256);
    SECTION("what settles later still does so then") {
        line.arrived(late, late + from_ns(5000));
        CHECK(line.ready() == late);
        CHECK(line.settled() >= late + from_ns(2000));
        CHECK(line.settled() < late + from_ns(5000));
    }
    SECTION("what comes later still is here by then") {
        line.arrived(from_ns(6e9), from_ns(6e9));
        CHECK(line.ready() < from_ns(4.5e9));
    }
}

TEST_CASE("The request beyond an entry's requesters opens another entry and closes the full one") {
    Coalescer coalescer(4);
    const std::int32_t entry = coalescer.open(read_of(9, 2, 0));
    for (Picoseconds t = 1; t <= 3; ++t) CHECK(joins(coalescer, read_of(9, 2, t)));
    CHECK_FALSE(joins(coalescer, read_of(9, 2, 4)));
    CHECK(coalescer.entry(entry).requesters == 4);
    CHECK(coalescer.entry(entry).landing[3] == 3);
    const std::int32_t second = coalescer.open(read_of(9, 2, 4));
    CHECK(second != entry);
    CHECK(joins(coalescer, read_of(9, 2, 5)));
    CHECK(coalescer.entry(second).requesters == 2);
    CHECK(coalescer.entry(entry).requesters == 4);
}

TEST_CASE("Nobody joins a multicast, and it joins nobody") {
    Coalescer coalescer(4);
    Request multicast = read_of(9, 2, 1);
    multicast.receivers = 2;
    coalescer.open(multicast);
    CHECK_FALSE(joins(coalescer, read_of(9, 2, 2)));
    coalescer.open(read_of(9, 2, 2));
    CHECK_FALSE(joins(coalescer, multicast));
    CHECK(joins(coalescer, read_of(9, 2, 3)));
}

TEST_CASE("Requests join only their own GPC's entry, for the same line and sectors") {
    Coalescer coalescer(4);
    coalescer.open(read_of(9, 2, 0));
    CHECK_FALSE(joins(coalescer, read_of(9, 3, 1)));
    CHECK_FALSE(joins(coalescer, read_of(10, 2, 1)));
    CHECK_FALSE(joins(coalescer, read_of(9, 2, 1, 0x3)));
    CHECK(joins(coalescer, read_of(9, 2, 1)));
}

TEST_CASE("An entry takes nobody from the time it closes on, and is gone when it is answered") {
    Coalescer coalescer(4);
    const std::int32_t entry = coalescer.open(read_of(9, 2, 0));
    coalescer.entry(entry).open_until = 100;
    CHECK(joins(coalescer, read_of(9, 2, 99)));
    CHECK_FALSE(joins(coalescer, read_of(9, 2, 100)));
    coalescer.close(entry);
    CHECK_FALSE(joins(coalescer, read_of(9, 2, 50)));
    const std::int32_t next = coalescer.open(read_of(11, 2, 0));
    CHECK(next == entry);                          // its place is used again,
    CHECK(coalescer.entry(next).requesters == 1);  // by a new entry
    CHECK_FALSE(joins(coalescer, read_of(9, 2, 50)));
}

TEST_CASE("With one requester per entry nothing ever merges") {
    Coalescer coalescer(1);
    coalescer.open(read_of(9, 2, 0));
    CHECK_FALSE(joins(coalescer, read_of(9, 2, 0)));
}

TEST_CASE("Many open entries, closed in any order, stay apart") {
    Coalescer coalescer(2);
    std::vector<std::int32_t> entries;
    constexpr LineNumber kLines = 5000;  // several in each hash chain
    for (LineNumber line = 0; line < kLines; ++line) entries.push_back(coalescer.open(read_of(line, 1, 0)));
    for (LineNumber line = 0; line < kLines; line += 2) coalescer.close(entries[line]);
    int wrong = 0;
    for (LineNumber line = 0; line < kLines; ++line)
        wrong += joins(coalescer, read_of(line, 1, 1)) == (line % 2 == 1) ? 0 : 1;
    CHECK(wrong == 0);
}

TEST_CASE("Queues that take turns serve each CPC in order, and no CPC twice while another waits") {
    constexpr int kRoom = 0;
    TurnQueue queue(3);
    CHECK(queue.empty());
    for (const std::int32_t item : {10, 11, 12}) queue.push(2, item, kRoom);
    queue.push(0, 0, kRoom);
    queue.push(1, 5, kRoom);
    queue.push(1, 6, kRoom);
    std::vector<std::int32_t> served;
    while (!queue.empty()) served.push_back(queue.pop(kRoom));
    CHECK(served == std::vector<std::int32_t>{5, 10, 0, 6, 11, 12});  // its first turn is queue 1's
    queue.push(2, 10, kRoom);                                         // an item may come again
    CHECK(queue.pop(kRoom) == 10);
    CHECK(queue.empty());
}

TEST_CASE("The first so many are served as they came, and each one's place goes to the next CPC in turn") {
    constexpr int kRoom = 3;
    TurnQueue queue(2);
    for (const std::int32_t item : {10, 11, 12, 13, 14})
        queue.push(0, item, kRoom);  // 13 and 14 wait for their turn
    for (const std::int32_t item : {20, 21}) queue.push(1, item, kRoom);
    std::vector<std::int32_t> served;
    for (int i = 0; i < 3; ++i) served.push_back(queue.pop(kRoom));
    queue.push(1, 22, kRoom);  // behind those who wait already
    while (!queue.empty()) served.push_back(queue.pop(kRoom));
    CHECK(served == std::vector<std::int32_t>{10, 11, 12, 20, 13, 21, 14, 22});
    queue.push(1, 30, kRoom);  // all three places are free again
    queue.push(0, 31, kRoom);
    CHECK(queue.pop(kRoom) == 30);
}

TEST_CASE(
    "When room shrinks those in order keep their places, and nobody follows them until it is there again") {
    TurnQueue queue(2);
    for (const std::int32_t item : {10, 11, 12}) queue.push(0, item, 3);
    queue.push(0, 13, 1);
    for (const std::int32_t item : {20, 21}) queue.push(1, item, 1);
    queue.push(0, 14, 5);  // there is room again when it comes
    std::vector<std::int32_t> served;
    for (int i = 0; i < 4; ++i) served.push_back(queue.pop(0));
    CHECK(served == std::vector<std::int32_t>{10, 11, 12, 14});
    CHECK(queue.pop(2) == 20);
    queue.push(1, 22, 2);
    served.clear();
    while (!queue.empty()) served.push_back(queue.pop(2));
    CHECK(served == std::vector<std::int32_t>{22, 13, 21});
}
