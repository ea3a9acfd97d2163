// SPDX-License-Identifier: Apache-2.0
// Orders without those that only have another name: on many grids several give the same tile sequence, as
// group_n:8 and half a dozen of the libraries' do.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "predict.hpp"

namespace l2lens::cli {

class DistinctOrders {
public:
    // `orders` must outlive it.
    explicit DistinctOrders(std::span<const NamedOrder> orders);

    // The first one of each tile sequence, as the orders stand.
    std::span<const NamedOrder* const> firsts() const { return firsts_; }

    // The predictions of all orders, by those of the firsts: alike but for the name.
    std::vector<Prediction> for_all(const std::vector<Prediction>& of_firsts) const;

private:
    std::span<const NamedOrder> orders_;
    std::vector<const NamedOrder*> firsts_;
    std::vector<std::size_t> first_of_order_;
};

}  // namespace l2lens::cli
