// SPDX-License-Identifier: Apache-2.0
// The orders beside each other: time and DRAM traffic.
import { axis, chart, options } from "./charts";
import { byRank, Prediction } from "./data";
import { figure } from "./dom";
import { bytesUnit } from "./format";
import { kDram, series } from "./palette";

const short = (name: string) => (name.length > 28 ? name.slice(0, 27) + "…" : name);

function bars(prediction: Prediction, title: string, unit: string, colour: string, value: (i: number) => number): HTMLElement {
    const results = byRank(prediction);
    const values = results.map((_, i) => value(i));
    return chart(`${title} of ${results.length} orders, ${unit}; the figures are in the table below`,
        60 + 26 * results.length, () => ({
            type: "bar",
            data: {
                labels: results.map((r) => short(r.order)),
                datasets: [{ label: title, data: values, backgroundColor: colour }],
            },
            options: options({ x: axis({ title: `${title}, ${unit}` }), y: axis({ title: "", grid: false, ticks: { autoSkip: false } }) },
                false, { indexAxis: "y" }),
        }));
}

export function fillRanking(container: HTMLElement, prediction: Prediction): void {
    const results = byRank(prediction);
    const read = results.map((r) => r.metrics["dram_read_bytes"] ?? 0);
    const unit = bytesUnit(read);
    const slow = Math.max(...results.map((r) => r.time_us)) >= 1000;
    container.append(
        figure("Time", "Shorter is better.", bars(prediction, "Time", slow ? "ms" : "us", series(0),
            (i) => results[i].time_us / (slow ? 1000 : 1)),
            () => ({ head: ["order", "time, us"], rows: results.map((r) => [r.order, r.time_us]) })),
        figure("DRAM reads", "What had to be fetched, again and again where an order does not fit.",
            bars(prediction, "DRAM reads", unit.name, kDram, (i) => read[i] / unit.factor),
            () => ({ head: ["order", "bytes"], rows: results.map((r) => [r.order, r.metrics["dram_read_bytes"] ?? "-"]) })));
}
