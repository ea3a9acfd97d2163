// SPDX-License-Identifier: Apache-2.0
// The way of the data from the SMs to DRAM, with the bytes of the whole launch on the arrows and Nsight's names below
// them: the layout of Nsight Compute's memory chart.
import { Flow, Result } from "./data";
import { h, svg } from "./dom";
import { bytes } from "./format";

interface Box {
    id: string;
    title: string;
    x: number;
    y: number;
}
const kWidth = 164;
const kHeight = 104;
const kBoxes: Box[] = [
    { id: "sm", title: "SMs", x: 0, y: 80 },
    { id: "coalescer", title: "Coalescer (LRC)", x: 364, y: 80 },
    { id: "own", title: "Own partition", x: 728, y: 80 },
    { id: "fabric", title: "Fabric", x: 728, y: 310 },
    { id: "home", title: "Home partition", x: 1150, y: 310 },
    { id: "dram", title: "DRAM", x: 1150, y: 80 },
];

// "lts__t_sectors_srcunit_tex.sum" in lines of at most `width` characters, broken after "_" and around "-".
export function broken(name: string, width: number): string[] {
    const lines = [""];
    for (const piece of name.split(/(?<=_)(?!_)|(?<= )/)) {
        const i = lines.length - 1;
        if (lines[i].length > 0 && lines[i].length + piece.trimEnd().length > width) lines.push(piece);
        else lines[i] += piece;
    }
    return lines.map((text) => text.trimEnd());
}

function text(x: number, y: number, words: string, kind: string, anchor = "middle"): SVGElement {
    return svg("text", { x, y, class: kind, "text-anchor": anchor }, words);
}

// An arrow's bytes and below them its counter.
function label(x: number, y: number, flow: Flow, anchor: string, width: number): SVGElement[] {
    return [text(x, y, `${bytes(flow.bytes)} ${flow.what}`, "bytes", anchor),
        ...broken(flow.counter, width).map((words, i) => text(x, y + 14 + 12 * i, words, "counter", anchor))];
}

function arrow(x1: number, y1: number, x2: number, y2: number): SVGElement {
    return svg("line", { x1, y1, x2, y2, "marker-end": "url(#head)", class: "arrow" });
}

// Between two boxes side by side: what goes right above, what goes left below.
function across(flow: Flow | undefined, from: Box, to: Box): SVGElement[] {
    if (!flow) return [];
    const right = to.x > from.x;
    const [left, other] = right ? [from, to] : [to, from];
    const y = from.y + (right ? 34 : kHeight - 34);
    const [start, end] = [left.x + kWidth + 4, other.x - 4];
    const letters = Math.floor((end - start - 10) / 7);
    const lines = broken(flow.counter, letters).length;
    return [arrow(right ? start : end, y, right ? end : start, y),
        ...label((start + end) / 2, right ? y - 10 - 12 * lines : y + 20, flow, "middle", letters)];
}

// Between two boxes above each other; `anchor` says on which side of the arrow its words stand.
function between(flow: Flow | undefined, from: Box, to: Box, x: number, anchor: string): SVGElement[] {
    if (!flow) return [];
    const down = to.y > from.y;
    return [arrow(x, down ? from.y + kHeight + 4 : from.y - 4, x, down ? to.y - 4 : to.y + kHeight + 4),
        ...label(x + (anchor === "end" ? -10 : 10), 234, flow, anchor, 26)];
}

function box(it: Box, inside: Flow | undefined): SVGElement[] {
    const lines = inside ? broken(inside.counter, 23) : [];
    const middle = it.x + kWidth / 2;
    return [svg("rect", { x: it.x, y: it.y, width: kWidth, height: kHeight, rx: 6, class: "box" }),
        text(middle, it.y + (inside ? 21 : kHeight / 2 + 5), it.title, "name"),
        ...(inside ? [text(middle, it.y + 40, `${bytes(inside.bytes)} ${inside.what}`, "bytes"),
            ...lines.map((words, i) => text(middle, it.y + 55 + 12 * i, words, "counter"))] : [])];
}

export function memoryChart(result: Result): HTMLElement {
    const flow = (from: string, to: string) => result.flows.find((f) => f.from === from && f.to === to);
    const [sm, coalescer, own, fabric, home, dram] = kBoxes;
    const beside: [Box, Box][] = [[sm, coalescer], [coalescer, sm], [coalescer, own], [own, coalescer], [dram, own]];
    const parts = [...kBoxes.flatMap((b) => box(b, flow(b.id, b.id))),
        ...beside.flatMap(([from, to]) => across(flow(from.id, to.id), from, to)),
        ...between(flow("own", "fabric"), own, fabric, own.x + kWidth / 2, "end"),
        ...between(flow("dram", "home"), dram, home, dram.x + 46, "end"),
        ...between(flow("home", "dram"), home, dram, dram.x + kWidth - 46, "start"),
        arrow(fabric.x + kWidth + 4, fabric.y + kHeight / 2, home.x - 4, home.y + kHeight / 2)];
    const picture = svg("svg", { viewBox: "-4 16 1500 404", role: "img", class: "memory",
        "aria-label": "Memory chart; its figures are in the table behind it" },
        svg("defs", {}, svg("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8,
            orient: "auto-start-reverse" }, svg("path", { d: "M0 0L8 4L0 8z", class: "head" }))), ...parts);
    return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Memory chart" }, picture);
}
