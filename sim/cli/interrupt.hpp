// SPDX-License-Identifier: Apache-2.0
// Ctrl-C as a question the computation asks now and then, so that nothing is left half written.
#pragma once

namespace l2lens::cli {

// From now on SIGINT and SIGTERM set a flag; a second one ends the program at once.
void watch_for_interrupt();

bool interrupted();

// Throws Interrupted when the flag is set.
void throw_if_interrupted();

}  // namespace l2lens::cli
