// SPDX-License-Identifier: Apache-2.0
// The tiles of the output, coloured by when they were launched: as SVG, a path for each of a few dozen colours, so that
// a grid of any size is light.
import { Chosen, gridOf } from "./data";
import { h, svg } from "./dom";
import { ramp } from "./palette";
import { time } from "./format";

const kShades = 48;

function legend(end: string): HTMLElement {
    const stops = Array.from({ length: 11 }, (_, i) => ramp(i / 10)).join(",");
    return h("div", { class: "ramp" }, "launched at 0", h("span", { style: `background:linear-gradient(90deg,${stops})` }),
        end);
}

export function tileMap({ prediction, result }: Chosen): HTMLElement {
    const { rows, columns } = gridOf(prediction);
    const schedule = result.details!.schedule!;
    const last = schedule.start.reduce((a, b) => Math.max(a, b), 1);
    const paths: string[] = Array(kShades).fill("");
    schedule.tile.forEach((tile, id) => {
        if (tile < 0) return;
        const shade = Math.min(kShades - 1, Math.floor((schedule.start[id] / last) * kShades));
        paths[shade] += `M${tile % columns} ${Math.floor(tile / columns)}h1v1h-1z`;
    });
    const axes = prediction.kernel.axes ?? ["row", "column"];
    const picture = svg("svg", {
        viewBox: `0 0 ${columns} ${rows}`, role: "img", preserveAspectRatio: "xMinYMid meet", "shape-rendering": "crispEdges",
        "aria-label": `${rows} by ${columns} tiles coloured by launch time; early is dark, late is light`,
    }, ...paths.map((d, i) => svg("path", { d, fill: ramp(i / (kShades - 1)) })));
    return h("div", { class: "tilemap" },
        h("p", { class: "axis" }, `tile columns (${axes[axes.length - 1]}), 0 to ${columns - 1} →`),
        h("p", { class: "axis down" }, `tile rows (${axes[axes.length - 2] ?? "row"}), 0 to ${rows - 1} →`),
        picture, legend(time(last * schedule.tick_ns)));
}
