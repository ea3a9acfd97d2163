// SPDX-License-Identifier: Apache-2.0
// Compares a text with tests/golden/approved/NAME. On a difference, what was received is written to
// BUILD/golden_received/NAME: look at it, and copy it over the approved one if the change is meant.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/catch.hpp"

namespace l2lens::golden {

inline std::string file_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void check_approved(const std::string& name, const std::string& text) {
    const auto approved = std::filesystem::path(L2LENS_SOURCE_DIR) / "tests/golden/approved" / name;
    const auto received = std::filesystem::path(L2LENS_BINARY_DIR) / "golden_received" / name;
    const std::string expected = file_text(approved);
    if (text != expected) {
        std::filesystem::create_directories(received.parent_path());
        std::ofstream(received, std::ios::binary) << text;
    }
    INFO("received: " << received.string() << "\napproved: " << approved.string());
    CHECK(text == expected);
}

}  // namespace l2lens::golden
