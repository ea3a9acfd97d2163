// SPDX-License-Identifier: Apache-2.0
// What goes wrong, and the exit code a shell sees for it. One line each: what, where, what would be right.
#pragma once

#include <stdexcept>
#include <string>

namespace l2lens {

enum class ExitCode {
    Done = 0,
    OutsideTolerance = 1,  // a prediction outside --tolerance, or an order that is not a bijection
    Interrupted = 2,
    Internal = 3,
    BadInput = 4,
    Unavailable = 77,  // hardware or counters not there; the code ctest and automake read as "skipped"
};

class Error : public std::runtime_error {
public:
    Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
    ExitCode code() const noexcept { return code_; }

private:
    ExitCode code_;
};

// A user's mistake: exit 4.
class BadInput : public Error {
public:
    explicit BadInput(const std::string& message) : Error(ExitCode::BadInput, message) {}
};

// Hardware, driver or permission missing: exit 77.
class Unavailable : public Error {
public:
    explicit Unavailable(const std::string& message) : Error(ExitCode::Unavailable, message) {}
};

// Ctrl-C, or a caller's stop request: exit 2.
class Interrupted : public Error {
public:
    Interrupted() : Error(ExitCode::Interrupted, "interrupted") {}
};

}  // namespace l2lens
