// SPDX-License-Identifier: Apache-2.0
// The documents a report is made of, read and looked through: what is wrong with one is said here, so that a
// page is either whole or not written. Included by .cpp files only.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace l2lens {

struct ReportDocument {
    enum class Kind { Prediction, Validation };
    Kind kind = Kind::Prediction;
    std::string name;  // of the file
    nlohmann::ordered_json json;
};

// Throws BadInput, "FILE: where: what", for what is no JSON, of another schema or version, or lacks what the
// schema says it has.
ReportDocument read_report_document(const std::string& text, const std::string& name);

}  // namespace l2lens
