// SPDX-License-Identifier: Apache-2.0
#include "cli/distinct_orders.hpp"

#include <map>
#include <tuple>

namespace l2lens::cli {
namespace {

struct BySequence {
    bool operator()(const NamedOrder* a, const NamedOrder* b) const {
        return std::tie(a->tile_of_launch, a->then) < std::tie(b->tile_of_launch, b->then);
    }
};

}  // namespace

DistinctOrders::DistinctOrders(std::span<const NamedOrder> orders) : orders_(orders) {
    std::map<const NamedOrder*, std::size_t, BySequence> numbers;
    for (const NamedOrder& order : orders) {
        const auto [number, is_new] = numbers.emplace(&order, firsts_.size());
        if (is_new) firsts_.push_back(&order);
        first_of_order_.push_back(number->second);
    }
}

std::vector<Prediction> DistinctOrders::for_all(const std::vector<Prediction>& of_firsts) const {
    std::vector<Prediction> predictions;
    for (std::size_t i = 0; i < orders_.size(); ++i) {
        predictions.push_back(of_firsts[first_of_order_[i]]);
        predictions.back().order = orders_[i].name;
        predictions.back().footprint = orders_[i].footprint;
    }
    return predictions;
}

}  // namespace l2lens::cli
