// SPDX-License-Identifier: Apache-2.0
#include "report/html_input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace l2lens {
namespace {

using nlohmann::ordered_json;

// A value with the way to it, for messages: "result.json: results[2].time_us: ...".
class Place {
public:
    Place(const ordered_json& value, std::string way) : value_(value), way_(std::move(way)) {}

    const ordered_json& value() const { return value_; }

    [[noreturn]] void refuse(const std::string& why) const { throw BadInput(way_ + ": " + why); }

    bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
    Place at(const char* key) const {
        object();
        if (!value_.contains(key)) refuse(fmt::format("has no '{}'", key));
        return {value_.at(key), fmt::format("{}{}{}", way_, is_file() ? ": " : ".", key)};
    }
    Place at(std::size_t i) const { return {value_.at(i), fmt::format("{}[{}]", way_, i)}; }

    const Place& object() const { return want(value_.is_object(), "an object"); }
    const Place& array() const { return want(value_.is_array(), "an array"); }
    std::string text() const {
        want(value_.is_string(), "a text");
        return value_.get<std::string>();
    }
    double number() const {
        want(value_.is_number(), "a number");
        return value_.get<double>();
    }
    // Counts the array's numbers; `least` and `most` bound each.
    std::size_t numbers(double least = -1e300, double most = 1e300) const {
        array();
        for (std::size_t i = 0; i < value_.size(); ++i) {
            const double number = at(i).number();
            if (number < least || number > most)
                at(i).refuse(fmt::format("{} is not from {} to {}", number, least, most));
        }
        return value_.size();
    }
    // The same, with null for what is not known.
    std::size_t numbers_or_nulls() const {
        array();
        for (std::size_t i = 0; i < value_.size(); ++i) {
            if (!value_[i].is_null()) at(i).number();
        }
        return value_.size();
    }
    void each(void (*check)(const Place&)) const {
        array();
        for (std::size_t i = 0; i < value_.size(); ++i) check(at(i));
    }

private:
    const Place& want(bool is_one, const char* what) const {
        if (!is_one) refuse(fmt::format("{} is wanted here, not {}", what, value_.type_name()));
        return *this;
    }
    bool is_file() const { return way_.find(": ") == std::string::npos; }

    const ordered_json& value_;
    std::string way_;
};

ordered_json parse(const std::string& text, const std::string& name) {
    try {
        return ordered_json::parse(text);
    } catch (const ordered_json::out_of_range&) {
        throw BadInput(name + ": a number in it is too large to be read");
    } catch (const ordered_json::parse_error& error) {
        const std::size_t read = std::min(text.size(), error.byte);
        const auto line =
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(read), '\n');
        const bool ends = error.byte > text.size();
        throw BadInput(fmt::format(
            "{}:{}: {}", name, line,
            ends ? "the JSON ends here in its middle: is the file half-written?" : "no JSON from here on"));
    }
}

ReportDocument::Kind kind_of(const Place& document) {
    const std::string schema = document.at("schema").text();
    const std::string version = document.at("schema_version").text();
    if (schema != "l2lens/prediction" && schema != "l2lens/validation") {
        document.at("schema").refuse(fmt::format(
            "'{}' is no l2lens/prediction (predict --json) or l2lens/validation (validate --json)", schema));
    }
    if (!version.starts_with("1."))
        document.at("schema_version").refuse(fmt::format("'{}', but this l2lens reads 1.x", version));
    return schema == "l2lens/prediction" ? ReportDocument::Kind::Prediction
                                         : ReportDocument::Kind::Validation;
}

void check_values(const Place& values) {
    values.object();
    for (const auto& [key, value] : values.value().items()) values.at(key.c_str()).number();
}

void check_same_length(const Place& object, std::initializer_list<const char*> keys, std::size_t length) {
    for (const char* key : keys) {
        const Place series = object.at(key);
        if (series.numbers() != length)
            series.refuse(fmt::format("{} numbers, but there should be {}", series.value().size(), length));
    }
}

void check_schedule(const Place& schedule, double tiles, double sms) {
    if (schedule.at("tick_ns").number() <= 0) schedule.at("tick_ns").refuse("is not positive");
    const std::size_t launches = schedule.at("tile").numbers(-1, tiles - 1);
    check_same_length(schedule, {"sm", "start", "end"}, launches);
    schedule.at("sm").numbers(-1, sms - 1);
    schedule.at("start").numbers(0);
    schedule.at("end").numbers(0);
}

std::size_t check_traffic(const Place& traffic) {
    if (traffic.at("bin_ns").number() < 0) traffic.at("bin_ns").refuse("is negative");
    const std::size_t bins = traffic.at("l2_hit_rate_pct").numbers_or_nulls();
    check_same_length(traffic, {"merged", "hit", "copy", "dram_read", "fabric", "write", "dram_write"}, bins);
    return bins;
}

void check_reuse(const Place& reuse) {
    const std::size_t bins = reuse.at("lower_bytes").numbers(0);
    const Place tensors = reuse.at("tensors").array();
    for (std::size_t i = 0; i < tensors.value().size(); ++i) {
        tensors.at(i).at("tensor").text();
        tensors.at(i).at("first_uses").number();
        check_same_length(tensors.at(i), {"requests"}, bins);
    }
}

void check_slices(const Place& slices) {
    slices.at("requested_sectors").numbers(0);
    slices.at("simulated").each([](const Place& lane) {
        lane.at("slice").number();
        lane.at("sectors").numbers(0);
        lane.at("dram_read_sectors").number();
    });
}

void check_residency(const Place& residency, double partitions, std::size_t bins) {
    residency.at("whole").number();
    double panels = 0;
    const Place groups = residency.at("panels").array();
    for (std::size_t i = 0; i < groups.value().size(); ++i) {
        groups.at(i).at("tensor").text();
        groups.at(i).at("by").text();
        for (const char* key : {"tiles", "tiles_per_panel", "first"}) groups.at(i).at(key).number();
        panels += groups.at(i).at("panels").number();
    }
    const Place held = residency.at("held").array();
    if (held.value().size() != bins)
        held.refuse(fmt::format("{} bins, but there should be {}", held.value().size(), bins));
    for (std::size_t i = 0; i < bins; ++i) {
        if (static_cast<double>(held.at(i).text().size()) != panels * partitions)
            held.at(i).refuse("is not one digit for each panel in each partition");
    }
}

void check_details(const Place& document, const Place& details) {
    const Place grid = document.at("kernel").at("grid");
    grid.numbers(1, 1e9);
    double tiles = 1;
    for (const ordered_json& axis : grid.value()) tiles *= axis.get<double>();
    const Place machine = document.at("machine");
    const std::size_t sms = machine.at("gpc_of_sm").numbers(0, 255);
    check_same_length(machine, {"partition_of_sm"}, sms);
    machine.at("partition_bytes").number();
    const double partitions = machine.at("partitions").number();
    machine.at("partition_of_sm").numbers(0, partitions - 1);
    if (details.has("schedule")) check_schedule(details.at("schedule"), tiles, static_cast<double>(sms));
    const std::size_t bins = check_traffic(details.at("traffic"));
    if (details.has("misses")) {
        for (const char* key : {"compulsory", "capacity", "copy", "promotion"})
            details.at("misses").at(key).number();
    }
    check_slices(details.at("slices"));
    if (details.has("reuse")) check_reuse(details.at("reuse"));
    if (details.has("residency")) check_residency(details.at("residency"), partitions, bins);
}

// What 1.0 did not have.
void check_texts(const Place& object, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
        if (object.has(key)) object.at(key).text();
    }
}

void check_prediction(const Place& document) {
    check_texts(document, {"summary", "advice"});
    document.at("meta").at("argv").each([](const Place& word) { word.text(); });
    document.at("kernel").at("name").text();
    document.at("gpu").text();
    const Place results = document.at("results").array();
    if (results.value().empty()) results.refuse("is empty: there is nothing to draw");
    for (std::size_t i = 0; i < results.value().size(); ++i) {
        const Place result = results.at(i);
        result.at("order").text();
        result.at("mode").text();
        result.at("engine").text();
        if (result.at("rank").number() < 1) result.at("rank").refuse("is not 1 or more");
        if (result.at("time_us").number() < 0) result.at("time_us").refuse("is negative");
        check_values(result.at("counters"));
        check_values(result.at("metrics"));
        check_texts(result, {"cause", "sample"});
        if (result.has("details")) check_details(document, result.at("details"));
    }
}

void check_validation(const Place& document) {
    document.at("meta").at("argv").each([](const Place& word) { word.text(); });
    document.at("gpu").text();
    document.at("summary").object();
    document.at("rows").each([](const Place& row) {
        row.at("kernel").text();
        row.at("order").text();
        row.at("mode").text();
        row.at("params").object();
        check_values(row.at("predicted"));
        check_values(row.at("measured"));
    });
}

}  // namespace

ReportDocument read_report_document(const std::string& text, const std::string& name) {
    ReportDocument document{ReportDocument::Kind::Prediction, name, parse(text, name)};
    const Place whole(document.json, name);
    document.kind = kind_of(whole);
    if (document.kind == ReportDocument::Kind::Prediction) {
        check_prediction(whole);
    } else {
        check_validation(whole);
    }
    return document;
}

}  // namespace l2lens
