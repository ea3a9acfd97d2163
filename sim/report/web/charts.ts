// SPDX-License-Identifier: Apache-2.0
// Chart.js (Debian's libjs-chart.js, a script of its own before this one) in the page's colours, and drawn again when
// they change.
import { ink, line, quiet } from "./palette";
import { h } from "./dom";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Any = any;
declare const Chart: Any;

interface Drawn {
    canvas: HTMLCanvasElement;
    configure: () => Any;
    chart: Any;
}
const drawn: Drawn[] = [];

// A chart that is drawn when it is first looked at. `label` says to a screen reader what it shows.
export function chart(label: string, height: number, configure: () => Any): HTMLElement {
    const canvas = h("canvas", { role: "img", "aria-label": label });
    drawn.push({ canvas, configure, chart: null });
    return h("div", { class: "chart", style: `height:${height}px` }, canvas);
}

// Draws the charts that are visible and not drawn yet; forgets those that are gone.
export function drawVisible(): void {
    for (let i = drawn.length - 1; i >= 0; --i) {
        const it = drawn[i];
        if (!it.canvas.isConnected) {
            it.chart?.destroy();
            drawn.splice(i, 1);
        } else if (!it.chart && it.canvas.offsetParent !== null) {
            it.chart = new Chart(it.canvas, it.configure());
        }
    }
}

export function redraw(): void {
    for (const it of drawn) {
        it.chart?.destroy();
        it.chart = null;
    }
    drawVisible();
}

interface Axis {
    title: string;
    min?: number;
    max?: number;
    stacked?: boolean;
    position?: string;
    type?: string;
    grid?: boolean;
    ticks?: Any;
}

export function axis(options: Axis): Any {
    const { title, grid, ticks, ...rest } = options; // what is undefined must not be there: it would count
    return {
        ...rest,
        beginAtZero: true,
        title: { display: title !== "", text: title, color: ink() },
        grid: { color: line(), drawOnChartArea: grid ?? true, borderColor: quiet() },
        ticks: { color: ink(), maxRotation: 0, autoSkipPadding: 12, ...ticks },
    };
}

// What all charts have in common: no animation, a legend below when there is more than one series.
export function options(scales: Any, legend: boolean, more: Any = {}): Any {
    return {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        interaction: { mode: "index", intersect: false },
        scales,
        ...more,
        plugins: {
            legend: { display: legend, position: "bottom", labels: { color: ink(), boxWidth: 14, padding: 12 } },
            ...more.plugins,
        },
    };
}
