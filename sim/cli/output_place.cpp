// SPDX-License-Identifier: Apache-2.0
#include "cli/output_place.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/through_links.hpp"

namespace l2lens::cli {
namespace {

namespace fs = std::filesystem;

// The permissions the new file gets: those of the one it replaces, or what the umask leaves.
mode_t permissions_of(const fs::path& target) {
    struct stat existing {};
    if (::stat(target.c_str(), &existing) == 0) return existing.st_mode & 07777;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
}

}  // namespace

void fail_to_write(const std::string& path, int error) {
    throw BadInput("cannot write '" + path + "': " + std::strerror(error));
}

// A descriptor goes straight even where it is of a regular file (/dev/stdout after "> file"): the shell has
// opened that file, and what else is written to the descriptor belongs after this.
bool goes_straight(const std::string& path) {
    if (own_descriptor(path)) return true;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return fs::exists(status) && !fs::is_regular_file(status);
}

bool can_write_straight(const std::string& path) {
    const std::optional<int> number = own_descriptor(path);
    if (!number) return ::access(path.c_str(), W_OK) == 0;
    const int flags = ::fcntl(*number, F_GETFL);
    if (flags < 0) return false;
    errno = EBADF;
    return (flags & O_ACCMODE) != O_RDONLY;
}

Descriptor open_straight(const std::string& path) {
    if (const std::optional<int> number = own_descriptor(path))
        return Descriptor(::fcntl(*number, F_DUPFD_CLOEXEC, 0));
    return Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
}

fs::path target_of(const std::string& path) {
    return through_links(path);
}

fs::path folder_of(const fs::path& target) {
    const fs::path folder = target.parent_path();
    return folder.empty() ? fs::path(".") : folder;
}

Descriptor create_beside(const std::string& path, std::string& name) {
    const fs::path target = target_of(path);
    name = (folder_of(target) / ("." + target.filename().string() + ".XXXXXX")).string();
    Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
    if (!file.is_open()) fail_to_write(path, errno);
    if (::fchmod(file.number(), permissions_of(target)) == 0) return file;
    const int error = errno;
    ::unlink(name.c_str());
    fail_to_write(path, error);
}

}  // namespace l2lens::cli
