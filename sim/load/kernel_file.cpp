// SPDX-License-Identifier: Apache-2.0
#include "load/kernel_file.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <lua.hpp>

#include "base/bytes_text.hpp"
#include "base/error.hpp"
#include "kernel/box_lines.hpp"
#include "kernel/clusters.hpp"
#include "kernel/residency.hpp"
#include "load/lua_kernel.hpp"
#include "load/model_path.hpp"
#include "load/sandbox.hpp"
#include "load/text_file.hpp"

namespace l2lens {
namespace {

// Programs of one kernel, held in memory all at once.
constexpr double kMostProgramBytes = 4.0 * 1024 * 1024 * 1024;

// More requests than this would take the simulator days.
constexpr double kMostRequests = 1e12;

// Tiles between two reports of progress.
constexpr std::int64_t kReportEvery = 1024;

// What one program call may take of the total, on top of the usual budget.
constexpr double kSecondsPerTile = 20e-6;

// One file in its sandbox. Stack positions hold inside one protect() only.
class KernelFile {
public:
    explicit KernelFile(const std::string& name_or_path)
        : path_(find_model_file("kernels", name_or_path, ".lua").string()),
          name_(path_.substr(path_.rfind('/') + 1, path_.size())),
          shown_(chunk_display_name(name_or_path == stem() ? name_ : path_)) {}

    KernelDescription describe() {
        KernelDescription description;
        sandbox_.protect(shown_, [&](lua_State* lua) { description = run_chunk(lua); });
        return description;
    }

    Kernel load(const KernelArguments& arguments, const Machine* machine, const LoadProgress& progress);

private:
    std::string stem() const { return name_.ends_with(".lua") ? name_.substr(0, name_.size() - 4) : name_; }
    [[noreturn]] void fail(const std::string& message) const { throw BadInput(shown_ + ": " + message); }

    KernelDescription run_chunk(lua_State* lua);
    void call_kernel(lua_State* lua, const std::vector<KernelParam>& params, const ParamValues& values,
                     const Machine* machine);
    Program call_program(lua_State* lua, const std::vector<std::int64_t>& tile);
    void read_launch(lua_State* lua, const Machine* machine, const LoadProgress& progress);
    void read_launches(lua_State* lua, const Machine* machine, const LoadProgress& progress);
    void check_grid(const Program& first) const;
    void read_programs(lua_State* lua, const LoadProgress& progress);

    std::string path_;
    std::string name_;   // "gemm.lua"
    std::string shown_;  // what messages begin with
    Sandbox sandbox_;
    LuaKernel reader_{shown_};
};

KernelDescription KernelFile::run_chunk(lua_State* lua) {
    reader_.install(lua);
    sandbox_.begin_call();
    sandbox_.compile(read_text_file(path_), shown_);
    lua_call(lua, 0, 0);

    KernelDescription description;
    description.name = stem();
    description.file = path_;
    if (lua_getglobal(lua, "about") == LUA_TSTRING) description.about = lua_tostring(lua, -1);
    if (lua_getglobal(lua, "params") == LUA_TNIL) {
        lua_pop(lua, 2);
    } else {
        description.params = read_param_declarations(lua, shown_);
        lua_pop(lua, 1);
    }
    return description;
}

// Leaves p at 1 and the kernel's table at 2.
void KernelFile::call_kernel(lua_State* lua, const std::vector<KernelParam>& params,
                             const ParamValues& values, const Machine* machine) {
    lua_settop(lua, 0);
    push_params(lua, params, values);
    if (lua_getglobal(lua, "kernel") != LUA_TFUNCTION) fail("defines no function kernel(p)");
    lua_pushvalue(lua, 1);
    if (machine == nullptr) {
        lua_pushnil(lua);
    } else {
        lua_newtable(lua);
        lua_pushstring(lua, machine->name.c_str());
        lua_setfield(lua, -2, "name");
        for (const auto& [key, value] :
             {std::pair<const char*, std::int64_t>{"sms", std::ssize(machine->sms)},
              {"shared_memory", machine->sm.shared_memory_per_cta},
              {"registers", machine->sm.registers},
              {"l2_bytes", machine->l2_bytes()}}) {
            lua_pushinteger(lua, value);
            lua_setfield(lua, -2, key);
        }
    }
    sandbox_.begin_call();
    lua_call(lua, 2, 1);
}

// Expects the program function at 3.
Program KernelFile::call_program(lua_State* lua, const std::vector<std::int64_t>& tile) {
    lua_settop(lua, 3);
    lua_pushvalue(lua, 3);
    for (const std::int64_t coordinate : tile) lua_pushinteger(lua, coordinate);
    sandbox_.begin_call();
    lua_call(lua, static_cast<int>(tile.size()), 1);
    return reader_.read_program(lua, 4, [&] {
        std::string call = "program(";
        for (const std::int64_t coordinate : tile)
            call += (call.back() == '(' ? "" : ", ") + std::to_string(coordinate);
        return call + ")";
    });
}

double program_bytes(const Program& program) {
    std::size_t bytes = sizeof(Program);
    for (const Phase& phase : program.phases)
        bytes += sizeof(Phase) + sizeof(BoxWalk) * (phase.loads.capacity() + phase.stores.capacity());
    return static_cast<double>(bytes);
}

double program_requests(const Program& program, const std::vector<Tensor>& tensors) {
    double requests = 0;
    for (const Phase& phase : program.phases) {
        for (const auto* boxes : {&phase.loads, &phase.stores}) {
            for (const BoxWalk& box : *boxes) {
                const Tensor& tensor = tensors[static_cast<std::size_t>(box.tensor)];
                requests +=
                    static_cast<double>(phase.count) * static_cast<double>(most_requests(tensor, box));
            }
        }
        requests += static_cast<double>(phase.count);
    }
    return requests;
}

// Before anything is allocated: the first tile's program stands for the others.
void KernelFile::check_grid(const Program& first) const {
    double tiles = 1;
    std::string extents;
    for (const std::int64_t extent : reader_.kernel.grid) {
        tiles *= static_cast<double>(extent);
        extents += (extents.empty() ? "" : " x ") + std::to_string(extent);
    }
    const double bytes = tiles * program_bytes(first);
    if (tiles > static_cast<double>(kMostTiles) || bytes > kMostProgramBytes) {
        fail("a grid of " + extents + " tiles needs " + bytes_text(bytes) + " of memory; at most " +
             std::to_string(kMostTiles) + " tiles and " + bytes_text(kMostProgramBytes) +
             ": take larger tiles");
    }
}

void KernelFile::read_programs(lua_State* lua, const LoadProgress& progress) {
    Kernel& kernel = reader_.kernel;
    lua_settop(lua, 2);
    lua_getfield(lua, 2, "program");
    std::vector<std::int64_t> tile(kernel.grid.size(), 0);
    check_grid(call_program(lua, tile));

    const std::int64_t tiles = kernel.tiles();
    sandbox_.allow_more(kSecondsPerTile * static_cast<double>(tiles));
    kernel.programs.reserve(static_cast<std::size_t>(tiles));
    double bytes = 0;
    double requests = 0;
    for (std::int64_t i = 0; i < tiles; ++i) {
        if (progress && i % kReportEvery == 0) progress(static_cast<double>(i) / static_cast<double>(tiles));
        kernel.programs.push_back(call_program(lua, tile));
        bytes += program_bytes(kernel.programs.back());
        requests += program_requests(kernel.programs.back(), kernel.tensors);
        if (bytes > kMostProgramBytes)
            fail("the programs need more than " + bytes_text(kMostProgramBytes) + " of memory");
        if (requests > kMostRequests) fail("asks for more than 1e12 cache lines, too many to simulate");
        for (std::size_t axis = tile.size(); axis-- > 0;) {
            if (++tile[axis] < kernel.grid[axis]) break;
            tile[axis] = 0;
        }
    }
    const bool idle = std::ranges::all_of(kernel.programs, [](const Program& p) { return p.phases.empty(); });
    if (idle) fail("no tile has a step: each phase that program() returns has count = 0");
}

// A V100 has no fp8 tensor cores.
void check_math(const Kernel& kernel, const Machine& machine) {
    const double rate = kernel.math == MathType::Bits16  ? machine.sm.tensor_flops_per_cycle_16bit
                        : kernel.math == MathType::Bits8 ? machine.sm.tensor_flops_per_cycle_8bit
                                                         : machine.sm.tensor_flops_per_cycle_tf32;
    if (rate <= 0 && kernel.flops() > 0)
        throw BadInput(kernel.name + ": " + machine.name + " has no tensor cores for this element type");
}

void check_residency(const Kernel& kernel, const Machine& machine) {
    if (const std::string why = why_no_cta_fits(kernel.resources, machine); !why.empty())
        throw BadInput(kernel.name + ": " + why + "; take smaller tiles, fewer stages or more warps");
}

// Reads the launch whose table is at 2.
void KernelFile::read_launch(lua_State* lua, const Machine* machine, const LoadProgress& progress) {
    Kernel& kernel = reader_.kernel;
    reader_.read_kernel(lua, 2);
    if (machine != nullptr) check_residency(kernel, *machine);
    read_programs(lua, progress);
    if (machine != nullptr) check_math(kernel, *machine);
}

// The launches of the table at 2, one after the other; the first has the others in its `then`.
void KernelFile::read_launches(lua_State* lua, const Machine* machine, const LoadProgress& progress) {
    const std::size_t count = reader_.read_sequence(lua, 2);
    if (count == 0) return read_launch(lua, machine, progress);
    static const char kLaunches = 'l';
    lua_getfield(lua, 2, "launches");
    lua_rawsetp(lua, LUA_REGISTRYINDEX, &kLaunches);
    const Kernel bare = reader_.kernel;  // name, title, tensors, parameters
    std::vector<Kernel> launches;
    for (std::size_t i = 1; i <= count; ++i) {
        reader_.kernel = bare;
        lua_settop(lua, 1);
        lua_rawgetp(lua, LUA_REGISTRYINDEX, &kLaunches);
        lua_rawgeti(lua, -1, static_cast<lua_Integer>(i));
        lua_remove(lua, 2);
        read_launch(lua, machine, progress);
        launches.push_back(std::move(reader_.kernel));
    }
    reader_.kernel = std::move(launches.front());
    launches.erase(launches.begin());
    reader_.kernel.then = std::move(launches);
}

Kernel KernelFile::load(const KernelArguments& arguments, const Machine* machine,
                        const LoadProgress& progress) {
    Kernel& kernel = reader_.kernel;
    kernel.name = stem();
    sandbox_.protect(shown_, [&](lua_State* lua) {
        const KernelDescription description = run_chunk(lua);
        const std::vector<KernelParam>& params = description.params;
        call_kernel(lua, params, resolve_params(kernel.name, params, arguments(description)), machine);
        const ParamValues resolved = read_params(lua, 1, params);
        for (std::size_t i = 0; i < params.size(); ++i)
            kernel.params.emplace_back(params[i].name, resolved[i]);
        read_launches(lua, machine, progress);
    });
    if (kernel.title.empty()) {
        kernel.title = kernel.name;
        for (const auto& [name, value] : kernel.params) kernel.title += " " + name + "=" + value;
    }
    return std::move(kernel);
}

}  // namespace

bool KernelDescription::declares(const std::string& param) const {
    return std::ranges::any_of(params, [&](const KernelParam& p) { return p.name == param; });
}

std::vector<std::string> list_kernels() {
    return list_models("kernels", ".lua");
}

KernelDescription describe_kernel(const std::string& name_or_path) {
    return KernelFile(name_or_path).describe();
}

Kernel load_kernel(const std::string& name_or_path, const std::vector<std::string>& arguments,
                   const Machine* machine, const LoadProgress& progress) {
    return load_kernel(
        name_or_path, [&](const KernelDescription&) { return arguments; }, machine, progress);
}

Kernel load_kernel(const std::string& name_or_path, const KernelArguments& arguments, const Machine* machine,
                   const LoadProgress& progress) {
    Kernel kernel = KernelFile(name_or_path).load(arguments, machine, progress);
    check_clusters(kernel);
    layout_tensors(kernel);
    return kernel;
}

}  // namespace l2lens
