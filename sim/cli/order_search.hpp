// SPDX-License-Identifier: Apache-2.0
// The search among many orders: all of them by whole boxes, then the fastest of them by lines.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "predict.hpp"

namespace l2lens::cli {

// As many orders as lines predict in seconds: `common` and its variations. More of them are searched, if the
// tile engine knows the launch.
inline constexpr std::size_t kOrdersByLine = 24;

// Predicts the orders of these numbers by lines.
using CloserLook = std::function<std::vector<Prediction>(std::span<const std::size_t>)>;

// Puts what lines say in the place of the fastest six of `found`, which are by tiles; of six more as long as
// the next one could still be the fastest of all, and of kOrdersByLine at most.
void look_closer(std::vector<Prediction>& found, const CloserLook& by_lines);

// Of orders with the same tile sequence one is looked at. The results stand as the orders do, with the engine
// of each; ranking() puts those by lines first. The same on any number of threads.
std::vector<Prediction> search_orders(const Machine& machine, const Kernel& kernel,
                                      std::span<const NamedOrder> orders, const PredictOptions& options,
                                      Executor& executor, bool quiet);

}  // namespace l2lens::cli
