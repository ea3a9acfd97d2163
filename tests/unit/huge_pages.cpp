// SPDX-License-Identifier: Apache-2.0
// A test of its own: what it asks of malloc holds for the rest of the process.
#include "base/huge_pages.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/effort.hpp"

using namespace l2lens;

namespace {

// The line "VmFlags: ..." of the mapping that holds `address`, "" when there is none.
std::string flags_of(const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream smaps("/proc/self/smaps");
    bool inside = false;
    for (std::string line; std::getline(smaps, line);) {
        if (line.rfind("VmFlags:", 0) == 0) {
            if (inside) return line;
        } else if (line.find(':') > line.find(' ')) {  // FROM-TO rwxp ...
            std::size_t dash = 0;
            const std::uintptr_t from = std::stoull(line, &dash, 16);
            inside = wanted >= from && wanted < std::stoull(line.substr(dash + 1), nullptr, 16);
        }
    }
    return "";
}

}  // namespace

TEST_CASE("Arrays lie where the system was asked for huge pages") {
    if (test::left_to_plain_builds()) return;  // sanitizers have a malloc of their own
#if defined(__GLIBC__)
    constexpr bool kMayAsk = true;
#else
    constexpr bool kMayAsk = false;
#endif
    const int on_stack = 0;
    const std::string of_stack = flags_of(&on_stack);
    if (!kMayAsk || of_stack.empty() || !std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) {
        SUCCEED("the system has no huge pages to ask for, or does not say what was asked");
        return;
    }
    CHECK_THAT(of_stack, !ContainsSubstring(" hg"));
    prefer_huge_pages();
    const std::vector<char> array(8 << 20);
    CHECK_THAT(flags_of(array.data() + array.size() / 2), ContainsSubstring(" hg"));
}
