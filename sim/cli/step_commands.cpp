// SPDX-License-Identifier: Apache-2.0
#include "cli/step_commands.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cli/interrupt.hpp"

namespace l2lens::cli {
namespace {

using Verb = StepCommand::Verb;

struct Word {
    std::string_view word;
    std::string_view letter;
    Verb verb;
    bool takes_number;
};
constexpr std::array kWords{Word{"next", "n", Verb::Forward, true}, Word{"back", "b", Verb::Back, true},
                            Word{"go", "g", Verb::Go, true},        Word{"sets", "s", Verb::Sets, false},
                            Word{"help", "h", Verb::Help, false},   Word{"quit", "q", Verb::Quit, false}};

const Word* find_word(const std::string& text) {
    const auto* word = std::ranges::find_if(
        kWords, [&](const Word& candidate) { return text == candidate.word || text == candidate.letter; });
    return word == kWords.end() ? nullptr : word;
}

std::size_t number_of(const std::string& text, const std::string& where) {
    std::size_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || stop != text.data() + text.size() || number == 0)
        throw BadInput(fmt::format("{}: '{}' is no number of steps: a whole number from 1", where, text));
    return number;
}

// What follows ESC [ of a key.
StepCommand arrow(char letter) {
    constexpr std::size_t kPage = 10;
    switch (letter) {
        case 'A':  // up
        case 'D':  // left
            return {Verb::Back, 1};
        case 'B':  // down
        case 'C':  // right
            return {Verb::Forward, 1};
        case '5':
            return {Verb::Back, kPage};
        case '6':
            return {Verb::Forward, kPage};
        case 'H':
            return {Verb::Go, 1};
        case 'F':
            return {Verb::Go, std::numeric_limits<std::size_t>::max()};
        default:
            return {Verb::Help, 1};
    }
}

StepCommand letter_key(char key) {
    switch (key) {
        case ' ':
        case '\n':
        case '\r':
        case 'n':
            return {Verb::Forward, 1};
        case 'b':
        case 'p':
        case 127:  // backspace
            return {Verb::Back, 1};
        case 'q':
        case 4:  // Ctrl-D
            return {Verb::Quit, 1};
        default:
            return {Verb::Help, 1};
    }
}

}  // namespace

StepCommand parse_step_command(const std::string& line, const std::string& where) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.empty()) return {};
    const Word* verb = find_word(words[0]);
    if (verb == nullptr) {
        std::vector<std::string> names;
        for (const Word& word : kWords) names.emplace_back(word.word);
        throw BadInput(
            fmt::format("{}: unknown command '{}'{}", where, words[0], suggestion(words[0], names)));
    }
    const std::size_t most = verb->takes_number ? 2 : 1;
    if (words.size() > most) throw BadInput(fmt::format("{}: '{}' is one word too many", where, words[most]));
    if (verb->verb == Verb::Go && words.size() < 2) throw BadInput(where + ": go where? As in 'go 12'");
    return {verb->verb, words.size() == 2 ? number_of(words[1], where) : 1};
}

std::size_t target_of(const StepCommand& command, std::size_t step, std::size_t steps) {
    switch (command.verb) {
        case Verb::Forward:
            return command.number > steps - step ? steps : step + command.number;
        case Verb::Back:
            return command.number >= step ? 1 : step - command.number;
        case Verb::Go:
            return std::min(command.number, steps);
        default:
            return step;
    }
}

std::string step_help() {
    return "next [N], back [N], go N: to another step; sets: what the sets hold; quit\n";
}

struct Keys::Saved {
    termios settings{};
};

Keys::Keys() : saved_(std::make_unique<Saved>()) {
    tcgetattr(STDIN_FILENO, &saved_->settings);
    termios raw = saved_->settings;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

Keys::~Keys() {
    tcsetattr(STDIN_FILENO, TCSANOW, &saved_->settings);
}

bool Keys::read_more() {
    std::array<char, 64> bytes{};
    ssize_t got = 0;
    do {
        got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        throw_if_interrupted();
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    typed_.append(bytes.data(), static_cast<std::size_t>(got));
    return true;
}

StepCommand Keys::next() {
    if (typed_.empty() && !read_more()) return {Verb::Quit, 1};
    const char key = typed_[0];
    constexpr char kEscape = 27;
    if (key != kEscape || typed_.size() < 3 || typed_[1] != '[') {
        typed_.erase(0, 1);
        return letter_key(key);
    }
    const char code = typed_[2];  // page keys end in a ~
    typed_.erase(0, typed_.size() > 3 && typed_[3] == '~' ? 4 : 3);
    return arrow(code);
}

}  // namespace l2lens::cli
