// SPDX-License-Identifier: Apache-2.0
// l2lens order list | show ORDER | check ORDER --grid TMxTN | --kernel 'NAME ...': tile orders, and whether
// one is a bijection.
#include <iterator>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/arguments.hpp"
#include "cli/interrupt.hpp"
#include "cli/invocation.hpp"
#include "cli/model_run.hpp"
#include "cli/output.hpp"
#include "load/machine_file.hpp"
#include "load/user_order.hpp"
#include "report/listing.hpp"
#include "report/order_report.hpp"

namespace l2lens::cli {
namespace {

struct Arguments {
    std::string order;
    std::string grid;
    std::string kernel;  // name, then param=value: its grid, and what its CTAs read
    std::string gpu = "h200";
};

ExitCode list(const Invocation& invocation) {
    const Output output(invocation.common);
    Listing listing{"l2lens/orders", {"order", "usual", "meaning", "source"}, {}};
    for (const OrderInfo& info : order_catalogue()) {
        listing.rows.push_back({info.usage, info.usual, info.meaning, info.source});
    }
    output.write({[&](bool colour) { return listing_text(listing, colour); },
                  [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
    return ExitCode::Done;
}

OrderReport report_of_kernel(const Arguments& arguments, const Machine& machine, bool quiet) {
    std::istringstream text(arguments.kernel);
    const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
    if (words.empty()) throw BadInput("--kernel: name a kernel, as in --kernel 'gemm m=4096'");
    const LaunchedKernel launched = load_sequence(words, "", machine, quiet);
    return until_interrupted([&] {
        return describe_order(arguments.order, grid_of(launched.kernel),
                              order_of_plane(arguments.order, machine, launched.kernel, launched.mode),
                              order_context(machine, launched.kernel, launched.mode));
    });
}

// Reads the arguments and describes the order on the grid.
OrderReport report_of(const Arguments& arguments, bool quiet) {
    const Machine machine = load_machine(arguments.gpu);
    if (!arguments.kernel.empty()) return report_of_kernel(arguments, machine, quiet);
    if (arguments.grid.empty()) throw BadInput("--grid: say how many tiles, as in 64x32, or name a --kernel");
    const GridShape grid = parse_grid(arguments.grid);
    OrderContext context;
    context.sms = static_cast<int>(machine.sms.size());
    if (machine.l2.private_partitions || machine.partitions > 2) context.xcds = machine.partitions;
    return until_interrupted([&] {
        return describe_order(arguments.order, grid, resolve_order(arguments.order, grid, context), context);
    });
}

// What takes seconds for millions of tiles.
std::string sequence_csv(const OrderReport& report) {
    return until_interrupted([&] { return order_sequence_csv(report); });
}

ExitCode show(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    const OrderReport report = report_of(arguments, output.quiet());
    const auto json = [&] { return until_interrupted([&] { return order_sequence_json(report); }); };
    output.write({[&](bool) { return order_picture(report); }, json, [&] { return sequence_csv(report); }});
    return ExitCode::Done;
}

ExitCode check(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    const OrderReport report = report_of(arguments, output.quiet());
    output.write({[&](bool colour) { return order_check_text(report, colour); },
                  [&] { return order_check_json(report); }, [&] { return sequence_csv(report); }});
    return report.check.bijection() ? ExitCode::Done : ExitCode::OutsideTolerance;
}

void add_order_options(CLI::App& app, Arguments& arguments, const std::string& grid) {
    app.add_option("order", arguments.order,
                   "An order: a name, 'lua: return pid // tn, pid % tn', or "
                   "file:PATH with a line 'row column' for each CTA, or what order show --csv wrote")
        ->required();
    CLI::Option* tiles = app.add_option("--grid", arguments.grid, grid);
    if (!arguments.grid.empty()) tiles->capture_default_str();
    app.add_option("--kernel", arguments.kernel,
                   "Instead of --grid, and for orders that follow from a kernel: 'gemm m=4096'")
        ->excludes(tiles);
    app.add_option("--gpu", arguments.gpu, "GPU whose waves are looked at")->capture_default_str();
}

}  // namespace

void add_order_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    CLI::App* order = root.add_subcommand("order", "Tile orders: list, show, check");
    order->require_subcommand(1);

    CLI::App* app = add_command(*order, "list", "Built-in orders", invocation);
    commands.push_back({app, [&invocation] { return list(invocation); }});

    const auto shown = std::make_shared<Arguments>();
    shown->grid = "8x8";
    app = add_command(*order, "show", "Draw the launch ids on the tiles", invocation);
    add_order_options(*app, *shown, "Tile rows x tile columns");
    commands.push_back({app, [shown, &invocation] { return show(*shown, invocation); }});

    const auto checked = std::make_shared<Arguments>();
    app = add_command(*order, "check", "Is the order a bijection? Exit code 1 when it is not", invocation);
    add_order_options(*app, *checked, "Tile rows x tile columns, as in 64x32");
    commands.push_back({app, [checked, &invocation] { return check(*checked, invocation); }});
}

}  // namespace l2lens::cli
