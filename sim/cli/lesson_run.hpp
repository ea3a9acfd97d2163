// SPDX-License-Identifier: Apache-2.0
// From names on the command line to a lesson: for `teach`, and for the pages of the labs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/model_run.hpp"
#include "teach/lesson.hpp"

namespace l2lens::cli {

inline constexpr std::size_t kMostLessonSteps = 100'000;

// A lesson with the machine and the kernel it is about.
class LoadedLesson {
public:
    // `kernel`: a name or a file, and its param=value. Throws BadInput for what cannot be run.
    LoadedLesson(const std::string& gpu, const std::vector<std::string>& kernel, const std::string& order,
                 const std::string& mode, std::uint64_t seed);

    Lesson& lesson() const { return *lesson_; }

private:
    Machine machine_;
    LaunchedKernel launched_;
    std::unique_ptr<Lesson> lesson_;
};

}  // namespace l2lens::cli
