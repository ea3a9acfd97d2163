// SPDX-License-Identifier: Apache-2.0
// Apart from the rest, so that a changed lab compiles nothing else.
#include "teach/lab.hpp"
#include "teach/lab_texts.hpp"

namespace l2lens {

std::span<const LabFile> lab_files() {
    return kLabFiles;
}

}  // namespace l2lens
