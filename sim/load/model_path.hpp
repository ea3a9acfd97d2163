// SPDX-License-Identifier: Apache-2.0
// Where the model files are: models/gpus/NAME.toml, models/kernels/NAME.lua.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace l2lens {

// $L2LENS_MODELS, else models/ of the source tree this was built from, else share/l2lens/models beside the
// executable's folder, as `cmake --install` lays it. Throws BadInput when there is none.
std::filesystem::path models_folder();

// Names of the files models/KIND/NAME.EXTENSION, sorted. `extension` with its dot.
std::vector<std::string> list_models(std::string_view kind, std::string_view extension);
std::vector<std::string> list_machines();

// The file of a model: find_model_file("gpus", "h200", ".toml"). A path (with a '/' or the extension) stands
// for itself. Throws BadInput, with the nearest name, when there is no such file.
std::filesystem::path find_model_file(std::string_view kind, const std::string& name_or_path,
                                      std::string_view extension);

}  // namespace l2lens
