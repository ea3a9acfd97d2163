// SPDX-License-Identifier: Apache-2.0
#include "base/file_roles.hpp"

#include <filesystem>
#include <mutex>
#include <set>

#include "base/error.hpp"

namespace l2lens {
namespace {

namespace fs = std::filesystem;

struct Roles {
    std::mutex mutex;
    std::set<fs::path> inputs;
    std::set<fs::path> outputs;
};

Roles& roles() {
    static Roles all;
    return all;
}

// The file itself, through links; "" for what is no regular file.
fs::path identity(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::exists(status) && !fs::is_regular_file(status)) return {};
    return fs::weakly_canonical(path, error);
}

void take_role(const std::string& path, std::set<fs::path>& own, const std::set<fs::path>& other) {
    const fs::path file = identity(path);
    if (file.empty()) return;
    if (other.count(file) != 0)
        throw BadInput("'" + path + "' is both an input and an output; write somewhere else");
    own.insert(file);
}

}  // namespace

void will_read(const std::string& path) {
    const std::scoped_lock lock(roles().mutex);
    take_role(path, roles().inputs, roles().outputs);
}

void will_write(const std::string& path) {
    const std::scoped_lock lock(roles().mutex);
    take_role(path, roles().outputs, roles().inputs);
}

}  // namespace l2lens
