// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson_run.hpp"

#include "base/error.hpp"
#include "kernel/residency.hpp"
#include "load/machine_file.hpp"

namespace l2lens::cli {
namespace {

Tape tape_of(const Machine& machine, const LaunchedKernel& launched, const NamedOrder& order,
             std::uint64_t seed) {
    const int resident = ctas_per_sm(launched.kernel.resources, machine);
    if (resident == 0)
        throw BadInput(launched.kernel.name + ": " + why_no_cta_fits(launched.kernel.resources, machine));
    return record_tape(machine, launched.kernel, order.tile_of_launch,
                       launched.mode == Mode::Grid ? resident : 1, {launched.mode, seed, kMostLessonSteps});
}

}  // namespace

LoadedLesson::LoadedLesson(const std::string& gpu, const std::vector<std::string>& kernel,
                           const std::string& order, const std::string& mode, std::uint64_t seed)
    : machine_(load_machine(gpu)),
      launched_(load_launched(kernel[0], {kernel.begin() + 1, kernel.end()}, mode, machine_)) {
    const NamedOrder named = named_order(order, machine_, launched_.kernel, launched_.mode);
    lesson_ = std::make_unique<Lesson>(machine_, launched_.kernel, named.name,
                                       tape_of(machine_, launched_, named, seed));
    if (lesson_->steps() == 0) throw BadInput(launched_.kernel.name + ": it asks nothing of the L2");
}

}  // namespace l2lens::cli
