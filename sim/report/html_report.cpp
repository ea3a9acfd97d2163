// SPDX-License-Identifier: Apache-2.0
#include "report/html_report.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "counters/metrics.hpp"
#include "report/format.hpp"
#include "report/html_data.hpp"
#include "report/html_page.hpp"
#include "report/limits_text.hpp"
#include "report/ranked_columns.hpp"
#include "report/shell_quoted.hpp"
#include "report/web_assets.hpp"

namespace l2lens {
namespace {

using nlohmann::ordered_json;

std::string text_at(const ordered_json& object, const char* key) {
    return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

std::string element(std::string_view name, std::string_view text) {
    return fmt::format("<{0}>{1}</{0}>", name, html_escaped(text));
}

// Indices of the results, the first rank first.
std::vector<std::size_t> by_rank(const ordered_json& results) {
    std::vector<std::size_t> order(results.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return results[a]["rank"].get<double>() < results[b]["rank"].get<double>();
    });
    return order;
}

std::string command_of(const ordered_json& document) {
    std::string command;
    for (const ordered_json& word : document["meta"]["argv"]) {
        const std::string typed = word.get<std::string>();
        // The program's own path is the machine's.
        command += command.empty() ? typed.substr(typed.rfind('/') + 1) : " " + shell_quoted(typed);
    }
    return command;
}

std::string ranked_row(const ordered_json& result, std::size_t document, std::size_t index,
                       double fastest_us) {
    const double time_us = result["time_us"].get<double>();
    std::string row = fmt::format(
        "<tr><td class=\"n\">{:.0f}</td><th scope=\"row\"><button type=\"button\" class=\"link\" "
        "data-document=\"{}\" data-result=\"{}\">{}</button></th>",
        result["rank"].get<double>(), document, index,
        html_escaped(one_line(result["order"].get<std::string>(), 60)));
    for (const RankedColumn& column : kRankedColumns) {
        const ordered_json& metrics = result["metrics"];
        row +=
            fmt::format("<td class=\"n\">{}</td>",
                        metrics.contains(column.id) ? column.format(metrics[column.id].get<double>()) : "-");
    }
    const double slower = fastest_us > 0 ? 100 * (time_us / fastest_us - 1) : 0;
    return row + fmt::format("<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                             format_time(time_us * 1000), slower > 0 ? format_signed_percent(slower) : "");
}

std::string ranked_table(const ordered_json& document, std::size_t number) {
    const ordered_json& results = document["results"];
    const std::vector<std::size_t> ranks = by_rank(results);
    std::string head = "<th scope=\"col\" class=\"n\">#</th><th scope=\"col\">order</th>";
    for (const RankedColumn& column : kRankedColumns) {
        head += fmt::format("<th scope=\"col\" class=\"n\" title=\"{}\">{}</th>",
                            html_escaped(find_metric(column.id)->meaning), column.title);
    }
    head += "<th scope=\"col\" class=\"n\">time</th><th scope=\"col\" class=\"n\">slower by</th>";
    std::string rows;
    const double fastest = results[ranks.front()]["time_us"].get<double>();
    for (const std::size_t i : ranks) rows += ranked_row(results[i], number, i, fastest);
    return fmt::format(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Orders by rank\"><table "
        "class=\"ranked\"><caption "
        "class=\"quiet\">Orders by predicted time; choose one to look at "
        "it</caption><thead><tr>{}</tr></thead>"
        "<tbody>\n{}</tbody></table></div>\n",
        head, rows);
}

std::string ranking_section(const ReportDocument& document, std::size_t number) {
    const std::string summary = text_at(document.json, "summary");
    std::string html = "<article>" + element("h2", summary.empty() ? document_label(document.json) : summary);
    const std::string advice = text_at(document.json, "advice");
    if (!advice.empty()) html += "<p class=\"advice\">" + html_escaped(advice) + "</p>";
    html += ranked_table(document.json, number);
    html += fmt::format("<div class=\"charts\" data-ranking=\"{}\"></div>", number);
    return html + "</article>\n";
}

// "median_abs_pct": 1.2 of a counter's summary, with its unit.
std::string error_cell(const ordered_json& stats, const char* name) {
    for (const auto& [suffix, unit] : {std::pair{"pct", " %"}, std::pair{"points", " pt"}}) {
        const std::string key = fmt::format("{}_{}", name, suffix);
        if (stats.contains(key) && stats[key].is_number())
            return fmt::format("<td class=\"n\">{}{}</td>", format_plain(stats[key].get<double>()), unit);
    }
    return "<td class=\"n\">-</td>";
}

std::string validation_section(const ReportDocument& document, std::size_t number) {
    std::string rows;
    for (const auto& [id, stats] : document.json["summary"].items()) {
        if (find_metric(id) == nullptr || !stats.is_object()) continue;
        rows += "<tr><th scope=\"row\"><code>" + html_escaped(id) + "</code></th>";
        for (const char* name : {"median_abs", "p90_abs", "max_abs", "bias"}) rows += error_cell(stats, name);
        const std::string verdict = text_at(stats, "verdict");
        rows += "<td>" + html_escaped(verdict == "met_within_noise" ? "met within noise" : verdict) +
                "</td></tr>\n";
    }
    return fmt::format(
        "<article><h2>{}: {} rows of {}</h2><div class=\"charts\" data-validation=\"{}\"></div>\n<div "
        "class=\"scroll\" "
        "tabindex=\"0\" role=\"region\" aria-label=\"Errors by counter\"><table><caption>Predicted against "
        "measured: error of "
        "one row</caption><thead><tr><th scope=\"col\">counter</th><th scope=\"col\" "
        "class=\"n\">median</th><th "
        "scope=\"col\" class=\"n\">p90</th><th scope=\"col\" class=\"n\">max</th><th scope=\"col\" "
        "class=\"n\">bias</th><th scope=\"col\">accepted "
        "error</th></tr></thead><tbody>\n{}</tbody></table></div></article>\n",
        html_escaped(document_label(document.json)), document.json["rows"].size(),
        html_escaped(document.name), number, rows);
}

std::string about_section(std::span<const ReportDocument> documents) {
    std::string html = "<article><h2>How this was made</h2>\n";
    for (const ReportDocument& document : documents) {
        html += "<h3>" + html_escaped(document_label(document.json)) + "</h3><pre class=\"command\">" +
                html_escaped(command_of(document.json)) + "</pre>";
        const ordered_json& meta = document.json["meta"];
        html += "<p class=\"quiet\">l2lens " + html_escaped(text_at(meta, "version")) + ", " +
                html_escaped(text_at(meta, "date")) + ", " + html_escaped(text_at(meta, "gpu_file")) + " (" +
                html_escaped(text_at(meta, "gpu_hash")) + ")</p>\n";
    }
    html += "</article><article><h2>What is not modelled</h2><ul>";
    for (const Limit& limit : kLimits)
        html +=
            "<li><strong>" + html_escaped(limit.what) + "</strong> " + html_escaped(limit.why) + "</li>\n";
    html +=
        "</ul></article><article><h2>Counters and metrics</h2><div class=\"scroll\" tabindex=\"0\" "
        "role=\"region\" "
        "aria-label=\"Counters and metrics\"><table><thead><tr><th scope=\"col\">name</th><th "
        "scope=\"col\">unit</th><th scope=\"col\">meaning</th></tr></thead><tbody>\n";
    for (const Metric& metric : all_metrics()) {
        html += "<tr><th scope=\"row\"><code>" + html_escaped(metric.id) + "</code></th><td>" +
                html_escaped(unit_name(metric.unit)) + "</td><td>" + html_escaped(metric.meaning) +
                "</td></tr>\n";
    }
    return html + "</tbody></table></div></article>\n";
}

struct Tab {
    const char* id;
    const char* title;
    std::string html;
};

std::string tabs_html(const std::vector<Tab>& tabs) {
    std::string list;
    std::string panels;
    for (const Tab& tab : tabs) {
        list += fmt::format(
            "<button type=\"button\" role=\"tab\" id=\"tab-{0}\" aria-controls=\"{0}\" "
            "aria-selected=\"false\">{1}</button>",
            tab.id, tab.title);
        panels += fmt::format(
            "<section role=\"tabpanel\" id=\"{0}\" aria-labelledby=\"tab-{0}\" "
            "tabindex=\"-1\">\n{1}</section>\n",
            tab.id, tab.html);
    }
    return fmt::format(
        "<noscript><p>The charts and the tile player need JavaScript; the tables do "
        "not.</p></noscript>\n<div "
        "class=\"tabs\" role=\"tablist\" aria-label=\"Parts of the report\">{}</div>\n{}",
        list, panels);
}

std::vector<Tab> tabs_of(std::span<const ReportDocument> documents) {
    std::string rankings;
    std::string validations;
    std::size_t predicted = 0;
    std::size_t measured = 0;
    for (const ReportDocument& document : documents) {
        if (document.kind == ReportDocument::Kind::Prediction) {
            rankings += ranking_section(document, predicted++);
        } else {
            validations += validation_section(document, measured++);
        }
    }
    std::vector<Tab> tabs;
    if (predicted > 0) {
        tabs.push_back({"ranking", "Ranking", rankings});
        tabs.push_back({"order", "One order", ""});
        tabs.push_back({"player", "Tile player", ""});
    }
    if (measured > 0) tabs.push_back({"measured", "Measured", validations});
    tabs.push_back({"about", "About", about_section(documents)});
    return tabs;
}

std::string title_of(std::span<const ReportDocument> documents) {
    std::string title = document_label(documents.front().json);
    if (documents.size() > 1) title += fmt::format(" and {} more", documents.size() - 1);
    return title;
}

}  // namespace

void check_report_can_be_drawn() {
    if (web_assets().missing.empty()) return;
    throw Unavailable(
        fmt::format("report: this l2lens was built without {0}, which it draws with: apt-get install {0}, "
                    "then build again",
                    web_assets().missing));
}

std::string html_report(std::span<const ReportDocument> documents) {
    check_report_can_be_drawn();
    const std::string data =
        html_data(documents).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    const std::string scripts = fmt::format(
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n<script>{}</script>",
        json_in_script(data), web_assets().chart_js, web_assets().report);
    return html_page({title_of(documents), tabs_html(tabs_of(documents)), scripts});
}

}  // namespace l2lens
