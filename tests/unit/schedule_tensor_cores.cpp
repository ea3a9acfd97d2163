// SPDX-License-Identifier: Apache-2.0
// Whose step do the tensor cores of an SM take next?
#include <vector>

#include "schedule/tensor_cores.hpp"
#include "support/catch.hpp"

using namespace l2lens;

namespace {

struct Cta {
    MathWait math_wait;
    int steps = 0;  // issued and not computed

    void issue(Picoseconds now) { math_wait.issued(now, steps++ == 0); }
    void retire() {
        --steps;
        math_wait.retired();
    }
};

int next(const std::vector<Cta>& ctas) {
    return next_with_step(ctas, 0, static_cast<int>(ctas.size()),
                          [](const Cta& cta) { return cta.steps > 0; });
}

}  // namespace

TEST_CASE("The tensor cores take the step that has waited longest, whichever CTA is older") {
    std::vector<Cta> ctas(3);
    CHECK(next(ctas) == -1);
    ctas[2].issue(10);
    ctas[0].issue(20);
    CHECK(next(ctas) == 2);
    ctas[2].issue(30);  // its second step: the first one keeps its place
    CHECK(next(ctas) == 2);
    ctas[2].retire();  // now it waits since 30
    CHECK(next(ctas) == 0);
    ctas[0].retire();
    CHECK(next(ctas) == 2);
    ctas[2].retire();
    CHECK(next(ctas) == -1);
}

TEST_CASE("Of steps that wait equally long the first slot's is taken, and only of the slots asked about") {
    std::vector<Cta> ctas(3);
    for (Cta& cta : ctas) cta.issue(10);
    CHECK(next(ctas) == 0);
    CHECK(next_with_step(ctas, 1, 3, [](const Cta&) { return true; }) == 1);
}
