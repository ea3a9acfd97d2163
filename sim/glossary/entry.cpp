// SPDX-License-Identifier: Apache-2.0
#include "glossary/entry.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "glossary/parameter_notes.hpp"
#include "glossary/words.hpp"
#include "machine/parameters.hpp"
#include "order/order.hpp"

namespace l2lens {
namespace {

// What vendors show for the metrics that are the same on every GPU. AMD's: rocprof-compute for gfx942.
struct NeutralNote {
    std::string_view id;
    std::string_view vendor;
};
constexpr std::array kNeutral{
    NeutralNote{"l2_hit_rate_pct",
                "NVIDIA: lts__t_sector_hit_rate.pct; AMD: 100 * TCC_HIT_sum / (TCC_HIT_sum + TCC_MISS_sum), "
                "of requests"},
    NeutralNote{"l2_sectors", "NVIDIA: lts__t_sectors.sum; AMD counts requests: TCC_REQ_sum"},
    NeutralNote{"l1_hit_rate_pct",
                "NVIDIA: l1tex__t_sector_hit_rate.pct, of all loads; AMD: 1 - TCP_TCC_READ_REQ_sum / "
                "TCP_TOTAL_CACHE_ACCESSES_sum"},
    NeutralNote{"last_level_hit_rate_pct",
                "AMD: hits of the Infinity Cache (MALL); NVIDIA has no such cache"},
    NeutralNote{"merged_pct", "NVIDIA: the quotient of two lrc__ counters (Hopper and later)"},
    NeutralNote{"fabric_pct", "NVIDIA: lts__t_sectors_srcunit_ltcfabric.sum / lts__t_sectors.sum"},
    NeutralNote{"dram_read_bytes",
                "NVIDIA: dram__bytes_read.sum; AMD, out of the L2: 128 * TCC_BUBBLE_sum + 64 * "
                "(TCC_EA0_RDREQ_sum - TCC_BUBBLE_sum - TCC_EA0_RDREQ_32B_sum) + 32 * TCC_EA0_RDREQ_32B_sum"},
    NeutralNote{
        "dram_write_bytes",
        "NVIDIA: dram__bytes_write.sum; AMD, out of the L2: TCC_EA0_WRREQ_sum, TCC_EA0_WRREQ_64B_sum"},
    NeutralNote{"time_us", "NVIDIA: gpu__time_duration.sum; AMD: End_Timestamp - Start_Timestamp"},
    NeutralNote{"channel_max_over_mean", "NVIDIA: lts__t_sectors.max / lts__t_sectors.avg; AMD: TCC_REQ[n]"},
    NeutralNote{"closed_form_hit_rate_pct", "no counter: a simpler model"},
    NeutralNote{"flat_lru_hit_rate_pct", "no counter: a simpler model"},
    NeutralNote{"ctas_per_sm",
                "NVIDIA: the least of launch__occupancy_limit_shared_mem, _registers, _warps "
                "and _blocks"},
    NeutralNote{"waves", "NVIDIA: launch__waves_per_multiprocessor"},
};

std::string vendor_of(const Metric& metric) {
    if (metric.kind == MetricKind::Hardware) {
        return fmt::format("{}: {}", metric.id.starts_with("TCC_") ? "rocprofv3" : "Nsight Compute and CUPTI",
                           metric.id);
    }
    const auto* note = std::ranges::find(kNeutral, metric.id, &NeutralNote::id);
    return note == kNeutral.end() ? "" : std::string(note->vendor);
}

Entry entry_of(const Metric& metric) {
    Entry entry;
    entry.word = metric.id;
    entry.kind = metric.kind == MetricKind::Hardware ? EntryKind::Counter : EntryKind::Metric;
    entry.unit = unit_name(metric.unit);
    entry.meaning = metric.meaning;
    entry.formula = metric.formula;
    entry.vendor = vendor_of(metric);
    entry.model = counted_from(metric);
    entry.hint = metric.hint;
    return entry;
}

std::string unit_of(const ParameterInfo& info) {
    if (!info.unit.empty()) return std::string(info.unit);
    if (std::holds_alternative<Field<bool>>(info.field)) return "true or false";
    if (std::holds_alternative<TopologyList>(info.field)) return "a list of numbers";
    return "count";
}

Entry entry_of(const ParameterInfo& info) {
    Entry entry;
    entry.word = info.key;
    entry.kind = EntryKind::Parameter;
    entry.unit = unit_of(info);
    entry.meaning = info.meaning;
    if (std::holds_alternative<Field<double>>(info.field) || std::holds_alternative<Field<int>>(info.field) ||
        std::holds_alternative<Field<std::int64_t>>(info.field)) {
        entry.range = fmt::format("{} to {}", info.least, info.most);
    }
    if (const ParameterNote* note = find_parameter_note(info.key)) {
        entry.formula = note->formula;
        entry.vendor = note->vendor.empty() ? "no public name" : note->vendor;
        entry.model = note->model;
    }
    return entry;
}

Entry entry_of(const OrderInfo& info) {
    Entry entry;
    entry.word = info.name;
    entry.kind = EntryKind::Order;
    entry.meaning = info.meaning;
    entry.formula = fmt::format("{}, usually {}", info.usage, info.usual);
    entry.source = info.source;
    return entry;
}

Entry entry_of(const Word& word) {
    Entry entry;
    entry.word = word.word;
    entry.meaning = word.meaning;
    return entry;
}

std::string_view heading(EntryKind kind) {
    switch (kind) {
        case EntryKind::Word:
            return "Words";
        case EntryKind::Counter:
            return "Counters of the hardware";
        case EntryKind::Metric:
            return "Metrics";
        case EntryKind::Order:
            return "Orders";
        case EntryKind::Parameter:
            break;
    }
    return "Parameters of a machine";
}

std::string item(std::string_view label, const std::string& text) {
    return text.empty() ? "" : fmt::format("* {}: {}\n", label, text);
}

std::string markdown_of(const Entry& entry) {
    std::string text = fmt::format("### {}\n\n{}\n", entry.word, entry.meaning);
    const std::string items = item("unit", entry.unit) + item("range", entry.range) +
                              item(entry.kind == EntryKind::Order ? "written" : "formula", entry.formula) +
                              item("vendor", entry.vendor) + item("model", entry.model) +
                              item("hint", entry.hint) + item("source", entry.source);
    return text + (items.empty() ? "" : "\n" + items) + "\n";
}

// Names and formulas are full of what Markdown takes for emphasis.
std::string with_stars_escaped(const std::string& markdown) {
    std::string escaped;
    bool line_start = true;
    for (const char c : markdown) {
        if (c == '_' || (c == '*' && !line_start) || c == '<') escaped += '\\';
        escaped += c;
        line_start = c == '\n';
    }
    return escaped;
}

}  // namespace

std::string_view kind_name(EntryKind kind) {
    switch (kind) {
        case EntryKind::Word:
            return "word";
        case EntryKind::Counter:
            return "counter";
        case EntryKind::Metric:
            return "metric";
        case EntryKind::Order:
            return "order";
        case EntryKind::Parameter:
            break;
    }
    return "parameter";
}

std::vector<Entry> all_entries() {
    std::vector<Entry> entries;
    for (const Word& word : words()) entries.push_back(entry_of(word));
    for (const Metric& metric : all_metrics()) entries.push_back(entry_of(metric));
    for (const OrderInfo& info : order_catalogue()) entries.push_back(entry_of(info));
    for (const ParameterInfo& info : parameter_table()) entries.push_back(entry_of(info));
    return entries;
}

std::optional<Entry> find_entry(std::string_view word) {
    if (const Metric* metric = find_metric(word)) return entry_of(*metric);
    if (const ParameterInfo* parameter = find_parameter(word)) return entry_of(*parameter);
    for (const OrderInfo& info : order_catalogue()) {
        if (info.name == word.substr(0, word.find(':'))) return entry_of(info);
    }
    for (const Word& entry : words()) {
        if (entry.word == word) return entry_of(entry);
    }
    return std::nullopt;
}

std::string glossary_markdown() {
    std::string text =
        "# Glossary\n\nWritten by `l2lens explain --markdown` from the tables that the model uses; `l2lens "
        "explain "
        "WORD` shows one entry, with\nthe value of a parameter on a GPU. Of a counter, `model` lists the "
        "events it "
        "is computed from and where they are counted.\n";
    std::string entries;
    std::optional<EntryKind> last;
    for (const Entry& entry : all_entries()) {
        if (last != entry.kind) entries += fmt::format("\n## {}\n\n", heading(entry.kind));
        last = entry.kind;
        entries += markdown_of(entry);
    }
    entries.erase(entries.find_last_not_of('\n') + 1);
    return text + with_stars_escaped(entries) + "\n";
}

}  // namespace l2lens
