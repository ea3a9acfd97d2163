// SPDX-License-Identifier: Apache-2.0
#include "load/machine_of_gpu.hpp"

#include <algorithm>
#include <cctype>

#include "load/machine_file.hpp"
#include "load/model_path.hpp"

namespace l2lens {
namespace {

// In small letters; "RTX 4090" as one word, as machine files have it.
std::string plain(const std::string& name) {
    std::string text = name;
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::size_t rtx = text.find("rtx ");
    return rtx == std::string::npos ? text : text.erase(rtx + 3, 1);
}

std::string ending(const std::string& machine) {
    const std::size_t dash = machine.find('-');
    return dash == std::string::npos ? "" : plain(machine.substr(dash + 1));
}

}  // namespace

bool names_gpu(const std::string& machine, const std::string& gpu_name) {
    const std::string name = plain(machine.substr(0, machine.find('-'))), gpu = plain(gpu_name);
    const auto ends_word = [&](std::size_t i) {
        return i >= gpu.size() || std::isalnum(static_cast<unsigned char>(gpu[i])) == 0;
    };
    const std::size_t at = gpu.find(name);
    if (name.empty() || at == std::string::npos) return false;
    return (at == 0 || ends_word(at - 1)) && ends_word(at + name.size());
}

std::string machine_of_gpu(const std::string& gpu_name, int sms) {
    std::string found;
    for (const std::string& machine : list_machines()) {
        if (!names_gpu(machine, gpu_name)) continue;
        if (static_cast<int>(load_machine(machine).sms.size()) != sms) continue;
        const std::string last = ending(machine);
        if (!last.empty() && plain(gpu_name).find(last) != std::string::npos) return machine;
        if (found.empty()) found = machine;
    }
    return found;
}

}  // namespace l2lens
