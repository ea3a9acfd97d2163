// SPDX-License-Identifier: Apache-2.0
// From names on the command line to predictions: the same way for `predict` and `validate`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "load/kernel_file.hpp"

#include "predict.hpp"

namespace l2lens::cli {

// Loads a kernel for a way to launch it. A kernel that declares a parameter `mode` is compiled for one, so
// the two must agree: `mode` "" takes the kernel's argument mode=..., else grid.
struct LaunchedKernel {
    Kernel kernel;
    Mode mode = Mode::Grid;
};
// Ctrl-C ends the reading.
LaunchedKernel load_launched(const std::string& name, std::vector<std::string> arguments,
                             const std::string& mode, const Machine& machine,
                             const LoadProgress& progress = {});

// KERNEL [param=value ...] [then KERNEL [param=value ...]] ...: launches one after the other on one L2.
// Shows how far it is unless `quiet`.
LaunchedKernel load_sequence(const std::vector<std::string>& words, const std::string& mode,
                             const Machine& machine, bool quiet);

// What an order may know of the launch, but for what CTAs read.
OrderContext order_context(const Machine& machine, const Kernel& kernel, Mode mode);

// An order by any name, over the plane, the clusters of the kernel as they are launched.
TileSequence order_of_plane(const std::string& name, const Machine& machine, const Kernel& kernel, Mode mode);

// The same over the kernel's grid. Throws BadInput when it is unknown or not a bijection.
NamedOrder named_order(const std::string& name, const Machine& machine, const Kernel& kernel, Mode mode);

// The orders of `--order`. Of the lists `common` and `all`, orders that cannot cover this grid are left out,
// and `note` is told.
std::vector<NamedOrder> named_orders(const std::vector<std::string>& arguments, const Machine& machine,
                                     const Kernel& kernel, Mode mode,
                                     const std::function<void(const std::string&)>& note);

// Predicts each order; many run side by side, few spread over the threads. The results are the same either
// way.
std::vector<Prediction> predict_each(const Machine& machine, const Kernel& kernel,
                                     std::span<const NamedOrder* const> orders, const PredictOptions& options,
                                     Executor& executor, bool quiet);

// The same, but of orders with the same tile sequence (distinct_orders.hpp) one is predicted for all.
std::vector<Prediction> predict_orders(const Machine& machine, const Kernel& kernel,
                                       std::span<const NamedOrder> orders, const PredictOptions& options,
                                       Executor& executor, bool quiet);

}  // namespace l2lens::cli
