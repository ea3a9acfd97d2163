// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <string_view>

#include <unistd.h>

#include "base/error.hpp"

namespace l2lens::cli {
namespace {

// Threads other than the handler's ask, so it is an atomic; a handler may write one without a lock.
std::atomic<bool> signalled = false;
std::atomic<bool> ends_at_once = false;
static_assert(std::atomic<bool>::is_always_lock_free);

// As main() would, with nothing but what a handler may call.
[[noreturn]] void end_now() {
    constexpr std::string_view kMessage = "l2lens: interrupted\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
    ::_exit(static_cast<int>(ExitCode::Interrupted));
}

extern "C" void on_signal(int) {
    signalled = true;
    if (ends_at_once) end_now();
}

}  // namespace

void watch_for_interrupt() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second signal finds the default again
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
    return signalled;
}

void throw_if_interrupted() {
    if (interrupted()) throw Interrupted();
}

// Asked after it is said: a signal just before is not overlooked.
EndsAtInterrupt::EndsAtInterrupt() : before_(ends_at_once.exchange(true)) {
    if (!interrupted()) return;
    ends_at_once = before_;
    throw Interrupted();
}

EndsAtInterrupt::~EndsAtInterrupt() {
    ends_at_once = before_;
}

}  // namespace l2lens::cli
