// SPDX-License-Identifier: Apache-2.0
#include "base/file_roles.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "base/error.hpp"
#include "base/through_links.hpp"

namespace l2lens {
namespace {

namespace fs = std::filesystem;

struct Roles {
    std::mutex mutex;
    std::set<fs::path> inputs;
    std::map<fs::path, std::string> outputs;  // with their options
};

Roles& roles() {
    static Roles all;
    return all;
}

// The file itself, through links; "" for what is no regular file. A new file has the place it will get:
// absolute, as weakly_canonical() leaves relative names of what is not there.
fs::path identity(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::exists(status) && !fs::is_regular_file(status)) return {};
    return fs::weakly_canonical(fs::absolute(through_links(path), error), error);
}

[[noreturn]] void refuse_both(const std::string& path) {
    throw BadInput("'" + path + "' is both an input and an output; write somewhere else");
}

}  // namespace

void will_read(const std::string& path) {
    const std::scoped_lock lock(roles().mutex);
    const fs::path file = identity(path);
    if (file.empty()) return;
    if (roles().outputs.count(file) != 0) refuse_both(path);
    roles().inputs.insert(file);
}

void will_write(const std::string& path, const std::string& option) {
    const std::scoped_lock lock(roles().mutex);
    const fs::path file = identity(path);
    if (file.empty()) return;
    if (roles().inputs.count(file) != 0) refuse_both(path);
    const auto [known, is_new] = roles().outputs.emplace(file, option);
    if (!is_new && known->second != option)
        throw BadInput(known->second + " and " + option + " both go to '" + path +
                       "'; they need a place each");
}

}  // namespace l2lens
