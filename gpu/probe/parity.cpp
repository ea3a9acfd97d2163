// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/parity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

namespace l2lens::gpu {
namespace {

double mean(const std::vector<double>& sorted, std::size_t begin, std::size_t end) {
    return std::accumulate(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                           sorted.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
           static_cast<double>(end - begin);
}

double deviation(const std::vector<double>& sorted, std::size_t begin, std::size_t end, double centre) {
    double squares = 0;
    for (std::size_t i = begin; i < end; ++i) squares += (sorted[i] - centre) * (sorted[i] - centre);
    return std::sqrt(squares / static_cast<double>(end - begin));
}

// Rows of a linear system over GF(2), kept in echelon form: the bits of the mask are the unknowns, with one
// bit more for the constant.
class Elimination {
public:
    explicit Elimination(std::uint64_t unknowns) : unknowns_(unknowns) {}

    // False when the equation contradicts the others.
    bool add(std::uint64_t coefficients, bool value) {
        coefficients &= unknowns_;
        for (const auto& [row, row_value] : rows_) {
            if ((coefficients & std::bit_floor(row)) == 0) continue;
            coefficients ^= row;
            value ^= row_value;
        }
        if (coefficients == 0) return !value;
        rows_.emplace_back(coefficients, value);
        std::sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        return true;
    }

    // With every unknown that is still free set to zero.
    std::uint64_t solve() const {
        std::uint64_t solution = 0;
        for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
            const bool rest = std::popcount(row->first & solution & ~std::bit_floor(row->first)) % 2 != 0;
            if (rest != row->second) solution |= std::bit_floor(row->first);
        }
        return solution;
    }

    // Unknowns that some other solution has different: each that no equation settles, with those tied to it.
    std::uint64_t open() const {
        std::uint64_t settled = 0;
        for (const auto& [row, value] : rows_) settled |= std::bit_floor(row);
        std::uint64_t all = 0;
        for (std::uint64_t rest = unknowns_ & ~settled; rest != 0; rest &= rest - 1) {
            std::uint64_t change = rest & -rest;
            for (auto row = rows_.rbegin(); row != rows_.rend(); ++row)
                if (std::popcount(row->first & change) % 2 != 0) change |= std::bit_floor(row->first);
            all |= change;
        }
        return all;
    }

private:
    std::uint64_t unknowns_;
    std::vector<std::pair<std::uint64_t, bool>> rows_;
};

constexpr std::uint64_t kConstant = 1;  // bit 0 of an offset is never part of a hash of lines

// A page number beside the constant, which is bit 0.
std::uint64_t with_constant(std::uint64_t page) {
    return page << 1 | kConstant;
}

// A few dozen equations refute a wrong first page; the rest are for the right ones.
std::vector<std::size_t> shuffled(std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(20251121);
    std::shuffle(order.begin(), order.end(), random);
    return order;
}

// What the pages from `first` on follow, if they follow anything.
std::optional<PageRule> rule_from(const std::vector<bool>& sides, const std::vector<std::size_t>& order,
                                  std::uint64_t first, std::uint64_t page_bits) {
    Elimination system(with_constant(page_bits));
    for (const std::size_t page : order)
        if (!system.add(with_constant(first + page), sides[page])) return std::nullopt;
    return PageRule{system.solve() >> 1, system.open() >> 1, order.size()};
}

double agreement(const ParityRule& rule, const Sided& samples) {
    const auto right = std::count_if(samples.begin(), samples.end(),
                                     [&](const auto& sample) { return rule(sample.first) == sample.second; });
    return static_cast<double>(right) / static_cast<double>(samples.size());
}

}  // namespace

TwoLevels split_levels(const std::vector<double>& readings) {
    TwoLevels levels;
    if (readings.size() < 2) return levels;
    std::vector<double> sorted = readings;
    std::sort(sorted.begin(), sorted.end());
    // The best cut of a sorted list is where the sum of squares within the groups is least: where the means
    // times sizes explain most.
    std::size_t best = 1;
    double most = -1;
    for (std::size_t cut = 1; cut < sorted.size(); ++cut) {
        const double gap = mean(sorted, cut, sorted.size()) - mean(sorted, 0, cut);
        const double explained =
            gap * gap * static_cast<double>(cut) * static_cast<double>(sorted.size() - cut);
        if (explained <= most) continue;
        most = explained;
        best = cut;
    }
    levels.low = mean(sorted, 0, best);
    levels.high = mean(sorted, best, sorted.size());
    levels.threshold = (sorted[best - 1] + sorted[best]) / 2;
    const double width =
        deviation(sorted, 0, best, levels.low) + deviation(sorted, best, sorted.size(), levels.high);
    // A single broad group cut in its middle has means 1.6 standard deviations apart, its halves 0.6 wide
    // each: a ratio of 1.3. Two groups need twice that, and both must be populated.
    const std::size_t few = sorted.size() / 10;
    levels.distinct = levels.high - levels.low > 2.6 * width && best > few && sorted.size() - best > few;
    return levels;
}

bool ParityRule::operator()(std::uint64_t offset) const {
    return (std::popcount(offset & mask) % 2 != 0) != constant;
}

std::optional<ParityRule> solve_parity(const Sided& samples, std::uint64_t candidates,
                                       double least_agreement) {
    if (samples.empty()) return std::nullopt;
    std::mt19937_64 random(20251120);
    ParityRule best;
    for (int attempt = 0; attempt < 50 && best.agreement < 1; ++attempt) {
        Sided shuffled = samples;
        std::shuffle(shuffled.begin(), shuffled.end(), random);
        Elimination system(candidates | kConstant);
        for (const auto& [offset, side] : shuffled) system.add((offset & candidates) | kConstant, side);
        const std::uint64_t solution = system.solve();
        ParityRule rule{solution & candidates, (solution & kConstant) != 0, 0};
        rule.agreement = agreement(rule, samples);
        if (rule.agreement > best.agreement) best = rule;
    }
    if (best.agreement < least_agreement) return std::nullopt;
    return best;
}

std::optional<PageRule> solve_pages(const std::vector<bool>& sides, std::size_t pages_of_memory) {
    constexpr std::size_t kFewest = 32;
    const std::uint64_t page_bits = std::bit_ceil(pages_of_memory) - 1;
    for (std::size_t pages = sides.size(); pages >= kFewest; pages /= 2) {
        const auto order = shuffled(pages);
        std::optional<PageRule> rule;
        for (std::uint64_t first = 0; first + pages <= pages_of_memory; ++first) {
            const auto found = rule_from(sides, order, first, page_bits);
            if (!found) continue;
            if (!rule) rule = found;
            rule->unclear |= found->unclear | (rule->mask ^ found->mask);
        }
        if (!rule) continue;
        rule->mask &= ~rule->unclear;
        return rule;
    }
    return std::nullopt;
}

}  // namespace l2lens::gpu
