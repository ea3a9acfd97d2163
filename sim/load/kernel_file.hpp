// SPDX-License-Identifier: Apache-2.0
// Reads models/kernels/NAME.lua: a kernel in about twenty lines of Lua, run in a sandbox (sandbox.hpp). One
// such file, and all that it may say, is in models/kernels/README.md; docs/howto-kernel.md writes one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"
#include "load/kernel_params.hpp"
#include "machine/machine.hpp"

namespace l2lens {

// What `kernel show` prints.
struct KernelDescription {
    std::string name;
    std::string file;
    std::string about;
    std::vector<KernelParam> params;

    bool declares(const std::string& param) const;
};

std::vector<std::string> list_kernels();

KernelDescription describe_kernel(const std::string& name_or_path);

// Called with [0, 1] while a large grid's programs are read; what it throws ends that.
using LoadProgress = std::function<void(double)>;

// Throws BadInput for whatever is wrong, in one line. With a machine, one CTA must fit its SM.
Kernel load_kernel(const std::string& name_or_path, const std::vector<std::string>& arguments,
                   const Machine* machine = nullptr, const LoadProgress& progress = {});

// The same where the arguments depend on what the file declares, without reading it twice.
using KernelArguments = std::function<std::vector<std::string>(const KernelDescription&)>;
Kernel load_kernel(const std::string& name_or_path, const KernelArguments& arguments, const Machine* machine,
                   const LoadProgress& progress);

}  // namespace l2lens
