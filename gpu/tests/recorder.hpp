// SPDX-License-Identifier: Apache-2.0
// What the recorders share that take no words.
#pragma once

#include <cstdio>
#include <string>

#include "base/error.hpp"

#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {

// main() of one: record(bench) writes its rows to stdout; what keeps it from that is a line on stderr, behind
// the recorder's name, and the exit status.
template <class Record>
int run_recorder(const char* name, int words, Record record) {
    try {
        if (words > 1) throw BadInput(std::string(name) + " takes no word");
        ProbeBench bench;
        record(bench);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return static_cast<int>(error.code());
    }
}

}  // namespace l2lens::gpu
