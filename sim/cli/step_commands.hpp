// SPDX-License-Identifier: Apache-2.0
// How a reader walks through a lesson: the words of a script, and the keys of a terminal.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace l2lens::cli {

struct StepCommand {
    enum class Verb { Forward, Back, Go, Sets, Help, Quit };
    Verb verb = Verb::Forward;
    std::size_t number = 1;  // steps of Forward and Back, the target of Go
};

// "next 3", "n", "back", "go 12", "sets", "help", "quit"; an empty line is "next". `where` begins the message
// of the BadInput that anything else is.
StepCommand parse_step_command(const std::string& line, const std::string& where);

// Where a command leads from `step`, inside [1, steps].
std::size_t target_of(const StepCommand& command, std::size_t step, std::size_t steps);

std::string step_help();

// Keys without Enter and without echo, as long as this object lives; the terminal is put back when it goes.
class Keys {
public:
    Keys();
    ~Keys();
    Keys(const Keys&) = delete;
    Keys& operator=(const Keys&) = delete;

    // Waits for a key and says what it means; unknown keys are Help. Throws Interrupted for Ctrl-C.
    StepCommand next();

private:
    // Reads what was typed; false at the end of the input.
    bool read_more();

    struct Saved;
    std::unique_ptr<Saved> saved_;
    std::string typed_;  // and not yet taken
};

}  // namespace l2lens::cli
