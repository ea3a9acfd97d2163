// SPDX-License-Identifier: Apache-2.0
// Ctrl-C as a question the computation asks now and then, so that nothing is left half written.
#pragma once

namespace l2lens::cli {

// From now on SIGINT and SIGTERM set a flag; a second one ends the program at once.
void watch_for_interrupt();

bool interrupted();

// Throws Interrupted when the flag is set.
void throw_if_interrupted();

// While one lives the first signal, too, ends the program at once, as Interrupted would end it: for
// computations that never ask, and write nothing that could be left half done.
class EndsAtInterrupt {
public:
    EndsAtInterrupt();
    ~EndsAtInterrupt();
    EndsAtInterrupt(const EndsAtInterrupt&) = delete;
    EndsAtInterrupt& operator=(const EndsAtInterrupt&) = delete;

private:
    bool before_;
};

// What such a computation returns.
template <class Work>
auto until_interrupted(Work&& work) {
    const EndsAtInterrupt guard;
    return work();
}

}  // namespace l2lens::cli
