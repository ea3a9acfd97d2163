// SPDX-License-Identifier: Apache-2.0
// A lesson for programs: each step's facts beside its sentence.
#include <nlohmann/json.hpp>

#include "teach/lesson.hpp"

namespace l2lens {
namespace {

using Json = nlohmann::ordered_json;

const char* event_name(LaneStep::Kind kind) {
    switch (kind) {
        case LaneStep::Kind::Merged:
            return "merged";
        case LaneStep::Kind::Read:
            return "read";
        case LaneStep::Kind::HomeRead:
            return "home_read";
        case LaneStep::Kind::Write:
            return "write";
        case LaneStep::Kind::HomeWrite:
            return "home_write";
        case LaneStep::Kind::Answer:
            break;
    }
    return "answer";
}

Json sector_list(SectorMask sectors) {
    Json list = Json::array();
    for (int sector = 0; sector < kSectorsPerLine; ++sector) {
        if ((sectors >> sector & 1) != 0) list.push_back(sector);
    }
    return list;
}

double in_ns(Picoseconds time) {
    return static_cast<double>(time) / kPsPerNs;
}

Json facts(const Access& access, const Narrator& narrator, const HeldLine& displaced) {
    const LaneStep& step = access.step;
    Json json = {{"event", event_name(step.kind)},
                 {"time_ns", in_ns(step.time)},
                 {"line", step.line},
                 {"address", static_cast<std::uint64_t>(step.line) * kLineBytes},
                 {"slice", narrator.slice_of(step)},
                 {"partition", step.partition},
                 {"home", narrator.home_of(step.line, step.partition)},
                 {"set", narrator.set_of(step.line)},
                 {"asked", sector_list(step.asked)}};
    if (access.sm >= 0) json["sm"] = access.sm;
    if (is_lookup(step)) {
        json["line_found"] = step.tag_found;
        json["valid_before"] = sector_list(step.valid);
        json["valid_after"] = sector_list(step.after);
        json["fetched"] = sector_list(step.fetched);
        json["from_last_level"] = sector_list(step.last_level);
        json["written_back"] =
            sector_list(static_cast<SectorMask>(step.cleaned.dirty | step.completed.dirty));
        json["displaced_line"] = displaced.used ? Json(displaced.line) : Json();
    }
    if (access.answered >= 0) {
        json["answered_ns"] = in_ns(access.answered);
        json["answered_with"] = access.answered_with;
    }
    return json;
}

}  // namespace

std::string Lesson::json(std::size_t from, std::size_t to) {
    Json list = Json::array();
    for (std::size_t step = from; step <= to; ++step) {
        contents_.play_to(tape_.accesses, step - 1);
        Json one = {{"step", step}};
        one.update(facts(access(step), narrator_, contents_.displaced_by(access(step).step)));
        one["sentence"] = narrator_.sentence(access(step), contents_);
        list.push_back(std::move(one));
    }
    const Tally t = tally(to);
    const Json document = {{"schema", "l2lens/lesson"},
                           {"schema_version", "1.0.0"},
                           {"title", title()},
                           {"gpu", machine_.name},
                           {"kernel", kernel_.name},
                           {"order", order_},
                           {"accesses", steps()},
                           {"complete", complete()},
                           {"sectors",
                            {{"up_to_step", to},
                             {"asked", t.asked},
                             {"merged", t.merged},
                             {"looked_up", t.looked_up},
                             {"hits", t.hits},
                             {"over_fabric", t.over_fabric},
                             {"from_dram", t.from_dram}}},
                           {"steps", std::move(list)}};
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace l2lens
