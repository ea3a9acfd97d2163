// SPDX-License-Identifier: Apache-2.0
#include "cli/descriptor.hpp"

#include <cerrno>
#include <utility>

#include <unistd.h>

namespace l2lens::cli {

constexpr std::size_t kBlock = 1 << 16;  // bytes, as much as a pipe holds on Linux

Descriptor::~Descriptor() {
    if (is_open()) ::close(number_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

bool Descriptor::write_all(std::string_view text) const {
    while (!text.empty()) {
        const ssize_t written = ::write(number_, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

bool Descriptor::close() {
    return ::close(std::exchange(number_, -1)) == 0;
}

DescriptorBuffer::DescriptorBuffer(const Descriptor& descriptor) : descriptor_(descriptor), block_(kBlock) {
    setp(block_.data(), block_.data() + block_.size());
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type c) {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
}

int DescriptorBuffer::sync() {
    const bool written = descriptor_.write_all({pbase(), static_cast<std::size_t>(pptr() - pbase())});
    if (!written && error_ == 0) error_ = errno;
    setp(block_.data(), block_.data() + block_.size());
    return written ? 0 : -1;
}

}  // namespace l2lens::cli
