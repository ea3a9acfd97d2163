// SPDX-License-Identifier: Apache-2.0
// The calendar queue against a stable sort by bucket: the order its header promises.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "memory/event_wheel.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"

using namespace l2lens;

namespace {

constexpr Picoseconds kBucket = Picoseconds{1} << kBucketShift;
constexpr Picoseconds kWheel = 4096 * kBucket;

using Handed = std::vector<std::pair<Picoseconds, int>>;

struct Pushed {
    std::int64_t bucket;  // in which it is due: its own, or the present one when that is later
    Picoseconds time;
    int id;
};

Handed by_bucket(std::vector<Pushed> pushed) {
    std::stable_sort(pushed.begin(), pushed.end(),
                     [](const Pushed& a, const Pushed& b) { return a.bucket < b.bucket; });
    Handed handed;
    for (const Pushed& p : pushed) handed.emplace_back(p.time, p.id);
    return handed;
}

// A wheel and the list of all that was ever pushed into it.
struct Recorded {
    EventWheel<int> wheel;
    std::vector<Pushed> pushed;
    Handed handed;
    std::int64_t present = 0;  // bucket

    void push(Picoseconds time) {
        const int id = static_cast<int>(pushed.size());
        pushed.push_back({std::max(present, time >> kBucketShift), time, id});
        wheel.push(time, id);
    }
    template <class Body>
    void run_until(Picoseconds end, Body&& body) {
        wheel.run_until(end, [&](Picoseconds time, int id) {
            present = pushed[static_cast<std::size_t>(id)].bucket;
            handed.emplace_back(time, id);
            body(time);
        });
        present = end >> kBucketShift;
    }
};

Picoseconds random_delay(RandomStream& random) {
    switch (random.below(4)) {
        case 0:
            return random.below(3 * kBucket);
        case 1:
            return random.below(static_cast<std::uint32_t>(kWheel / 8));
        case 2:
            return random.below(static_cast<std::uint32_t>(2 * kWheel));
        default:
            return static_cast<Picoseconds>(random.below(1000)) * kWheel / 20;  // up to 50 wheels
    }
}

}  // namespace

TEST_CASE("A wheel hands out events by bucket, and within a bucket as they were pushed") {
    const int wanted = test::cases(200);
    for (int seed = 0; seed < wanted; ++seed) {
        INFO("seed " << seed);
        RandomStream random(static_cast<std::uint64_t>(seed), 7);
        Recorded r;
        int left = 400;
        Picoseconds now = 0;
        for (int i = 0; i < 100; ++i) r.push(random_delay(random));
        while (!r.wheel.empty()) {
            for (; left > 0 && random.below(3) != 0; --left) r.push(now + random_delay(random));
            now += (1 + random.below(3000)) * kBucket;
            r.run_until(now, [&](Picoseconds time) {
                // Bodies push too, some of it into the past of their own bucket.
                if (left-- > 0 && random.below(2) == 0) r.push(time + random_delay(random) - kBucket);
            });
        }
        CHECK(r.handed == by_bucket(r.pushed));
    }
}

TEST_CASE("An event is handed out before the end of its window and not before its beginning") {
    EventWheel<int> wheel;
    wheel.push(10 * kBucket, 1);
    wheel.push(10 * kBucket - 1, 0);
    int calls = 0;
    wheel.run_until(10 * kBucket, [&](Picoseconds, int id) { calls += id == 0 ? 1 : 100; });
    CHECK(calls == 1);
    CHECK_FALSE(wheel.empty());
    wheel.run_until(11 * kBucket, [&](Picoseconds, int id) { calls += id == 1 ? 1 : 100; });
    CHECK(calls == 2);
    CHECK(wheel.empty());
}

TEST_CASE("Events further away than the wheel is wide keep their place before later pushes") {
    EventWheel<int> wheel;
    const Picoseconds far = 10 * kWheel + 5;
    wheel.push(far, 0);
    wheel.push(far, 1);
    std::vector<int> handed;
    const auto collect = [&](Picoseconds, int id) { handed.push_back(id); };
    wheel.run_until(far - 3 * kBucket - 5, collect);
    CHECK(handed.empty());
    wheel.push(far, 2);
    wheel.run_until(far + kWheel, collect);
    CHECK(handed == std::vector<int>{0, 1, 2});
}

TEST_CASE("What is pushed into the past is due at once") {
    EventWheel<int> wheel;
    std::vector<Picoseconds> handed;
    wheel.run_until(100 * kBucket, [](Picoseconds, int) {});
    wheel.push(3, 0);
    wheel.run_until(101 * kBucket, [&](Picoseconds time, int) { handed.push_back(time); });
    CHECK(handed == std::vector<Picoseconds>{3});
}

TEST_CASE("An idle wheel can be far behind the time of its next event") {
    EventWheel<int> wheel;
    wheel.run_until(1000 * kWheel, [](Picoseconds, int) {});
    wheel.push(1000 * kWheel + 2, 9);
    int seen = 0;
    wheel.run_until(1001 * kWheel,
                    [&](Picoseconds time, int id) { seen = time == 1000 * kWheel + 2 ? id : -1; });
    CHECK(seen == 9);
}
