// SPDX-License-Identifier: Apache-2.0
// One order: why it has its rank, where its tiles go, and what the memory does meanwhile.
import { axis, chart, drawVisible, options } from "./charts";
import { binLength, Chosen, Details, kSectorBytes, Prediction, Traffic } from "./data";
import { figure, h } from "./dom";
import { binaryBytes, bytes, bytesUnit, count, percent, rateUnit, sectorsUnit, time, Unit } from "./format";
import { memoryChart } from "./memory_chart";
import { ink, kCopy, kDram, kHit, kMerged, kWrite, series } from "./palette";
import { tileMap } from "./tile_map";

const microsecondsOf = (traffic: Traffic) => traffic.hit.map((_, i) => (i * traffic.bin_ns) / 1000); // bins begin
// Sectors per bin as bytes per ns, which are GB/s.
const ratesOf = ({ result }: Chosen, traffic: Traffic, sectors: number[]) =>
    sectors.map((n, i) => (n * kSectorBytes) / binLength(result, traffic, i));
const inUnit = (values: number[], unit: Unit) => values.map((v) => v / unit.factor);

const timeAxis = ({ result }: Chosen) =>
    axis({ title: "time since the launch, us", type: "linear", grid: false, min: 0, max: Math.ceil(result.time_us),
        ticks: { includeBounds: false } });
const points = (x: number[], y: (number | null)[]) => x.map((at, i) => ({ x: at, y: y[i] }));

function answersChart(chosen: Chosen, traffic: Traffic): HTMLElement {
    const kinds: [string, number[], string][] = [
        ["merged in the coalescer", traffic.merged, kMerged], ["hit in the own partition", traffic.hit, kHit],
        ["copied from the other partition", traffic.copy, kCopy], ["read from DRAM", traffic.dram_read, kDram]];
    const microseconds = microsecondsOf(traffic);
    const rates = kinds.map(([, values]) => ratesOf(chosen, traffic, values));
    const unit = rateUnit(microseconds.map((_, i) => rates.reduce((sum, r) => sum + r[i], 0)));
    const picture = chart(`What answered the SMs' reads over time, stacked, ${unit.name}`, 300, () => ({
        type: "line",
        data: {
            datasets: kinds.map(([label, , colour], k) => ({
                label, data: points(microseconds, inUnit(rates[k], unit)), backgroundColor: colour, borderColor: colour, borderWidth: 1,
                fill: true, pointRadius: 0, stepped: false,
            })),
        },
        options: options({ x: timeAxis(chosen), y: axis({ title: `answered, ${unit.name}`, stacked: true }) }, true),
    }));
    return figure("What answered the SMs' reads", "Stacked: together they are what the SMs asked for.", picture, () => ({
        head: ["time, us", ...kinds.map(([label]) => `${label}, sectors`)],
        rows: microseconds.map((at, i) => [at.toFixed(1), ...kinds.map(([, values]) => values[i])]),
    }));
}

function trafficChart(chosen: Chosen, traffic: Traffic): HTMLElement {
    const microseconds = microsecondsOf(traffic);
    const kinds: [string, number[], string, number[]][] = [["fabric", traffic.fabric, kCopy, [6, 3]],
        ["DRAM read", traffic.dram_read, kDram, []], ["DRAM write", traffic.dram_write, kWrite, [2, 2]]];
    const rates = kinds.map(([, values]) => ratesOf(chosen, traffic, values));
    const unit = rateUnit(rates.flat());
    const picture = chart(`L2 hit rate in percent, and fabric and DRAM traffic in ${unit.name} over time`, 300, () => ({
        type: "line",
        data: {
            datasets: [
                { label: "L2 hit rate (right)", data: points(microseconds, traffic.l2_hit_rate_pct), borderColor: kHit,
                    backgroundColor: kHit, borderWidth: 2.5, pointRadius: 0, yAxisID: "rate" },
                ...kinds.map(([label, , colour, borderDash], k) => ({
                    label, data: points(microseconds, inUnit(rates[k], unit)), borderColor: colour, backgroundColor: colour, borderDash,
                    borderWidth: 1.5, pointRadius: 0, yAxisID: "y",
                })),
            ],
        },
        options: options({
            x: timeAxis(chosen), y: axis({ title: `traffic, ${unit.name}` }),
            rate: axis({ title: "L2 hit rate, %", min: 0, max: 100, position: "right", grid: false }),
        }, true),
    }));
    return figure("Hit rate, fabric and DRAM", "A wave that begins shows as a dip of the hit rate and a peak of DRAM.", picture,
        () => ({
            head: ["time, us", "L2 hit rate, %", ...kinds.map(([label]) => `${label}, sectors`)],
            rows: microseconds.map((at, i) => [at.toFixed(1), traffic.l2_hit_rate_pct[i] ?? "-", ...kinds.map(([, v]) => v[i])]),
        }));
}

// Vertical lines where an LRU of one partition, or of all, ends. The bins are categories, so their place is worked out
// between two of them.
function capacityLines(lower: number[], capacities: [string, number][]) {
    return {
        id: "capacity",
        // eslint-disable-next-line @typescript-eslint/no-explicit-any
        afterDatasetsDraw(it: any) {
            const { ctx, chartArea, scales } = it;
            const width = scales.x.getPixelForValue(1) - scales.x.getPixelForValue(0);
            ctx.save();
            ctx.strokeStyle = ctx.fillStyle = ink();
            ctx.setLineDash([5, 4]);
            ctx.font = "12px sans-serif";
            capacities.forEach(([label, capacity], n) => {
                const bin = lower.filter((edge) => edge <= capacity).length - 1;
                const within = bin + 1 < lower.length ? (capacity - lower[bin]) / (lower[bin + 1] - lower[bin]) : 0;
                const x = scales.x.getPixelForValue(bin) + (within - 0.5) * width;
                ctx.beginPath();
                ctx.moveTo(x, chartArea.top);
                ctx.lineTo(x, chartArea.bottom);
                ctx.stroke();
                const last = n === capacities.length - 1;
                ctx.textAlign = last && chartArea.right - x > 120 ? "left" : "right";
                ctx.fillText(label, x + (ctx.textAlign === "left" ? 5 : -5), chartArea.top + 12 + 16 * n);
            });
            ctx.restore();
        },
    };
}

// Whole powers of two alone: the bins are quarters of an octave from one on.
function tickName(names: string[]) {
    return function (this: { chart: { width: number } }, _: unknown, i: number): string | null {
        if (i === names.length - 1) return names[i];
        const every = this.chart.width < 420 ? 16 : 8;
        return (i - 1) % every === 0 && i < names.length - every ? names[i] : null;
    };
}

function reuseChart({ prediction }: Chosen, details: Details): HTMLElement {
    const { lower_bytes: lower, tensors } = details.reuse!;
    const machine = prediction.machine!;
    const total = tensors.reduce((sum, t) => sum + t.first_uses + t.requests.reduce((a, b) => a + b, 0), 0);
    const capacities: [string, number][] = [[`one partition: ${binaryBytes(machine.partition_bytes)}`, machine.partition_bytes]];
    if (machine.partitions > 1) {
        const all = machine.partition_bytes * machine.partitions;
        capacities.push([`${machine.partitions === 2 ? "both" : `all ${machine.partitions}`}: ${binaryBytes(all)}`, all]);
    }
    const names = [...lower.map((edge, i) => (i ? binaryBytes(edge) : "less")), "first use"];
    const picture = chart("Reuse distances by tensor, percent of requests, with the capacity of one and of all partitions", 320,
        () => ({
            type: "bar",
            data: {
                labels: names,
                datasets: tensors.map((t, i) => ({
                    label: t.tensor, backgroundColor: series(i), barPercentage: 1, categoryPercentage: 0.94,
                    data: [...t.requests, t.first_uses].map((n) => (100 * n) / total),
                })),
            },
            options: options({
                x: axis({ title: "distinct bytes since the line was asked for last", stacked: true, grid: false,
                    // Whole powers of four: the bins are quarters of an octave from a power of two on.
                    ticks: { autoSkip: false, callback: tickName(names) } }),
                y: axis({ title: "requests, %", stacked: true }),
            }, true),
            plugins: [capacityLines(lower, capacities)],
        }));
    return figure("Reuse distance",
        "Left of a line an LRU of that size hits, right of it misses. Copies in both partitions move the edge towards one partition.",
        picture, () => ({
            head: ["distance from", ...tensors.map((t) => `${t.tensor}, requests`)],
            rows: names.map((name, i) => [name, ...tensors.map((t) => (i < lower.length ? t.requests[i] : t.first_uses))]),
        }));
}

const maxOverMean = (loads: number[]) => {
    const sum = loads.reduce((a, b) => a + b, 0);
    return sum > 0 ? (Math.max(...loads) * loads.length) / sum : 1;
};

function slicesChart(details: Details): HTMLElement {
    const asked = details.slices.requested_sectors;
    const mean = asked.reduce((a, b) => a + b, 0) / Math.max(asked.length, 1);
    const unit = sectorsUnit(asked);
    const picture = chart(`Sectors that CTAs ask of each slice number, of all lines, ${unit.name}`, 260, () => ({
        type: "bar",
        data: {
            labels: asked.map((_, i) => String(i)),
            datasets: [
                { label: "asked for", data: inUnit(asked, unit), backgroundColor: series(0), order: 2 },
                { type: "line", label: "mean", data: asked.map(() => mean / unit.factor), borderColor: ink(), backgroundColor: "transparent",
                    borderDash: [5, 4], borderWidth: 1.5, pointRadius: 0, order: 1 },
            ],
        },
        options: options({ x: axis({ title: "slice number in a partition, with its share of DRAM", grid: false }),
            y: axis({ title: unit.name }) }, true),
    }));
    return figure("Load of the slices",
        `From the address hash, every line: max/mean ${maxOverMean(asked).toFixed(3)}. Merged requests count, too.`, picture,
        () => ({ head: ["slice", "sectors asked for"], rows: asked.map((n, i) => [i, n]) }));
}

function simulatedChart({ prediction }: Chosen, details: Details): HTMLElement | null {
    const lanes = details.slices.simulated;
    if (lanes.length === 0) return null;
    const partitions = prediction.machine!.partitions;
    const lookups = lanes.flatMap((lane) => lane.sectors);
    const fills = lanes.map((lane) => lane.dram_read_sectors);
    const unit = sectorsUnit(lookups);
    const sets = [...Array(partitions).keys()].map((p) => ({
        label: `looked up, partition ${p}`, backgroundColor: series(p), data: lanes.map((lane) => lane.sectors[p] / unit.factor),
    }));
    sets.push({ label: "read from DRAM", backgroundColor: kDram, data: inUnit(fills, unit) });
    const picture = chart(`Lookups and DRAM reads of the simulated slices, ${unit.name}`, 260, () => ({
        type: "bar", data: { labels: lanes.map((lane) => String(lane.slice)), datasets: sets },
        options: options({ x: axis({ title: "simulated slice and its DRAM channel", grid: false }),
            y: axis({ title: unit.name }) }, true),
    }));
    return figure("Simulated slices and channels",
        `Lookups max/mean ${maxOverMean(lookups).toFixed(3)}, DRAM reads max/mean ${maxOverMean(fills).toFixed(3)}.`, picture,
        () => ({
            head: ["slice", ...sets.map((s) => `${s.label}, sectors`)],
            rows: lanes.map((lane, i) => [lane.slice, ...lane.sectors, fills[i]]),
        }));
}

function missChart(misses: NonNullable<Details["misses"]>): HTMLElement {
    const kinds: [string, number, string, string][] = [
        ["compulsory", misses.compulsory, series(0), "each sector that is read, once"],
        ["capacity", misses.capacity, kDram, "from DRAM again: it had no room"],
        ["copy", misses.copy, kCopy, "from the other partition"],
        ["promotion", misses.promotion, kWrite, "fetched with others, read by nobody"]];
    const unit = bytesUnit([kinds.reduce((sum, [, sectors]) => sum + sectors * kSectorBytes, 0)]);
    const picture = chart(`Misses by class, ${unit.name}`, 150, () => ({
        type: "bar",
        data: { labels: [""], datasets: kinds.map(([label, sectors, colour]) => ({
            label, data: [(sectors * kSectorBytes) / unit.factor], backgroundColor: colour })) },
        options: options({ x: axis({ title: `brought in, ${unit.name}`, stacked: true }), y: axis({ title: "", stacked: true, grid: false }) },
            true, { indexAxis: "y", interaction: { mode: "nearest", intersect: true } }),
    }));
    return figure("Misses by class", kinds.map(([label, , , meaning]) => `${label}: ${meaning}`).join("; ") + ".", picture,
        () => ({ head: ["class", "sectors", "bytes"], rows: kinds.map(([label, n]) => [label, n, bytes(n * kSectorBytes)]) }));
}

function keyFigures({ result }: Chosen): HTMLElement {
    const m = result.metrics;
    const entries: [string, string][] = [["rank", String(result.rank)], ["time", time(result.time_us * 1000)]];
    const add = (label: string, id: string, format: (v: number) => string) => {
        if (id in m) entries.push([label, format(m[id])]);
    };
    add("L2 hit rate", "l2_hit_rate_pct", percent);
    add("merged", "merged_pct", percent);
    add("fabric", "fabric_pct", percent);
    add("L2 sectors", "l2_sectors", count);
    add("DRAM read", "dram_read_bytes", bytes);
    add("DRAM written", "dram_write_bytes", bytes);
    entries.push(["engine", result.engine], ["slices simulated", result.sample ?? "1"]);
    return h("dl", { class: "key" }, ...entries.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v))));
}

function figuresOf(chosen: Chosen): Node[] {
    const details = chosen.result.details;
    const memory = figure("Memory chart", "Bytes of the whole launch, under the names that Nsight Compute uses.",
        memoryChart(chosen.result), () => ({
            head: ["from", "to", "what", "counter (sectors x 32)", "bytes"],
            rows: chosen.result.flows.map((f) => [f.from, f.to, f.what, f.counter, f.bytes]),
        }), true);
    if (!details) {
        return [memory, h("p", { class: "note wide" },
            "This result has no details: predict with --details --json, or with --report, to see the schedule, traffic over time and reuse distances.")];
    }
    const nodes: (Node | null)[] = [];
    if (details.schedule) {
        const schedule = details.schedule;
        nodes.push(figure("Tile map", "Each tile by the time its CTA was launched: dark early, light late.", tileMap(chosen), () => ({
            head: ["launch id", "tile", "SM", "from, us", "to, us"],
            rows: schedule.tile.slice(0, 2000).map((tile, id) => [id, tile, schedule.sm[id],
                ((schedule.start[id] * schedule.tick_ns) / 1000).toFixed(2), ((schedule.end[id] * schedule.tick_ns) / 1000).toFixed(2)]),
        })));
    }
    nodes.push(answersChart(chosen, details.traffic), trafficChart(chosen, details.traffic));
    if (details.reuse) nodes.push(reuseChart(chosen, details));
    nodes.push(details.misses ? missChart(details.misses) : null, slicesChart(details), simulatedChart(chosen, details), memory);
    if (!details.reuse) {
        nodes.push(h("p", { class: "note wide" },
            "The tile engine moves whole boxes: reuse distances and what each partition holds need --engine line."));
    }
    return nodes.filter((node): node is Node => node !== null);
}

// Fills the panel with one order.
export function showOrder(panel: HTMLElement, chosen: Chosen): void {
    panel.replaceChildren(
        h("h2", {}, chosen.result.order), h("p", { class: "quiet" }, chosen.prediction.label),
        ...(chosen.result.cause ? [h("p", { class: "advice" }, chosen.result.cause)] : []),
        keyFigures(chosen), h("div", { class: "charts" }, ...figuresOf(chosen)));
    drawVisible();
}

export function firstOrder(predictions: Prediction[]): Chosen {
    const prediction = predictions[0];
    return { prediction, result: prediction.results.find((r) => r.rank === 1) ?? prediction.results[0] };
}
