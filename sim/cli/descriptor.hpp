// SPDX-License-Identifier: Apache-2.0
// An open file descriptor, closed by whoever holds it, and a stream buffer that writes to one: a descriptor
// that the shell has opened (/dev/stdout, >(...)) has no name by which std::ofstream could open it again.
#pragma once

#include <streambuf>
#include <string_view>
#include <vector>

namespace l2lens::cli {

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int number() const { return number_; }
    bool is_open() const { return number_ >= 0; }
    // Writes all of it, or says false and leaves errno.
    bool write_all(std::string_view text) const;
    // Closes and says whether all of it reached its place.
    bool close();

private:
    int number_;
};

class DescriptorBuffer final : public std::streambuf {
public:
    // `descriptor` outlives the buffer, and gets what was put in with the next flush at the latest.
    explicit DescriptorBuffer(const Descriptor& descriptor);

    // The errno of the first write that failed, else 0.
    int error() const { return error_; }

protected:
    int_type overflow(int_type c) override;
    int sync() override;

private:
    const Descriptor& descriptor_;
    std::vector<char> block_;
    int error_ = 0;
};

}  // namespace l2lens::cli
