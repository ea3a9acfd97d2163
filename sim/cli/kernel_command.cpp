// SPDX-License-Identifier: Apache-2.0
// l2lens kernel list | show NAME | check NAME [param=value ...]: what CTAs read, compute and write.
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "cli/interrupt.hpp"
#include "cli/invocation.hpp"
#include "cli/output.hpp"
#include "kernel/residency.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "report/format.hpp"
#include "report/json_meta.hpp"
#include "report/kernel_traffic.hpp"
#include "report/listing.hpp"

namespace l2lens::cli {
namespace {

struct Arguments {
    std::vector<std::string> kernel;  // name, then param=value
    std::string gpu = "h200";
};

ExitCode list(const Invocation& invocation) {
    const Output output(invocation.common);
    Listing listing{"l2lens/kernels", {"name", "about"}, {}};
    for (const std::string& name : list_kernels())
        listing.rows.push_back({name, describe_kernel(name).about});
    output.write({[&](bool colour) { return listing_text(listing, colour); },
                  [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
    return ExitCode::Done;
}

ExitCode show(const std::string& name, const Invocation& invocation) {
    const Output output(invocation.common);
    const KernelDescription kernel = describe_kernel(name);
    Listing listing{"l2lens/kernel", {"parameter", "default", "may be", "meaning"}, {}};
    for (const KernelParam& param : kernel.params) {
        listing.rows.push_back({param.name, param.default_value, param.domain(), param.meaning});
    }
    const std::string heading = fmt::format("{}: {} ({})\n", kernel.name, kernel.about, kernel.file);
    output.write({[&](bool colour) { return heading + listing_text(listing, colour); },
                  [&] { return listing_json(listing); }, [&] { return listing_csv(listing); }});
    return ExitCode::Done;
}

// How often the tiles together move the tensor.
std::string times_text(double moved, double bytes) {
    if (moved == 0) return "";
    const double times = moved / bytes;
    return times == 1 ? "once" : fmt::format("{:.6g} times", times);
}

Listing traffic_listing(const std::vector<TensorTraffic>& traffic) {
    Listing listing{"l2lens/kernel_check", {"tensor", "size", "read", "stored"}, {}};
    for (const TensorTraffic& tensor : traffic) {
        listing.rows.push_back({tensor.tensor, format_binary_bytes(tensor.bytes),
                                times_text(tensor.loaded_bytes, tensor.bytes),
                                times_text(tensor.stored_bytes, tensor.bytes)});
    }
    return listing;
}

std::string summary(const Kernel& kernel, const Machine& machine) {
    const int resident = ctas_per_sm(kernel.resources, machine);
    const double wave = static_cast<double>(machine.sms.size()) * resident;
    std::string grid;
    for (std::size_t axis = 0; axis < kernel.grid.size(); ++axis) {
        grid += fmt::format("{}{} {}", grid.empty() ? "" : " x ", kernel.grid[axis], kernel.axes[axis]);
    }
    return fmt::format("{}\ngrid {}: {}; {} per SM on {}, {:.1f} waves; {:.4g} TFLOP\n", kernel.title, grid,
                       counted(kernel.tiles(), "tile"), counted(resident, "CTA"), machine.name,
                       static_cast<double>(kernel.tiles()) / wave, kernel.flops() / 1e12);
}

std::string check_json(const Kernel& kernel, const Machine& machine,
                       const std::vector<TensorTraffic>& traffic) {
    auto tensors = nlohmann::ordered_json::array();
    for (const TensorTraffic& tensor : traffic) {
        tensors.push_back({{"name", tensor.tensor},
                           {"bytes", json_of(tensor.bytes)},
                           {"loaded_bytes", json_of(tensor.loaded_bytes)},
                           {"stored_bytes", json_of(tensor.stored_bytes)},
                           {"boxes_outside", tensor.boxes_outside}});
    }
    return document_text({{"schema", "l2lens/kernel_check"},
                          {"schema_version", kSchemaVersion},
                          {"kernel", {{"name", kernel.name}, {"params", json_of(kernel.params)}}},
                          {"gpu", machine.name},
                          {"axes", kernel.axes},
                          {"grid", kernel.grid},
                          {"ctas_per_sm", ctas_per_sm(kernel.resources, machine)},
                          {"flops", json_of(kernel.flops())},
                          {"tensors", std::move(tensors)}});
}

ExitCode check_kernel(const Arguments& arguments, const Invocation& invocation) {
    const Output output(invocation.common);
    const Machine machine = load_machine(arguments.gpu);
    const Kernel kernel = until_interrupted([&] {
        return load_kernel(arguments.kernel[0], {arguments.kernel.begin() + 1, arguments.kernel.end()},
                           &machine);
    });
    const std::vector<TensorTraffic> traffic = until_interrupted([&] { return kernel_traffic(kernel); });
    for (const TensorTraffic& tensor : traffic) {
        if (tensor.stored_bytes != 0 && tensor.stored_bytes != tensor.bytes) {
            output.note(fmt::format("{} is stored {}, not once: do the tiles cover it without overlap?",
                                    tensor.tensor, times_text(tensor.stored_bytes, tensor.bytes)));
        }
        if (tensor.boxes_outside > 0) {
            output.note(
                fmt::format("{} of the boxes of {} lie wholly outside it and move nothing: right for "
                            "a halo, else look at their starts and the count of steps",
                            tensor.boxes_outside, tensor.tensor));
        }
    }
    const Listing listing = traffic_listing(traffic);
    output.write({[&](bool colour) { return summary(kernel, machine) + listing_text(listing, colour); },
                  [&] { return check_json(kernel, machine, traffic); },
                  [&] { return listing_csv(listing); }});
    return ExitCode::Done;
}

}  // namespace

void add_kernel_command(CLI::App& root, Invocation& invocation, Commands& commands) {
    CLI::App* kernel = root.add_subcommand("kernel", "Kernels: list, show, check");
    kernel->require_subcommand(1);

    CLI::App* app = add_command(*kernel, "list", "Kernels that are shipped", invocation);
    commands.push_back({app, [&invocation] { return list(invocation); }});

    const auto name = std::make_shared<std::string>();
    app = add_command(*kernel, "show", "Parameters of a kernel", invocation);
    app->add_option("kernel", *name, "A name or a file")->required();
    commands.push_back({app, [name, &invocation] { return show(*name, invocation); }});

    const auto arguments = std::make_shared<Arguments>();
    app = add_command(*kernel, "check", "Build a kernel and add up what it moves", invocation);
    app->add_option("kernel", arguments->kernel, "A name or a file, and its parameters")
        ->required()
        ->option_text("KERNEL [param=value ...]");
    app->add_option("--gpu", arguments->gpu, "GPU it must fit")->capture_default_str();
    commands.push_back({app, [arguments, &invocation] { return check_kernel(*arguments, invocation); }});
}

}  // namespace l2lens::cli
