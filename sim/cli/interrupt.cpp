// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <atomic>
#include <csignal>

#include "base/error.hpp"

namespace l2lens::cli {
namespace {

// Threads other than the handler's ask, so it is an atomic; a handler may write one without a lock.
std::atomic<bool> signalled = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_signal(int) {
    signalled = true;
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

}  // namespace l2lens::cli
