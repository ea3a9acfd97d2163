// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <csignal>

#include "base/error.hpp"

namespace l2lens::cli {
namespace {

volatile std::sig_atomic_t signalled = 0;

extern "C" void on_signal(int) {
    signalled = 1;
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
    return signalled != 0;
}

void throw_if_interrupted() {
    if (interrupted()) throw Interrupted();
}

}  // namespace l2lens::cli
