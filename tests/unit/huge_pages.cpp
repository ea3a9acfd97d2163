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
        std::size_t dash = 0;
        if (line.rfind("VmFlags:", 0) == 0) {
            if (inside) return line;
        } else if (line.find(':') > line.find(' ')) {  // FROM-TO rwxp ...
            const std::uintptr_t from = std::stoull(line, &dash, 16);
            inside = wanted >= from && wanted < std::stoull(line.substr(dash + 1), nullptr, 16);
        }
    }
    return "";
}

}  // namespace

TEST_CASE("Arrays lie where the system was asked for huge pages") {
    if (test::left_to_plain_builds()) return;  // sanitizers have a malloc of their own
    prefer_huge_pages();
    const std::vector<char> array(8 << 20);
    const std::string flags = flags_of(array.data() + array.size() / 2);
#if defined(__GLIBC__)
    if (std::filesystem::exists("/sys/kernel/mm/transparent_hugepage") && !flags.empty())
        CHECK_THAT(flags, ContainsSubstring(" hg"));
#endif
    CHECK(array.back() == 0);
}
