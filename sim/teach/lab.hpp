// SPDX-License-Identifier: Apache-2.0
// A lab: a question about a small GPU, the commands that show it, and how an answer is judged. Labs are the
// files docs/labs/NN-NAME.md, compiled into the program. A file is the page its reader sees, and at its end a
// comment
//
//   <!-- lab
//   unit = "bytes"                        # of the answer; or choices = ["row_major", ...]
//   answer = "run1.dram_read_bytes"       # an expression of what the commands gave: no lab knows its answer
//   accept = 0                            # percent
//   right = "... {{run1.params.pieces * 64}} ..."
//   [[wrong]]                             # an answer that a misconception leads to, and what to say then
//   value = "run1.params.pieces * 32"
//   why = "..."
//   otherwise = "..."                     # for all other wrong answers (before the first [[wrong]])
//   -->
//
// Its commands are the page's lines "$ l2lens predict ...": run1 is what the first one gave.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace l2lens {

struct Lab {
    struct Wrong {
        std::string value;  // an expression
        std::string why;
    };

    int number = 0;
    std::string name;                                // "sectors"
    std::string title;                               // "Sectors"
    std::string page;                                // Markdown
    std::vector<std::vector<std::string>> commands;  // words after "l2lens predict"
    std::vector<std::string> lesson;                 // words after "l2lens teach" of the first such line
    std::string unit;
    std::vector<std::string> choices;  // empty: a number is asked for
    std::string answer;                // an expression
    double accept_percent = 0;
    std::string right;
    std::string otherwise;
    std::vector<Wrong> wrong;
};

struct LabFile {
    std::string_view name;  // "01-sectors.md"
    std::string_view text;
};

// The shipped labs, by number.
std::span<const LabFile> lab_files();

// Throws BadInput "FILE: what" for a file that is no lab.
Lab parse_lab(const LabFile& file);

// The texts and expressions of `text`: "a {{b}} c" is {"a ", "b", " c"}, texts at the even places.
std::vector<std::string> split_template(const std::string& text);

// What a lab's expressions came to.
struct LabKey {
    struct Wrong {
        std::string value;  // as an answer is written
        std::string why;
    };
    std::string answer;
    std::string unit;
    std::vector<std::string> choices;
    double accept_percent = 0;
    std::string right;
    std::string otherwise;
    std::vector<Wrong> wrong;
};

struct Verdict {
    bool right = false;
    std::string why;
};

// Judges an answer: the right one within its tolerance, a known misconception, or just wrong. Throws BadInput
// for what is no answer at all: no number, or none of the choices.
Verdict judge(const LabKey& key, const std::string& answer);

// A number as labs write it: 512, 0.5, 12.25.
std::string lab_number(double value);

}  // namespace l2lens
