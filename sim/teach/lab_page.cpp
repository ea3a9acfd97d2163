// SPDX-License-Identifier: Apache-2.0
// The fixed parts are lab_page.html beside this file, compiled in (LAB_SHELL in lab_shell.hpp).
#include "teach/lab_page.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "teach/lab_shell.hpp"
#include "teach/markdown.hpp"

namespace l2lens {
namespace {

using Json = nlohmann::ordered_json;

// Inside <script> only "</" and "<!--" could end or change it.
std::string for_script(const Json& json) {
    std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
    return text;
}

Json data_of(const Lab& lab, const LabKey& key, const LabOutput& output) {
    Json wrong = Json::array();
    for (const LabKey::Wrong& entry : key.wrong)
        wrong.push_back({{"value", entry.value}, {"why", entry.why}});
    return {{"number", lab.number},
            {"answer", key.answer},
            {"unit", key.unit},
            {"choices", key.choices},
            {"accept_percent", key.accept_percent},
            {"right", key.right},
            {"otherwise", key.otherwise},
            {"wrong", std::move(wrong)},
            {"sentences", output.sentences},
            {"sets", output.sets}};
}

std::string choice_html(const std::string& choice, std::size_t number) {
    return fmt::format(
        "<label><input type=\"radio\" name=\"answer\" id=\"choice{0}\" value=\"{1}\"> "
        "<code>{1}</code></label>\n",
        number, html_escaped(choice));
}

// The fields of the form: a number with its unit, or one of the choices.
std::string fields_html(const LabKey& key) {
    if (key.choices.empty()) {
        return fmt::format(
            "<label for=\"answer\">Your prediction</label>\n<input id=\"answer\" name=\"answer\" "
            "inputmode=\"decimal\" autocomplete=\"off\" required> <span>{}</span>\n",
            html_escaped(key.unit));
    }
    std::string html = "<fieldset><legend>Your prediction</legend>\n";
    for (std::size_t i = 0; i < key.choices.size(); ++i) html += choice_html(key.choices[i], i);
    return html + "</fieldset>\n";
}

std::string printed_html(const LabOutput& output) {
    std::string html;
    for (std::size_t i = 0; i < output.printed.size(); ++i) {
        html += fmt::format("<pre tabindex=\"0\"><code>$ {}\n{}</code></pre>\n",
                            html_escaped(output.command_lines[i]), html_escaped(output.printed[i]));
    }
    return html;
}

std::string with(std::string shell, const std::string& place, const std::string& text) {
    const std::string mark = "{{" + place + "}}";
    for (std::size_t at = 0; (at = shell.find(mark, at)) != std::string::npos; at += text.size())
        shell.replace(at, mark.size(), text);
    return shell;
}

}  // namespace

std::string lab_page(const Lab& lab, const LabKey& key, const LabOutput& output) {
    std::string page(kLabShell);
    page = with(page, "title", html_escaped(fmt::format("Lab {}: {}", lab.number, lab.title)));
    page = with(page, "fields", fields_html(key));
    page = with(page, "lesson_title", html_escaped(output.lesson_title));
    page = with(page, "page", markdown_html(lab.page));
    page = with(page, "printed", printed_html(output));
    return with(page, "data", for_script(data_of(lab, key, output)));
}

}  // namespace l2lens
