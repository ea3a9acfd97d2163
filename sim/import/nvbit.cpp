// SPDX-License-Identifier: Apache-2.0
#include "import/nvbit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace l2lens {
namespace {

// The windows through which generic addresses reach shared and local memory.
constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 24;

struct OpcodeKind {
    const char* name;
    Operation operation;
    Path path;
    bool adds;
};

// SASS of compute capabilities 7.0 to 9.0 (CUDA Binary Utilities, instruction set reference).
constexpr std::array<OpcodeKind, 9> kOpcodes{{
    {"LDG", Operation::Read, Path::Load, false},
    {"LD", Operation::Read, Path::Load, false},
    {"LDGSTS", Operation::Read, Path::CpAsync, false},
    {"STG", Operation::Write, Path::Load, false},
    {"ST", Operation::Write, Path::Load, false},
    {"RED", Operation::Write, Path::Load, true},
    {"REDG", Operation::Write, Path::Load, true},
    {"ATOM", Operation::Write, Path::Load, true},
    {"ATOMG", Operation::Write, Path::Load, true},
}};

const OpcodeKind* find_opcode(std::string_view opcode) {
    const std::string_view first = opcode.substr(0, opcode.find('.'));
    for (const OpcodeKind& kind : kOpcodes)
        if (first == kind.name) return &kind;
    return nullptr;
}

// LDG.E.128: 16 bytes a lane; LDG.E.U8: 1. Without a number 4, as the tracer itself may report it wrongly.
std::uint32_t width_of(std::string_view opcode) {
    while (!opcode.empty()) {
        const std::size_t dot = opcode.find('.');
        std::string_view word = opcode.substr(0, dot);
        opcode = dot == std::string_view::npos ? "" : opcode.substr(dot + 1);
        if (!word.empty() && (word.front() == 'U' || word.front() == 'S')) word.remove_prefix(1);
        std::uint32_t bits = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bits);
        if (error == std::errc{} && end == word.data() + word.size() && bits >= 8 && bits <= 256)
            return bits / 8;
    }
    return 4;
}

class NvbitReader {
public:
    NvbitReader(std::istream& in, const std::string& name, const AccessVisitor& visit)
        : in_(in), name_(name), visit_(visit) {}

    ForeignLaunch read() {
        std::string text;
        while (std::getline(in_, text)) {
            ++line_;
            if (!text.empty() && text.back() == '\r') text.pop_back();
            rest_ = text;
            if (text.empty()) continue;
            if (text.front() == '-') {
                read_head();
            } else if (text.front() == '#') {
                read_mark(text);
            } else {
                read_body();
            }
        }
        if (in_.bad()) throw BadInput(name_ + ": cannot be read");
        if (inside_) fail("the file ends inside a thread block: #END_TB is missing");
        if (ctas_ == 0) fail("has no thread block: is it a kernel-N.traceg of Accel-Sim's tracer?");
        return launch_;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw BadInput(fmt::format("{}:{}: {}", name_, std::max(line_, 1), what));
    }

    std::string_view word() {
        const std::size_t begin = rest_.find_first_not_of(" \t");
        if (begin == std::string_view::npos) return rest_ = {};
        const std::size_t end = std::min(rest_.find_first_of(" \t", begin), rest_.size());
        const std::string_view found = rest_.substr(begin, end - begin);
        rest_.remove_prefix(end);
        return found;
    }

    template <class Number>
    Number number(const char* what, int base = 10) {
        std::string_view text = word();
        if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
        Number value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
        if (error == std::errc::result_out_of_range)
            fail(fmt::format("{} '{}' is out of range", what, text.substr(0, 40)));
        if (text.empty() || error != std::errc{} || end != text.data() + text.size())
            fail(fmt::format("{} '{}' is no number", what, text.substr(0, 40)));
        return value;
    }

    // "-shmem = 0": what follows the '='.
    void read_head() {
        const std::size_t equals = rest_.find('=');
        if (equals == std::string_view::npos) return;
        std::string_view key = rest_.substr(1, equals - 1);
        while (!key.empty() && key.back() == ' ') key.remove_suffix(1);
        rest_.remove_prefix(equals + 1);
        if (key == "kernel name") {
            launch_.kernel = word();
        } else if (key == "shmem") {
            launch_.resources.shared_memory_bytes = number<std::uint32_t>("shmem");
        } else if (key == "nregs") {
            launch_.resources.registers_per_thread = number<int>("nregs");
        } else if (key == "shmem base_addr") {
            windows_[0] = number<std::uint64_t>("shmem base_addr", 16);
        } else if (key == "local mem base_addr") {
            windows_[1] = number<std::uint64_t>("local mem base_addr", 16);
        } else if (key == "enable lineinfo") {
            line_numbers_ = number<int>("enable lineinfo") != 0;
        } else if (key == "accelsim tracer version") {
            if (number<int>("accelsim tracer version") < 3)
                fail("traces before version 3 are not read; a current tracer writes 3 and later");
        } else if (key == "block dim") {
            read_block();
        }
    }

    // (256,1,1)
    void read_block() {
        std::string text(word());
        for (char& c : text)
            if (c == '(' || c == ',' || c == ')') c = ' ';
        rest_ = text;
        launch_.resources.threads = 1;
        for (int axis = 0; axis < 3; ++axis) launch_.resources.threads *= number<int>("block dim");
        if (launch_.resources.threads < 1 || launch_.resources.threads > 1024)
            fail("a block of " + std::to_string(launch_.resources.threads) + " threads");
        rest_ = {};
    }

    void read_mark(std::string_view text) {
        if (text.starts_with("#BEGIN_TB")) {
            if (inside_) fail("#BEGIN_TB inside a thread block");
            inside_ = true;
            access_.cta = ctas_++;
        } else if (text.starts_with("#END_TB")) {
            if (!inside_) fail("#END_TB outside a thread block");
            inside_ = false;
        }
    }

    void read_body() {
        const std::string_view line = rest_;
        if (!inside_) fail("an instruction outside a thread block");
        if (line.starts_with("thread block") || line.starts_with("insts")) return;
        if (line.starts_with("warp")) {
            rest_.remove_prefix(std::min(rest_.find('=') + 1, rest_.size()));
            access_.warp = number<std::uint32_t>("warp");
            instruction_ = 0;
            return;
        }
        read_instruction();
        ++instruction_;
    }

    void read_instruction() {
        if (line_numbers_) number<std::uint32_t>("line");
        number<std::uint64_t>("PC", 16);
        const auto mask = number<std::uint32_t>("mask", 16);
        skip_registers("destinations");
        const std::string_view opcode = word();
        if (opcode.starts_with("UTMA") || opcode.starts_with("UBLK"))
            fail(fmt::format("{}: bulk copies are not read; their boxes are what a kernel file describes",
                             opcode));
        const OpcodeKind* const kind = find_opcode(opcode);
        if (kind == nullptr || mask == 0) return;
        skip_registers("sources");
        if (number<std::uint32_t>("width") == 0) return;
        access_.line = line_;
        access_.instruction = instruction_;
        access_.operation = kind->operation;
        access_.path = kind->path;
        access_.adds = kind->adds;
        access_.width = width_of(opcode);
        read_lanes(mask);
        if (access_.lanes > 0) visit_(access_);
    }

    void skip_registers(const char* what) {
        const auto count = number<std::uint32_t>(what);
        if (count > 16) fail(fmt::format("{} {}", count, what));
        for (std::uint32_t i = 0; i < count; ++i) word();
    }

    bool in_window(std::uint64_t address) const {
        return std::any_of(windows_.begin(), windows_.end(), [&](std::uint64_t base) {
            return base != 0 && address >= base && address - base < kWindowBytes;
        });
    }

    void add_lane(std::uint64_t address) {
        if (address + (access_.width - 1) < address)
            fail(fmt::format("the {} bytes at {:#x} reach beyond 64 bits", access_.width, address));
        if (!in_window(address)) access_.address[static_cast<std::size_t>(access_.lanes++)] = address;
    }

    void read_lanes(std::uint32_t mask) {
        access_.lanes = 0;
        const auto format = number<int>("address format");
        const int active = __builtin_popcount(mask);
        if (format == 0) {
            for (int i = 0; i < active; ++i) add_lane(number<std::uint64_t>("address", 16));
        } else if (format == 1) {
            auto address = number<std::uint64_t>("base", 16);
            const auto stride = number<std::int64_t>("stride");
            for (int i = 0; i < active; ++i, address += static_cast<std::uint64_t>(stride)) add_lane(address);
        } else if (format == 2) {
            auto address = number<std::uint64_t>("base", 16);
            add_lane(address);
            for (int i = 1; i < active; ++i) {
                address += static_cast<std::uint64_t>(number<std::int64_t>("difference"));
                add_lane(address);
            }
        } else {
            fail(fmt::format("address format {}; there are 0, 1 and 2", format));
        }
    }

    std::istream& in_;
    const std::string& name_;
    const AccessVisitor& visit_;
    ForeignLaunch launch_;
    WarpAccess access_;
    std::array<std::uint64_t, 2> windows_{};
    std::string_view rest_;
    int line_ = 0;
    std::uint32_t instruction_ = 0;
    std::uint32_t ctas_ = 0;
    bool inside_ = false;
    bool line_numbers_ = false;
};

}  // namespace

ForeignLaunch read_nvbit(std::istream& in, const std::string& name, const AccessVisitor& visit) {
    return NvbitReader(in, name, visit).read();
}

}  // namespace l2lens
