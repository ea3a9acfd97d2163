// SPDX-License-Identifier: Apache-2.0
// Machines: the shipped ones are what their vendors say, and the parameter table reaches each field once.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <unistd.h>

#include "base/error.hpp"
#include "load/machine_file.hpp"
#include "load/machine_of_gpu.hpp"
#include "load/model_path.hpp"
#include "load/text_file.hpp"
#include "machine/check.hpp"
#include "machine/parameters.hpp"
#include "support/catch.hpp"

using namespace l2lens;
namespace fs = std::filesystem;

namespace {

const fs::path kGpus = fs::path(L2LENS_SOURCE_DIR) / "models" / "gpus";

std::vector<std::string> keys(const std::vector<Problem>& problems) {
    std::vector<std::string> list;
    for (const Problem& problem : problems) list.push_back(problem.key);
    return list;
}

class ModelsFolder {  // L2LENS_MODELS for the time of a test
public:
    explicit ModelsFolder(const std::string& value) {
        if (const char* old = std::getenv("L2LENS_MODELS")) old_ = old;
        setenv("L2LENS_MODELS", value.c_str(), 1);
    }
    ~ModelsFolder() {
        if (old_)
            setenv("L2LENS_MODELS", old_->c_str(), 1);
        else
            unsetenv("L2LENS_MODELS");
    }

private:
    std::optional<std::string> old_;
};

// The parameter as its file gives it; nullptr when it does not.
const Parameter* find_value(const Machine& machine, std::string_view key) {
    const auto p = std::ranges::find(machine.parameters, std::string(key), &Parameter::key);
    return p == machine.parameters.end() ? nullptr : &*p;
}

// The key of the one problem of a machine to which `spoil` was done, or how many there are.
template <class Spoil>
std::string problem_of_spoilt(Machine machine, Spoil&& spoil) {
    spoil(machine);
    const std::vector<std::string> found = keys(check(machine));
    return found.size() == 1 ? found.front() : std::to_string(found.size()) + " problems";
}

}  // namespace

TEST_CASE("Every shipped machine loads and passes its check") {
    const std::vector<std::string> names = list_machines();
    CHECK(std::set<std::string>(names.begin(), names.end()).size() >= 10);
    for (const std::string& name : names) {
        INFO(name);
        const Machine machine = load_machine(name);
        CHECK(machine.name == name);
        CHECK_FALSE(machine.description.empty());
        CHECK(check(machine).empty());
        // Each is there, but those that a file may leave out.
        for (const ParameterInfo& info : parameter_table()) {
            INFO(info.key);
            CHECK((info.optional || find_value(machine, info.key) != nullptr));
        }
    }
}

TEST_CASE("Shipped machines have the sizes that are documented") {
    struct Size {
        int sms, gpcs, partitions;
        double l2_mib;
    };
    // SMs, GPCs: white papers. L2: A100 40 MB, H100 50 MB, V100 6 MB, RTX 4090 72 MB (white papers); GH200 60
    // MB; H200: 94 of 96 slices of 640 KiB active (traces/h200).
    const std::map<std::string, Size> expected = {
        {"v100", {80, 6, 1, 6}},         {"a100-40", {108, 7, 2, 40}},   {"a100-80", {108, 7, 2, 40}},
        {"h100-sxm", {132, 8, 2, 50}},   {"h100-pcie", {114, 7, 2, 50}}, {"gh200", {132, 8, 2, 60}},
        {"h200", {132, 8, 2, 58.75}},    {"b200", {148, 8, 2, 126}},     {"rtx4090", {128, 11, 1, 72}},
        {"tiny", {4, 2, 2, 4.0 / 1024}},
    };
    for (const auto& [name, size] : expected) {
        INFO(name);
        const Machine machine = load_machine(name);
        CHECK(static_cast<int>(machine.sms.size()) == size.sms);
        CHECK(machine.gpcs == size.gpcs);
        CHECK(machine.partitions == size.partitions);
        CHECK(static_cast<double>(machine.l2_bytes()) == size.l2_mib * 1024 * 1024);
    }
}

TEST_CASE("Dense 16-bit rates are the ones that vendors print") {
    // TFLOP/s and the boost clock (GHz) they are printed for: data sheets of V100, A100, H100 SXM, RTX 4090.
    struct Peak {
        const char* name;
        double tflops, ghz;
    };
    for (const Peak peak : {Peak{"v100", 125, 1.53}, Peak{"a100-80", 312, 1.41},
                            Peak{"h100-sxm", 989.4, 1.83}, Peak{"rtx4090", 165.2, 2.52}}) {
        INFO(peak.name);
        const Machine machine = load_machine(peak.name);
        const double tflops = machine.sm.tensor_flops_per_cycle_16bit *
                              static_cast<double>(machine.sms.size()) * peak.ghz * 1e-3;
        CHECK(tflops == Approx(peak.tflops).epsilon(0.005));
    }
}

TEST_CASE("The H200's topology is the measured one") {
    const Machine h200 = load_machine("h200");
    std::map<int, int> sms_of_partition, sms_of_gpc;
    for (const Sm& sm : h200.sms) {
        ++sms_of_partition[sm.partition];
        ++sms_of_gpc[sm.gpc];
    }
    CHECK(sms_of_partition == std::map<int, int>{{0, 66}, {1, 66}});
    REQUIRE(sms_of_gpc.size() == 8);
    for (const auto& [gpc, sms] : sms_of_gpc) {
        INFO("GPC " << gpc);
        CHECK((sms == 16 || sms == 18));
    }
    CHECK(h200.slices() == 94);
    std::ifstream recorded(L2LENS_SOURCE_DIR "/traces/h200/topology.csv");
    std::string row;
    const auto next_row = [&] {  // the recorder ends its lines with CR LF
        const bool more = static_cast<bool>(std::getline(recorded, row));
        if (row.ends_with('\r')) row.pop_back();
        return more;
    };
    next_row();
    CHECK(row == "sm,gpc,partition,first_wave_position");
    std::size_t rows = 0;
    for (; next_row(); ++rows) {
        const Sm& sm = h200.sms.at(rows);
        CHECK(row == std::to_string(rows) + "," + std::to_string(sm.gpc) + "," +
                         std::to_string(sm.partition) + "," + std::to_string(sm.first_wave_position));
    }
    CHECK(rows == 132);
}

TEST_CASE("TPCs of a GPC are dealt to its CPCs in turn, and stay there when SMs are left out") {
    // Two SMs are a TPC, in the order of their ids.
    Machine h200 = load_machine("h200");
    REQUIRE(h200.cpcs_per_gpc == 3);
    std::map<int, std::vector<int>> cpcs_of_gpc;
    for (const Sm& sm : h200.sms) cpcs_of_gpc[sm.gpc].push_back(sm.cpc);
    const std::vector<int> eight_tpcs{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1};
    std::vector<int> nine_tpcs = eight_tpcs;
    nine_tpcs.insert(nine_tpcs.end(), {2, 2});
    for (const auto& [gpc, cpcs] : cpcs_of_gpc) {
        INFO("GPC " << gpc);
        CHECK(cpcs == (cpcs.size() == 16 ? eight_tpcs : nine_tpcs));
    }

    std::vector<int> kept;  // by first-wave position, which survives
    for (int position = 0; position < 50; ++position)
        kept.push_back(std::ranges::find(h200.sms, position, &Sm::first_wave_position)->cpc);
    keep_sms(h200, 50);
    for (const Sm& sm : h200.sms) CHECK(sm.cpc == kept[static_cast<std::size_t>(sm.first_wave_position)]);
}

TEST_CASE("A partition shows its own parameters, and counts its own GPCs") {
    const auto shown = [](const Machine& machine, const std::string& key) {
        return std::ranges::find(machine.parameters, key, &Parameter::key)->value;
    };
    const auto fresh = [](const Machine& machine) {
        return std::ranges::all_of(machine.parameters, [&](const Parameter& parameter) {
            return parameter.value == value_text(machine, *find_parameter(parameter.key));
        });
    };
    // An MI300X is eight dies of 38 SMs, each a GPC; a cpx partition is one of them, with a quarter of the
    // memory in nps4. AMD, "MI300 Compute and Memory Modes".
    const Machine whole = load_machine("mi300x"), die = load_machine("mi300x:cpx-nps4");
    CHECK(die.sms.size() == 38);
    CHECK(die.gpcs == 1);
    CHECK(shown(die, "topology.partitions") == "1");
    CHECK(shown(die, "topology.partition_of_gpc") == "[0]");
    CHECK(std::stod(shown(die, "bandwidth.dram")) == Approx(std::stod(shown(whole, "bandwidth.dram")) / 4));
    CHECK(fresh(die));
    CHECK(check(die).empty());
    CHECK(load_machine("mi300x:qpx").gpcs == 2);

    Machine few = load_machine("h200");
    keep_sms(few, 8);
    CHECK(fresh(few));
    CHECK(few.gpcs == load_machine("h200").gpcs);  // the others still have their turns
}

TEST_CASE("Published home masks come out of the bit lists") {
    // github.com/ademeure/cuda-side-boost: H100 0x0B3000, GH200 0x0AB000, GB200 0x1EF000, below bit 21.
    const std::uint64_t below_2mib = (1u << 21) - 1;
    CHECK((load_machine("h100-sxm").hash.home_masks.at(0) & below_2mib) == 0x0B3000);
    CHECK(load_machine("b200").hash.home_masks == std::vector<std::uint64_t>{0x1EF000});
    CHECK((load_machine("gh200").hash.home_masks.at(0) & below_2mib) == 0x0AB000);
    CHECK((load_machine("h200").hash.home_masks.at(0) & below_2mib) == 0x0AB000);
    CHECK(load_machine("v100").hash.home_masks.empty());
}

TEST_CASE("Parameters keep the file's order, lines, sources and values") {
    const std::string path = (kGpus / "h200.toml").string();
    const Machine machine = load_machine(path);
    const std::string text = read_text_file(path);
    int last = 0;
    for (const Parameter& parameter : machine.parameters) {
        INFO(parameter.key);
        CHECK(parameter.line > last);
        last = parameter.line;
        const ParameterInfo* info = find_parameter(parameter.key);
        REQUIRE(info != nullptr);
        CHECK(parameter.unit == info->unit);
        CHECK_FALSE(parameter.source.empty());
        CHECK(parameter.value == value_text(machine, *info));
        CHECK(text.find(parameter.source) != std::string::npos);
    }
    const auto row =
        std::ranges::find(machine.parameters, std::string("latency.fabric_request"), &Parameter::key);
    REQUIRE(row != machine.parameters.end());
    CHECK(row->value == "38");
    CHECK(row->unit == "ns");
    CHECK(row->confidence == Confidence::Inferred);
    CHECK(machine.latency.fabric_request_ns == 38);
}

TEST_CASE("A file written from the parameters list reads back as the same machine") {
    for (const std::string& name : list_machines()) {
        INFO(name);
        const Machine machine = load_machine(name);
        std::string text = "description = \"x\"\nchip = \"\"\n", section;
        for (const ParameterInfo& info : parameter_table()) {
            const Parameter* const p = find_value(machine, info.key);
            if (p == nullptr && info.optional) continue;
            REQUIRE(p != nullptr);
            if (std::exchange(section, std::string(info.section())) != info.section())
                text += "[" + section + "]\n";
            text += std::string(info.name()) + " = { value = " + p->value + ", unit = \"" + p->unit +
                    "\", source = \"s\", confidence = \"measured\" }\n";
        }
        const Machine again = parse_machine(text, "again.toml");
        CHECK(diff(machine, again).empty());
        CHECK(again.name == "again");
        CHECK(again.sms.size() == machine.sms.size());
    }
}

TEST_CASE("Each number of the table reaches its own field") {
    // Two rows that share a field by a slip of the pen would change together.
    const Machine h200 = load_machine("h200");
    for (const ParameterInfo& info : parameter_table()) {
        INFO(info.key);
        Machine changed = h200;
        const auto change = [&](auto field) {
            if constexpr (requires { field(changed) += 1; }) field(changed) += static_cast<int>(info.scale);
        };
        std::visit(change, info.field);
        const auto before = number_of(h200, info), after = number_of(changed, info);
        REQUIRE(before.has_value() == after.has_value());
        if (!before || info.key == "topology.partitions") continue;
        CHECK(*after == *before + 1);
        const auto rows = diff(h200, changed);
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].key == info.key);
    }
}

TEST_CASE("diff names the parameters in which two machines differ, in the table's order") {
    const Machine a = load_machine("a100-40"), b = load_machine("a100-80");
    const auto rows = diff(a, b);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].key == "bandwidth.dram");
    CHECK(rows[0].a == "1426");
    CHECK(rows[0].b == "1870");
    CHECK(diff(a, a).empty());
    Machine c = a;
    c.hash.home_masks = {0x3000};
    c.coalescer.present = true;
    const auto more = diff(a, c);
    REQUIRE(more.size() == 2);
    CHECK(more[0].b == "[[12, 13]]");
    CHECK(more[1].a == "false");
}

TEST_CASE("The hash of a file changes with its text") {
    const std::string text = read_text_file((kGpus / "tiny.toml").string());
    const Machine tiny = parse_machine(text, "tiny.toml");
    CHECK(tiny.file_hash == load_machine("tiny").file_hash);
    CHECK(tiny.file_hash != parse_machine(text + "# a comment\n", "tiny.toml").file_hash);
}

TEST_CASE("A machine built in code is checked too") {
    const Machine tiny = load_machine("tiny");
    CHECK(check(tiny).empty());
    Machine odd = tiny;
    odd.sms[2].gpc = 5;
    CHECK(keys(check(odd)) == std::vector<std::string>{"topology.sms"});
    odd = tiny;
    odd.sms[1].cpc = 1;  // of one
    CHECK(keys(check(odd)) == std::vector<std::string>{"topology.cpcs_per_gpc"});
    odd = tiny;
    odd.sms[1].partition = 1;
    CHECK(keys(check(odd)) == std::vector<std::string>{"topology.partition_of_gpc"});
    odd = tiny;
    odd.sms[3].first_wave_position = 0;  // the place of SM 0
    CHECK(keys(check(odd)) == std::vector<std::string>{"topology.first_wave"});
    odd = tiny;
    odd.bandwidth.tag_requests_per_l2_cycle = 0;
    odd.l2.slice_bytes = 100;
    CHECK(keys(check(odd)) == std::vector<std::string>{"l2.slice", "bandwidth.tag", "l2.slice"});
    CHECK_FALSE(check(Machine{}).empty());
    odd = tiny;
    while (std::ranges::count(odd.sms, 0, &Sm::gpc) <= kMaxSmsOfGpc) {
        odd.sms.push_back(odd.sms[0]);
        odd.sms.back().first_wave_position = static_cast<int>(odd.sms.size()) - 1;
    }
    CHECK(keys(check(odd)) == std::vector<std::string>{"topology.sms"});
}

TEST_CASE("Home masks must be independent") {
    // Eight partitions need three masks of rank 3: the third below is the XOR of the others.
    Machine machine = load_machine("tiny");
    machine.partitions = 4;
    machine.hash.home_masks = {0x1000, 0x2000};
    const auto has = [&](const char* key) { return std::ranges::count(keys(check(machine)), key); };
    CHECK(has("hash.home_masks") == 0);
    machine.partitions = 8;
    machine.hash.home_masks = {0x1000, 0x2000, 0x3000};
    CHECK(has("hash.home_masks") == 1);
    machine.hash.home_masks = {0x3000, 0x2000, 0x4000};
    CHECK(has("hash.home_masks") == 0);
    machine.partitions = 3;
    CHECK(has("topology.partitions") == 1);
}

TEST_CASE("The masks of a solved hash must give each line a place of its own") {
    const Machine solved = load_machine("h200");
    CHECK(check(solved).empty());
    const auto problem_of = [&solved](auto&& spoil) { return problem_of_spoilt(solved, spoil); };
    CHECK(problem_of([](Machine& m) { m.l2.private_partitions = true, m.hash.home_masks.clear(); }) ==
          "hash.slot_masks");
    CHECK(problem_of([](Machine& m) { m.hash.slot_masks[0] = m.hash.slot_masks[1]; }) == "hash.slot_masks");
    CHECK(problem_of([](Machine& m) { m.hash.slot_masks[0] |= 1 << 7; }) == "hash.slot_masks");  // a granule
    CHECK(problem_of([](Machine& m) { m.hash.slot_masks.resize(9, 1 << 20); }) == "hash.slot_masks");
    CHECK(problem_of([](Machine& m) { m.hash.row_bits[1] = m.hash.row_bits[0]; }) == "hash.slot_masks");
    CHECK(problem_of([](Machine& m) { m.hash.row_bits[1] |= 1 << 20; }) == "hash.row_bits");
    CHECK(problem_of([](Machine& m) { m.hash.row_bits.pop_back(); }) == "hash.row_bits");
    CHECK(problem_of([](Machine& m) { m.hash.set_masks.pop_back(); }) == "hash.set_masks");
    CHECK(problem_of([](Machine& m) { m.hash.set_masks[0] = m.hash.set_masks[1]; }) == "hash.set_masks");
    CHECK(problem_of([](Machine& m) { m.hash.slot_masks.clear(), m.hash.set_masks.clear(); }) ==
          "hash.row_bits");
    CHECK(problem_of([](Machine& m) { m.hash.slot_masks.clear(), m.hash.row_bits.clear(); }) ==
          "hash.set_masks");
}

TEST_CASE("The parts of a wait for DRAM need each other") {
    const Machine whole = load_machine("h200");
    const auto problem_of = [&whole](auto&& spoil) { return problem_of_spoilt(whole, spoil); };
    CHECK(problem_of([](Machine& m) { m.latency.dram_queue_ns = 0; }) == "latency.dram_load");
    CHECK(problem_of([](Machine& m) { m.latency.dram_refresh_share = 0; }) == "latency.dram_refresh");
    CHECK(problem_of([](Machine& m) { m.latency.dram_refresh_ns = m.latency.dram_backlog_ns = 0; }) ==
          "latency.dram_refresh");
    CHECK(problem_of([](Machine& m) {
              m.latency.dram_refresh_ns = m.latency.dram_refresh_share = 0;
              m.latency.dram_turn_ns = m.latency.dram_turn_lines = 0;
          }) == "latency.dram_backlog");
    CHECK(problem_of([](Machine& m) { m.latency.dram_turn_lines = 0; }) == "latency.dram_turn");
    CHECK(problem_of([](Machine& m) { m.latency.dram_pause_every_us = 0; }) == "latency.dram_pause");
    CHECK(problem_of([](Machine& m) { m.latency.dram_pause_every_us = 0.7; }) == "latency.dram_pause");
}

TEST_CASE("The parameter table is well formed") {
    std::set<std::string_view> seen;
    for (const ParameterInfo& info : parameter_table()) {
        INFO(info.key);
        CHECK(seen.insert(info.key).second);
        CHECK(std::ranges::count(info.key, '.') == 1);
        CHECK_FALSE(info.meaning.empty());
        CHECK(info.least < info.most);
        CHECK(find_parameter(info.key) == &info);
    }
    CHECK(find_parameter("latency.nothing") == nullptr);
}

TEST_CASE("A GPU is found by name or by path, and a misspelt one gets the nearest name") {
    CHECK(load_machine((kGpus / "tiny.toml").string()).name == "tiny");
    CHECK_THROWS_WITH(load_machine("h20"), "unknown gpu 'h20'; did you mean 'h200'?");
    CHECK_THROWS_WITH(load_machine("h100-sxn"), "unknown gpu 'h100-sxn'; did you mean 'h100-sxm'?");
    CHECK_THROWS_WITH(load_machine("./nowhere.toml"), "./nowhere.toml: no such file");
    CHECK_THROWS_AS(load_machine(""), BadInput);
    CHECK(find_model_file("gpus", "h200", ".toml").filename() == "h200.toml");
}

// Names as the driver gives them, and how many SMs it says they have.
TEST_CASE("A GPU that names itself has its machine file") {
    CHECK(machine_of_gpu("NVIDIA H200", 132) == "h200");
    CHECK(machine_of_gpu("NVIDIA H100 80GB HBM3", 132) == "h100-sxm");
    CHECK(machine_of_gpu("NVIDIA H100 PCIe", 114) == "h100-pcie");
    CHECK(machine_of_gpu("NVIDIA GH200 480GB", 132) == "gh200");
    CHECK(machine_of_gpu("NVIDIA A100-SXM4-40GB", 108) == "a100-40");
    CHECK(machine_of_gpu("NVIDIA A100 80GB PCIe", 108) == "a100-80");
    CHECK(machine_of_gpu("Tesla V100-SXM2-16GB", 80) == "v100");
    CHECK(machine_of_gpu("NVIDIA GeForce RTX 4090", 128) == "rtx4090");
    CHECK(machine_of_gpu("NVIDIA H200", 60).empty());  // a part of one
    CHECK(machine_of_gpu("NVIDIA GeForce RTX 3090", 82).empty());
    CHECK_FALSE(names_gpu("h200", "NVIDIA GH200 480GB"));
    CHECK_FALSE(names_gpu("l4", "NVIDIA L40"));
    CHECK(names_gpu("l4", "NVIDIA L4"));
}

TEST_CASE("L2LENS_MODELS comes before the source tree") {
    const fs::path folder = fs::temp_directory_path() / ("l2lens-models-" + std::to_string(getpid()));
    fs::create_directories(folder / "gpus");
    fs::copy_file(kGpus / "tiny.toml", folder / "gpus" / "mine.toml", fs::copy_options::overwrite_existing);
    {
        const ModelsFolder chosen(folder.string());
        CHECK(list_machines() == std::vector<std::string>{"mine"});
        CHECK(load_machine("mine").file == (folder / "gpus" / "mine.toml").string());
        CHECK_THROWS_WITH(load_machine("tiny"), "unknown gpu 'tiny'; there are: mine");
    }
    fs::remove_all(folder);
    const ModelsFolder gone(folder.string());
    CHECK_THROWS_WITH(models_folder(), "L2LENS_MODELS: no folder '" + folder.string() + "'");
}
