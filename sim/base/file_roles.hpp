// SPDX-License-Identifier: Apache-2.0
// What a run reads it does not write: an output in an input's place would be the end of measurements, of a
// kernel's source or of a trace. Nor do two outputs go to one place, where the second would be the end of the
// first. Told of each file by whoever opens it, and by name, link or other path alike. Pipes and devices have
// no such place.
#pragma once

#include <string>

namespace l2lens {

// `path` is read as an input. Throws BadInput when it is an output of this run.
void will_read(const std::string& path);

// `path` is the output that `option` names. Throws BadInput when this run has read it, or writes it for
// another option.
void will_write(const std::string& path, const std::string& option);

}  // namespace l2lens
