// SPDX-License-Identifier: Apache-2.0
// The key=value parameters of a kernel, read one by one with defaults; what nobody asked for is a
// misspelling.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace l2lens::gpu {

using ParamList = std::vector<std::pair<std::string, std::string>>;

class LiveParams {
public:
    LiveParams(std::string kernel, ParamList given) : kernel_(std::move(kernel)), given_(std::move(given)) {}

    std::int64_t integer(const std::string& name, std::int64_t fallback);
    int small_integer(const std::string& name, int fallback);
    // 0, the usual default of models/kernels, stands for what the kernel then settles with settle().
    int small_integer_or_auto(const std::string& name);
    void settle(const std::string& name, std::int64_t value);
    std::string choice(const std::string& name, const std::string& fallback,
                       const std::vector<std::string>& choices);

    // Throws BadInput for parameters the kernel does not have; returns all of them resolved, in the order
    // asked for.
    ParamList finish() const;

private:
    std::int64_t whole_number(const std::string& name, std::int64_t fallback, std::int64_t least);
    const std::string* find(const std::string& name) const;

    std::string kernel_;
    ParamList given_;
    ParamList resolved_;
};

}  // namespace l2lens::gpu
