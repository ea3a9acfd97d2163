// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_probe: probe_gpu() from a shell, without the model's readers. Prints what was read as key,
// value, source.
#include <cstdio>

#include "base/error.hpp"

#include "gpu/probe/probe.hpp"

int main() {
    using namespace l2lens;
    try {
        const auto report =
            gpu::probe_gpu([](const std::string& part) { std::fprintf(stderr, "%s ...\n", part.c_str()); });
        std::printf("%s (%s), %.1f s\n", report.description.c_str(), report.chip.c_str(), report.seconds);
        for (const auto& reading : report.readings)
            std::printf("%s = %s  # %s\n", reading.key.c_str(), reading.value.c_str(),
                        reading.source.c_str());
        for (const std::string& note : report.notes) std::printf("note: %s\n", note.c_str());
        for (const std::string& gap : report.undetermined) std::printf("undetermined: %s\n", gap.c_str());
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
