// SPDX-License-Identifier: Apache-2.0
// What the recorders that take no words share.
#pragma once

#include <cstdio>

#include "base/error.hpp"

#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {

// main() of one: record(bench) writes its rows to stdout; what keeps it from that is a line on stderr, behind
// the recorder's name, and the exit status.
template <class Record>
int run_recorder(const char* name, int argc, Record record) {
    try {
        if (argc > 1) throw BadInput("takes no word");
        ProbeBench bench;
        record(bench);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return static_cast<int>(error.code());
    }
}

}  // namespace l2lens::gpu
