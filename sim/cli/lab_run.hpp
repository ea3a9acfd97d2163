// SPDX-License-Identifier: Apache-2.0
// Runs a lab's commands and works its expressions out: the answer is what the model says now.
#pragma once

#include "cli/invocation.hpp"
#include "teach/lab.hpp"
#include "teach/lab_page.hpp"

namespace l2lens::cli {

// The answer key. Throws BadInput, naming the lab's file, for a command or an expression that does not work.
LabKey run_lab(const Lab& lab, const CommonOptions& common);

// What the commands print, and the lesson's steps, for the page.
LabOutput lab_output(const Lab& lab, const CommonOptions& common);

}  // namespace l2lens::cli
