// SPDX-License-Identifier: Apache-2.0
// A lab as one HTML file that opens from disk: the page, a form that judges an answer as `l2lens lab N check`
// does, and after the first answer what the commands print and the launch step by step.
#pragma once

#include <string>
#include <vector>

#include "teach/lab.hpp"

namespace l2lens {

// What a lab's commands printed, and its lesson.
struct LabOutput {
    std::vector<std::string> command_lines;  // "l2lens predict strided ..."
    std::vector<std::string> printed;
    std::string lesson_title;  // "" when the lab has no lesson
    std::vector<std::string> sentences;
    std::vector<std::string> sets;  // the picture after each step
};

std::string lab_page(const Lab& lab, const LabKey& key, const LabOutput& output);

}  // namespace l2lens
