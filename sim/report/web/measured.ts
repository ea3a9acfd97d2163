// SPDX-License-Identifier: Apache-2.0
// Predicted against measured, a counter at a time: what is on the diagonal is right.
import { axis, chart, drawVisible, options } from "./charts";
import { PageData, Validation } from "./data";
import { figure, h, select } from "./dom";
import { count } from "./format";
import { quiet, series } from "./palette";

const kPreferred = "lts__d_sectors_fill_device.sum";

// Of a logarithmic axis the ones and threes alone.
function tick(value: number, logarithmic: boolean): string | null {
    const digit = Number(value.toExponential()[0]);
    return !logarithmic || ((digit === 1 || digit === 3) && value === digit * 10 ** Math.floor(Math.log10(value)))
        ? count(value).replace(/\.0+(?= |$)/, "") : null;
}

function scatter(validation: Validation, id: string, unit: string): HTMLElement {
    const points = validation.points[id];
    // Counters span decades; rates do not, and zeros have no logarithm.
    const logarithmic = unit !== "%" && points.length > 0 && points.every(([m, p]) => m > 0 && p > 0);
    const least = Math.min(...points.map(([m, p]) => Math.min(m, p)));
    const most = Math.max(...points.map(([m, p]) => Math.max(m, p)));
    const from = logarithmic ? least * 0.9 : 0;
    const type = logarithmic ? "logarithmic" : "linear";
    const bounds = { min: from, max: most * 1.05, type, ticks: { callback: (value: number) => tick(value, logarithmic) } };
    const picture = chart(`${id}: predicted against measured, ${points.length} rows, ${unit}`, 460, () => ({
        type: "scatter",
        data: {
            datasets: [
                { label: "a recorded row", data: points.map(([x, y]) => ({ x, y })), backgroundColor: series(0) + "B0",
                    borderColor: series(0), pointRadius: 4 },
                { type: "line", label: "predicted = measured", data: [{ x: from, y: from }, { x: most * 1.05, y: most * 1.05 }],
                    borderColor: quiet(), backgroundColor: "transparent", borderDash: [5, 4], borderWidth: 1.5, pointRadius: 0 },
            ],
        },
        options: options({ x: axis({ title: `measured, ${unit}`, ...bounds }), y: axis({ title: `predicted, ${unit}`, ...bounds }) },
            true, {
                interaction: { mode: "nearest", intersect: true },
                plugins: { tooltip: { callbacks: { label: (item: { datasetIndex: number; dataIndex: number }) => {
                    if (item.datasetIndex !== 0) return "predicted = measured";
                    const [m, p, row] = points[item.dataIndex];
                    return [validation.labels[row], `predicted ${p}, measured ${m}`];
                } } } },
            }),
    }));
    return figure(id, logarithmic ? "Both axes are logarithmic." : "Each point is a row.", picture, () => ({
        head: ["row", `predicted, ${unit}`, `measured, ${unit}`],
        rows: points.map(([m, p, row]) => [validation.labels[row], p, m]),
    }), true);
}

export function fillMeasured(container: HTMLElement, validation: Validation, metrics: PageData["metrics"]): void {
    const ids = Object.keys(validation.points).filter((id) => validation.points[id].length > 0);
    if (ids.length === 0) {
        container.append(h("p", { class: "note" }, "No counter was both predicted and measured."));
        return;
    }
    const holder = h("div", { class: "wide" });
    const show = (i: number) => {
        holder.replaceChildren(scatter(validation, ids[i], metrics[ids[i]]?.unit ?? ""));
        drawVisible();
    };
    const choice = select("Counter", [{ label: "", options: ids }], show);
    const first = Math.max(ids.indexOf(kPreferred), 0);
    choice.set(first);
    container.append(choice.element, holder);
    show(first);
}
