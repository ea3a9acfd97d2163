// SPDX-License-Identifier: Apache-2.0
// Traces in memory, for tests.
#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/executor.hpp"
#include "kernel/residency.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "order/order.hpp"
#include "schedule/simulation.hpp"
#include "support/ordered.hpp"
#include "trace/reader.hpp"
#include "trace/recorder.hpp"
#include "trace/replay.hpp"

#include "predict.hpp"

namespace l2lens::test {

inline std::unique_ptr<TraceReader> reader_of(const std::string& bytes, const std::string& name = "t.l2t") {
    return read_trace(std::make_unique<std::istringstream>(bytes), name);
}

inline std::vector<BoxRecord> boxes_of(TraceReader& reader) {
    std::vector<BoxRecord> all;
    RecordBatch batch;
    while (reader.next(batch)) all.insert(all.end(), batch.boxes.begin(), batch.boxes.end());
    return all;
}

inline std::vector<LineRecord> lines_of(TraceReader& reader) {
    std::vector<LineRecord> all;
    RecordBatch batch;
    while (reader.next(batch)) all.insert(all.end(), batch.lines.begin(), batch.lines.end());
    return all;
}

// A run and the trace of it.
struct Recorded {
    std::string trace;
    SimulationResult run;
};

struct RunSpec {
    std::string order = "row_major";
    Mode mode = Mode::Grid;
    int lanes = 1;
    std::uint64_t seed = 0;
    RecordKind kind = RecordKind::Box;
};

inline Recorded record_run(const Machine& machine, const Kernel& kernel, const RunSpec& spec,
                           Executor& executor) {
    TraceHeader header;
    header.version = "0.0.0";
    header.kind = spec.kind;
    header.kernel = kernel.name;
    header.order = spec.order;
    header.gpu = machine.name;
    header.gpu_hash = machine.file_hash;
    header.seed = spec.seed;
    std::ostringstream out;
    TraceRecorder recorder(out, machine, header, kNoLimit);
    SimulationOptions options;
    options.mode = spec.mode;
    options.lanes = spec.lanes;
    options.seed = spec.seed;
    options.sink = &recorder;
    const NamedOrder order = order_of(spec.order, kernel, machine);
    const int resident = spec.mode == Mode::Grid ? ctas_per_sm(kernel.resources, machine) : 1;
    const SimulationResult run =
        Simulation(machine, kernel, order.tile_of_launch, resident, options).run(executor);
    recorder.finish();
    return {out.str(), run};
}

}  // namespace l2lens::test
