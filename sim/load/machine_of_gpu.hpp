// SPDX-License-Identifier: Apache-2.0
// Which machine file a GPU is that names itself: "NVIDIA H100 80GB HBM3" with 132 SMs is h100-sxm.
#pragma once

#include <string>

namespace l2lens {

// Is a machine called so ("h100-sxm", or the name of a file of one's own) a GPU of this name? What stands
// before the first '-' counts, as a whole word: "NVIDIA GH200 480GB" is no h200.
bool names_gpu(const std::string& machine, const std::string& gpu_name);

// The shipped machine with this name and as many SMs; of several the one whose ending the GPU's name has,
// as in a100-40 and "NVIDIA A100-SXM4-40GB". "" when there is none.
std::string machine_of_gpu(const std::string& gpu_name, int sms);

}  // namespace l2lens
