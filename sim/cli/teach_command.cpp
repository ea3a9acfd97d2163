// SPDX-License-Identifier: Apache-2.0
// l2lens teach [KERNEL [param=value ...]]: one launch on a small GPU, access by access. With a terminal by
// keys, without one by words on stdin or --steps N.
#include <algorithm>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "cli/arguments.hpp"
#include "cli/file_output.hpp"
#include "cli/interrupt.hpp"
#include "cli/invocation.hpp"
#include "cli/lesson_run.hpp"
#include "cli/output.hpp"
#include "cli/step_commands.hpp"
#include "report/listing.hpp"
#include "report/text_table.hpp"

namespace l2lens::cli {
namespace {

constexpr std::size_t kShownUnasked = 20;  // when there is neither a terminal nor a command

struct Arguments {
    std::vector<std::string> kernel;  // name, then param=value
    std::string gpu = "tiny";
    std::string order = "row_major";
    std::string mode;
    std::string steps;
    std::string from = "1";
};

// Small enough to read to its end: four CTAs, two steps of K each.
std::vector<std::string> first_lesson() {
    return {"gemm", "m=4", "n=4", "k=128", "bm=2", "bn=2", "bk=64"};
}

std::string lines_text(Lesson& lesson, std::size_t from, std::size_t to) {
    std::string text = lesson.title() + "\n";
    for (std::size_t step = from; step <= to; ++step) text += lesson.line(step) + "\n";
    return text + lesson.tally_text(to) + "\n";
}

std::string csv_text(Lesson& lesson, std::size_t from, std::size_t to) {
    Listing listing{"l2lens/lesson", {"step", "time_ns", "sentence"}, {}};
    for (std::size_t step = from; step <= to; ++step) {
        const double ns = static_cast<double>(lesson.access(step).step.time) / kPsPerNs;
        listing.rows.push_back({std::to_string(step), fmt::format("{:g}", ns), lesson.sentence(step)});
    }
    return listing_csv(listing);
}

// One screen: where we are, the sentence, the sets, what was counted.
std::string screen(Lesson& lesson, std::size_t step, bool help) {
    std::string text = "\x1b[H\x1b[2J" + styled(lesson.title(), Style::Dim, true) + "\n\n";
    text += styled(lesson.line(step), Style::Bold, true) + "\n\n";
    text += lesson.sets(step, true) + "\n" + lesson.tally_text(step) + "\n";
    text += help ? "right, space: next; left: back; page up, page down: ten steps; home, end; q: leave\n"
                 : "right: next  left: back  q: leave  ?: all keys\n";
    return text;
}

void by_keys(Lesson& lesson, std::size_t step) {
    Keys keys;
    bool help = false;
    for (;;) {
        write_stdout(screen(lesson, step, help));
        const StepCommand command = keys.next();
        if (command.verb == StepCommand::Verb::Quit) return;
        help = command.verb == StepCommand::Verb::Help;
        step = target_of(command, step, lesson.steps());
    }
}

std::string reply(Lesson& lesson, const StepCommand& command, std::size_t from, std::size_t step) {
    switch (command.verb) {
        case StepCommand::Verb::Sets:
            return lesson.sets(step, false) + lesson.tally_text(step) + "\n";
        case StepCommand::Verb::Help:
            return step_help();
        case StepCommand::Verb::Forward: {  // all that is passed
            std::string text;
            for (std::size_t passed = from + 1; passed <= step; ++passed) text += lesson.line(passed) + "\n";
            return text.empty() ? "that was the last step\n" : text;
        }
        default:
            return lesson.line(step) + "\n";
    }
}

// Returns false when stdin had no command at all.
bool by_words(Lesson& lesson, std::size_t step) {
    std::string line;
    int number = 0;
    while (std::getline(std::cin, line)) {
        ++number;
        throw_if_interrupted();
        const StepCommand command = parse_step_command(line, fmt::format("teach: line {} of stdin", number));
        if (number == 1) write_stdout(lesson.title() + "\n" + lesson.line(step) + "\n");
        if (command.verb == StepCommand::Verb::Quit) return true;
        const std::size_t from = step;
        step = target_of(command, step, lesson.steps());
        write_stdout(reply(lesson, command, from, step));
    }
    return number > 0;
}

bool wants_document(const Invocation& invocation, const Arguments& arguments) {
    return !arguments.steps.empty() || !invocation.common.json.empty() || !invocation.common.csv.empty();
}

void write_steps(const Output& output, Lesson& lesson, std::size_t from, std::size_t to) {
    output.write({[&](bool) { return lines_text(lesson, from, to); }, [&] { return lesson.json(from, to); },
                  [&] { return csv_text(lesson, from, to); }});
}

ExitCode run(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    const std::vector<std::string> kernel = arguments.kernel.empty() ? first_lesson() : arguments.kernel;
    const std::uint64_t wanted = arguments.steps.empty()
                                     ? kShownUnasked
                                     : parse_whole("--steps", arguments.steps, 1, kMostLessonSteps);
    const std::uint64_t from = parse_whole("--from", arguments.from, 1, kMostLessonSteps);

    const LoadedLesson loaded(arguments.gpu, kernel, arguments.order, arguments.mode,
                              invocation.common.seed_number());
    Lesson& lesson = loaded.lesson();
    if (from > lesson.steps())
        throw BadInput(fmt::format("--from {}: the lesson has {} steps", from, lesson.steps()));

    const std::size_t to = std::min<std::size_t>(lesson.steps(), from + wanted - 1);
    if (wants_document(invocation, arguments)) {
        write_steps(output, lesson, from, arguments.steps.empty() ? lesson.steps() : to);
    } else if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
        by_keys(lesson, from);
    } else if (!by_words(lesson, from)) {
        write_steps(output, lesson, from, to);
        if (to < lesson.steps())
            output.note("--steps N shows more; words on stdin walk: next, back, go N, sets, quit");
    }
    return ExitCode::Done;
}

}  // namespace

void add_teach_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* app =
        add_command(root, "teach", "Walk through a launch on a small GPU, access by access", invocation);
    app->add_option("kernel", arguments->kernel,
                    "Kernel (a name or a file) and its parameters; without it a GEMM of four tiles")
        ->option_text("KERNEL [param=value ...]");
    app->add_option("--gpu", arguments->gpu, "GPU, a name or a file")->capture_default_str();
    app->add_option("--order", arguments->order, "One tile order")->capture_default_str();
    app->add_option("--mode", arguments->mode, "Launch: grid, static or dynamic (persistent)");
    app->add_option("--steps", arguments->steps, "Print this many steps and end")->option_text("N");
    app->add_option("--from", arguments->from, "First step")->option_text("N")->capture_default_str();
    app->footer(
        "On a terminal: arrow keys, q leaves. Without one, words on stdin: next [N], back [N], go N, sets, "
        "quit.\n"
        "Examples:\n  l2lens teach\n  l2lens teach strided pieces=20 passes=2 --gpu tiny --steps 40\n"
        "  printf 'next 5\\nsets\\nback\\n' | l2lens teach");
    commands.push_back({app, [arguments, &invocation] { return run(*arguments, invocation); }});
}

}  // namespace l2lens::cli
