// SPDX-License-Identifier: Apache-2.0
// The one place where exceptions end: one line on stderr and an exit code.
#include <cstdio>
#include <exception>
#include <new>

#include "base/huge_pages.hpp"
#include "cli/interrupt.hpp"
#include "cli/invocation.hpp"

int main(int argc, char** argv) {
    using l2lens::ExitCode;
    l2lens::prefer_huge_pages();
    ExitCode code = ExitCode::Internal;
    try {
        l2lens::cli::watch_for_interrupt();
        code = l2lens::cli::run_command_line(argc, argv);
    } catch (const l2lens::Error& error) {
        std::fprintf(stderr, "l2lens: %s\n", error.what());
        code = error.code();
    } catch (const std::bad_alloc&) {
        std::fputs("l2lens: out of memory; a smaller problem or a coarser --sample needs less\n", stderr);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "l2lens: internal error: %s\n", error.what());
    }
    return static_cast<int>(code);
}
