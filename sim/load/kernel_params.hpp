// SPDX-License-Identifier: Apache-2.0
// The parameters a kernel file declares, and the values a user gives them:
//   params = { {"m", 8192, "rows of C"}, {"dtype", "bf16", "element type", {"bf16", "fp8"}}, {"split", 0,
//   "...", min = 0} }
// The default's type is the parameter's; a list of choices or min and max narrow it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

struct lua_State;

namespace l2lens {

struct KernelParam {
    enum class Type { Integer, Number, Text, Flag };
    std::string name;
    Type type = Type::Integer;
    std::string default_value;
    std::string meaning;
    std::vector<std::string> choices;  // empty: any
    std::int64_t minimum = 1;          // of an integer
    std::int64_t maximum = INT32_MAX;

    // "8192", "bf16 (bf16, fp16, fp8)", "0 to 32": what may be given, for `kernel show` and messages.
    std::string domain() const;
};

// Values in the order of the declarations.
using ParamValues = std::vector<std::string>;

// Reads the table at the top of the stack and pops it. `file` begins the messages.
std::vector<KernelParam> read_param_declarations(lua_State* lua, const std::string& file);

// Applies "m=4096" arguments to the defaults. Throws BadInput, beginning with the kernel's name.
ParamValues resolve_params(const std::string& kernel, const std::vector<KernelParam>& params,
                           const std::vector<std::string>& arguments);

// Pushes the table p that kernel(p) gets.
void push_params(lua_State* lua, const std::vector<KernelParam>& params, const ParamValues& values);

// The table at `index` read back: a kernel may replace a value that means "choose for me".
ParamValues read_params(lua_State* lua, int index, const std::vector<KernelParam>& params);

}  // namespace l2lens
