// SPDX-License-Identifier: Apache-2.0
#include "cli/file_output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file_roles.hpp"

namespace l2lens::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) {
    throw BadInput("cannot write '" + path + "': " + std::strerror(error));
}

// Where the bytes go: through symbolic links, so that a link stays one.
fs::path target_of(const std::string& path) {
    std::error_code error;
    fs::path target = path;
    for (int links = 0; links < 40 && fs::is_symlink(target, error); ++links) {
        const fs::path next = fs::read_symlink(target, error);
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return target;
}

fs::path folder_of(const fs::path& target) {
    const fs::path folder = target.parent_path();
    return folder.empty() ? fs::path(".") : folder;
}

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int number() const { return number_; }
    // Closes and says whether all of it reached its place.
    bool close() {
        const int number = number_;
        number_ = -1;
        return ::close(number) == 0;
    }

private:
    int number_;
};

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

void write_straight(const std::string& path, std::string_view text) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.number() < 0 || !write_all(file.number(), text) || !file.close()) fail(path, errno);
}

// The permissions the new file gets: those of the one it replaces, or what the umask leaves.
mode_t permissions_of(const fs::path& target) {
    struct stat existing {};
    if (::stat(target.c_str(), &existing) == 0) return existing.st_mode & 07777;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
}

void write_beside_and_rename(const std::string& path, const fs::path& target, std::string_view text) {
    std::string beside = (folder_of(target) / ("." + target.filename().string() + ".XXXXXX")).string();
    Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
    if (file.number() < 0) fail(path, errno);
    if (write_all(file.number(), text) && ::fchmod(file.number(), permissions_of(target)) == 0 &&
        file.close() && ::rename(beside.c_str(), target.c_str()) == 0) {
        return;
    }
    const int error = errno;
    ::unlink(beside.c_str());
    fail(path, error);
}

bool goes_straight(const fs::path& target) {
    std::error_code error;
    const fs::file_status status = fs::status(target, error);
    return fs::exists(status) && !fs::is_regular_file(status);
}

}  // namespace

void check_writable(const std::string& path) {
    const fs::path target = target_of(path);
    std::error_code ignored;
    if (path.empty()) fail(path, ENOENT);
    if (path == "-") throw BadInput("'-' is no file's name; only --json and --csv print");
    will_write(path);
    if (fs::is_directory(target, ignored) || path.back() == '/') fail(path, EISDIR);
    if (fs::exists(target, ignored) && ::access(target.c_str(), W_OK) != 0) fail(path, errno);
    // "folder/." tells a file on the way (ENOTDIR) from a folder without permission.
    if (!goes_straight(target) && ::access((folder_of(target) / ".").c_str(), W_OK | X_OK) != 0)
        fail(path, errno);
}

void write_file(const std::string& path, std::string_view text) {
    const fs::path target = target_of(path);
    if (goes_straight(target)) {
        write_straight(path, text);
    } else {
        write_beside_and_rename(path, target, text);
    }
}

void write_stdout(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
        fail("standard output", errno);
    }
}

}  // namespace l2lens::cli
