// SPDX-License-Identifier: Apache-2.0
// A file that lives as long as a test case.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

class TemporaryFile {
public:
    TemporaryFile(const std::string& suffix, const std::string& content) {
        static std::atomic<int> count{0};
        path_ = std::filesystem::temp_directory_path() /
                ("l2lens_" + std::to_string(::getpid()) + "_" + std::to_string(count++) + suffix);
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};
