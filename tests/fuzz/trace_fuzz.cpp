// SPDX-License-Identifier: Apache-2.0
// Traces with accidents: flipped bits, cuts, splices, and frames that were tampered with and checksummed
// again, so that the decoders behind the checksums get their share. Each case must end in a BadInput of one
// line, in a warning with a beginning, or well; never in another exception, a long wait or a large
// allocation.
//
//   test_trace_fuzz [CASES [SEED]]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernel/box_lines.hpp"
#include "load/machine_file.hpp"
#include "trace/frames.hpp"
#include "trace/replay.hpp"
#include "trace/text.hpp"
#include "trace/writer.hpp"

// Inputs are some kilobytes, so nothing may ask for more than this at once.
#define LARGEST_ALLOCATION_MB 64

#ifdef __SANITIZE_ADDRESS__
#define TEXT_OF(x) #x
#define NUMBER_TEXT(x) TEXT_OF(x)
extern "C" const char* __asan_default_options() {
    return "max_allocation_size_mb=" NUMBER_TEXT(LARGEST_ALLOCATION_MB);
}
#else
void* operator new(std::size_t size) {
    if (size > std::size_t{LARGEST_ALLOCATION_MB} << 20) {
        std::fprintf(stderr, "allocation of %zu bytes\n", size);
        std::abort();
    }
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
#endif

namespace {

using namespace l2lens;
using Random = std::mt19937_64;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kDefaultCases = 60'000;
constexpr double kLongestCaseSeconds = 10;
constexpr std::uint64_t kReplayEvery = 64;             // of the cases that read well
constexpr std::int64_t kLargestReplay = 200'000;       // requests
constexpr Picoseconds kLongestReplay = 1'000'000'000;  // 1 ms: the model steps through time

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// Some hundred requests in several windows, as a binary trace.
std::string line_trace(Random& random) {
    std::ostringstream out;
    TraceHeader header;
    header.gpu = "tiny";
    TraceWriter writer(out, header, {});
    for (int i = 0; i < 300; ++i) {
        LineRecord line;
        line.window = i / 8 * 4096;
        line.time = line.window + static_cast<Picoseconds>(random() % 100'000);
        line.address = random() % 4096 * 32;
        line.bytes = 32;
        line.sm = static_cast<std::uint16_t>(random() % 4);
        line.operation = random() % 4 == 0 ? Operation::Write : Operation::Read;
        line.reduce = line.operation == Operation::Write && random() % 2 == 0;
        line.hint = static_cast<CacheHint>(random() % 4);
        writer.add(line);
    }
    writer.finish(300);
    return out.str();
}

std::string text_trace(const std::string& binary) {
    const auto reader = read_trace(std::make_unique<std::istringstream>(binary), "seed");
    std::ostringstream out;
    TextTraceWriter writer(out, reader->header());
    RecordBatch batch;
    while (reader->next(batch)) {
        for (const LineRecord& line : batch.lines) writer.add(line);
    }
    writer.finish(*reader->end());
    return out.str();
}

std::size_t below(Random& random, std::size_t end) {
    return end == 0 ? 0 : random() % end;
}

void mutate(std::string& bytes, const std::string& other, Random& random) {
    static constexpr unsigned char kInteresting[] = {0,   1,   0x7f, 0x80, 0xff, '0',
                                                     '9', '-', '{',  '"',  '\n', ' '};
    const std::size_t at = below(random, bytes.size());
    switch (random() % 6) {
        case 0:
            if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
            break;
        case 1:
            if (!bytes.empty()) bytes[at] = static_cast<char>(kInteresting[random() % sizeof kInteresting]);
            break;
        case 2:
            bytes.resize(at);
            break;
        case 3:
            bytes.erase(at, 1 + random() % 16);
            break;
        case 4: {
            const std::size_t from = below(random, other.size());
            bytes.insert(at, other.substr(from, random() % 64));
            break;
        }
        default: {
            const std::size_t from = below(random, other.size());
            const std::string piece = other.substr(from, random() % 64);
            bytes.replace(at, piece.size(), piece);
        }
    }
}

// Opens a trace's frames, breaks the head or what is in a frame, and packs them anew with right checksums.
std::string tampered(const std::string& bytes, const std::string& other, Random& random) {
    std::istringstream in(bytes);
    FrameReader frames(in, "seed");
    std::string header = frames.header();
    if (random() % 3 == 0) mutate(header, other, random);
    std::ostringstream out;
    FrameWriter writer(out, header);
    while (const std::optional<Frame> frame = frames.next()) {
        std::string inside = frame->bytes;
        std::uint32_t count = frame->count;
        if (random() % 2 == 0) {
            for (std::uint64_t i = 0; i <= random() % 3; ++i) mutate(inside, other, random);
        }
        if (random() % 8 == 0) count += static_cast<std::uint32_t>(random() % 3) - 1;
        if (random() % 16 == 0) continue;
        writer.write(frame->type, count, inside.size(), FrameWriter::pack(inside));
    }
    return out.str();
}

// How much a replay would have to do; -1 for too much.
std::int64_t requests_of(const TraceReader& reader, const RecordBatch& batch) {
    auto requests = static_cast<std::int64_t>(batch.lines.size());
    for (const BoxRecord& box : batch.boxes) {
        const BoxWalk& walk = reader.walks()[box.walk].box;
        requests += most_requests(reader.header().tensors[static_cast<std::size_t>(walk.tensor)], walk);
        if (box.window > kLongestReplay || box.time > kLongestReplay) return -1;
    }
    for (const LineRecord& line : batch.lines) {
        if (line.window > kLongestReplay || line.time > kLongestReplay) return -1;
    }
    return requests > kLargestReplay ? -1 : requests;
}

struct Outcomes {
    std::uint64_t refused = 0;
    std::uint64_t beginnings = 0;
    std::uint64_t whole = 0;
    std::uint64_t replays = 0;
};

std::unique_ptr<TraceReader> reader_of(const std::string& bytes) {
    return read_trace(std::make_unique<std::istringstream>(bytes), "t");
}

void try_case(const std::string& bytes, const Machine& machine, Outcomes& outcomes) {
    try {
        std::int64_t requests = 0;
        const auto reader = reader_of(bytes);
        RecordBatch batch;
        while (reader->next(batch)) {
            const std::int64_t more = requests_of(*reader, batch);
            requests = more < 0 || requests < 0 ? -1 : requests + more;
            if (batch.size() > 0 && reader->where(batch.size() - 1).empty()) std::abort();
        }
        ++(reader->warning().empty() ? outcomes.whole : outcomes.beginnings);
        if (requests < 0 || (outcomes.whole + outcomes.beginnings) % kReplayEvery != 0) return;
        ++outcomes.replays;
        SerialExecutor serial;
        replay(*reader_of(bytes), machine, {}, serial);
    } catch (const BadInput& error) {
        ++outcomes.refused;
        const std::string message = error.what();
        if (message.empty() || message.find('\n') != std::string::npos || message.size() > 1000) {
            throw std::runtime_error("a message that is not one line: " + message);
        }
    }
}

int run(std::uint64_t cases, std::uint64_t seed) {
    Random random(seed);
    const Machine machine = load_machine(std::string(L2LENS_SOURCE_DIR) + "/models/gpus/tiny.toml");
    const std::string samples = std::string(L2LENS_SOURCE_DIR) + "/traces/samples/";
    std::vector<std::string> binary{read_file(samples + "gemm.l2t"), read_file(samples + "hand.l2t"),
                                    line_trace(random)};
    std::vector<std::string> all = binary;
    all.push_back(read_file(samples + "hand.txt"));
    all.push_back(text_trace(binary.back()));
    Outcomes outcomes;
    for (const std::string& bytes : all) try_case(bytes, machine, outcomes);
    if (outcomes.whole != all.size()) {
        std::fprintf(stderr, "the seeds themselves do not read\n");
        return 1;
    }
    for (std::uint64_t i = 0; i < cases; ++i) {
        const std::string& other = all[random() % all.size()];
        std::string bytes;
        if (random() % 2 == 0) {
            bytes = tampered(binary[random() % binary.size()], other, random);
        } else {
            bytes = all[random() % all.size()];
            for (std::uint64_t m = 0; m <= random() % 4; ++m) mutate(bytes, other, random);
        }
        const auto start = Clock::now();
        try {
            try_case(bytes, machine, outcomes);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "seed %llu, case %llu: %s\n", static_cast<unsigned long long>(seed),
                         static_cast<unsigned long long>(i), error.what());
            return 1;
        }
        const std::chrono::duration<double> seconds = Clock::now() - start;
        if (seconds.count() > kLongestCaseSeconds) {
            std::fprintf(stderr, "seed %llu, case %llu: took %.1f s\n", static_cast<unsigned long long>(seed),
                         static_cast<unsigned long long>(i), seconds.count());
            return 1;
        }
    }
    std::printf("seed %llu: %llu refused, %llu read as a beginning, %llu read well; %llu replayed\n",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(outcomes.refused),
                static_cast<unsigned long long>(outcomes.beginnings),
                static_cast<unsigned long long>(outcomes.whole),
                static_cast<unsigned long long>(outcomes.replays));
    return outcomes.refused > 0 && outcomes.beginnings > 0 && outcomes.replays > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : kDefaultCases;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    return run(cases, seed);
}
