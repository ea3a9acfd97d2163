// SPDX-License-Identifier: Apache-2.0
// One order in the player: its tiles, the panels that the partitions hold, the SMs, and the reads over time.
import { binLength, Chosen, gridOf, Panels, Schedule, Traffic } from "./data";
import { ink, kCopy, kDram, kHit, kMerged, line, onColour, quiet, series, sunken } from "./palette";
import { time } from "./format";

const kTitle = 24;
const kStrip = 9; // of one partition's panels
const kGap = 8;
const kTraffic = 84;
const kSmRow = 15;
const kMostGrid = 460;

const kDigits = new Map([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].map((c, i) => [c, i]));

interface Answers {
    merged: number; // percent of what the SMs asked for, as all below
    hit: number;
    copy: number;
    dram: number;
}

export interface Summary {
    order: string;
    tiles: number;
    done: number;
    running: number;
    answers: Answers | null;
}

// Index of the first element that is greater than `value`.
function above(sorted: number[], value: number): number {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle] <= value) low = middle + 1;
        else high = middle;
    }
    return low;
}

export class Pane {
    readonly end: number; // ns
    readonly partitions: number;
    private readonly schedule: Schedule;
    private readonly traffic: Traffic;
    private readonly grid: { rows: number; columns: number };
    private readonly launchOf: Int32Array; // by tile
    private readonly starts: number[]; // ns, sorted
    private readonly ends: number[];
    private readonly smsOfGpc: number[][];
    private cursor = -1; // tile
    private place = { x: 0, y: 0, cell: 1, width: 0 };

    constructor(private readonly chosen: Chosen) {
        const details = chosen.result.details!;
        this.schedule = details.schedule!;
        this.traffic = details.traffic;
        this.grid = gridOf(chosen.prediction);
        this.launchOf = new Int32Array(this.grid.rows * this.grid.columns).fill(-1);
        const ran: number[] = [];
        this.schedule.tile.forEach((tile, id) => {
            if (tile < 0) return;
            this.launchOf[tile] = id;
            ran.push(id);
        });
        const sorted = (ticks: number[]) => ran.map((id) => ticks[id] * this.schedule.tick_ns).sort((a, b) => a - b);
        this.starts = sorted(this.schedule.start);
        this.ends = sorted(this.schedule.end);
        this.end = Math.max(chosen.result.time_us * 1000, this.ends[this.ends.length - 1] ?? 1);
        this.partitions = chosen.prediction.machine!.partitions;
        const gpcs = chosen.prediction.machine!.gpc_of_sm;
        this.smsOfGpc = [...new Set(gpcs)].sort((a, b) => a - b).map((gpc) =>
            gpcs.flatMap((g, sm) => (g === gpc ? [sm] : [])));
    }

    summary(now: number): Summary {
        const started = above(this.starts, now);
        const done = above(this.ends, now);
        const bin = this.bin(now);
        const t = this.traffic;
        const all = bin < 0 ? 0 : t.merged[bin] + t.hit[bin] + t.copy[bin] + t.dram_read[bin];
        const share = (values: number[]) => (100 * values[bin]) / all;
        return {
            order: this.chosen.result.order, tiles: this.starts.length, done, running: started - done,
            answers: all > 0 ? { merged: share(t.merged), hit: share(t.hit), copy: share(t.copy), dram: share(t.dram_read) } : null,
        };
    }

    // The nearest time after (or before) `now` at which a CTA begins; `now` when there is none.
    neighbouringStart(now: number, forwards: boolean): number {
        const i = above(this.starts, forwards ? now : now - 1e-6);
        if (forwards) return this.starts[i] ?? this.end;
        let before = i - 1;
        while (before >= 0 && this.starts[before] >= now) --before;
        return this.starts[before] ?? 0;
    }

    moveCursor(down: number, right: number): void {
        const { rows, columns } = this.grid;
        if (this.cursor < 0) this.cursor = 0;
        else {
            const row = Math.min(Math.max(Math.floor(this.cursor / columns) + down, 0), rows - 1);
            const column = Math.min(Math.max((this.cursor % columns) + right, 0), columns - 1);
            this.cursor = row * columns + column;
        }
    }

    point(x: number, y: number): void {
        const column = Math.floor((x - this.place.x) / this.place.cell);
        const row = Math.floor((y - this.place.y) / this.place.cell);
        if (row < 0 || column < 0 || row >= this.grid.rows || column >= this.grid.columns) return;
        this.cursor = row * this.grid.columns + column;
    }

    // The chosen tile in words; "" when none is.
    tileWords(now: number): string {
        if (this.cursor < 0) return "";
        const { columns } = this.grid;
        const name = `${this.chosen.result.order}: tile (${Math.floor(this.cursor / columns)}, ${this.cursor % columns})`;
        const id = this.launchOf[this.cursor];
        if (id < 0) return `${name} is computed by no CTA`;
        const machine = this.chosen.prediction.machine!;
        const sm = this.schedule.sm[id];
        const [start, end] = [this.schedule.start[id], this.schedule.end[id]].map((t) => t * this.schedule.tick_ns);
        const state = now < start ? "waits" : now < end ? "runs" : "is done";
        return `${name}, launch id ${id}, ${state}: SM ${sm} of GPC ${machine.gpc_of_sm[sm]}, partition ${machine.partition_of_sm[sm]}, from ${time(start)} to ${time(end)}`;
    }

    height(width: number): number {
        const { cell, top } = this.layout(width);
        return kTitle + top + cell * this.grid.rows + kGap + kSmRow * this.smsOfGpc.length + kGap + kTraffic + 34;
    }

    draw(context: CanvasRenderingContext2D, x: number, y: number, width: number, now: number): void {
        const { left, top, cell } = this.layout(width);
        context.font = "600 14px system-ui, sans-serif";
        context.textAlign = "left";
        context.textBaseline = "middle";
        context.fillStyle = ink();
        context.fillText(this.chosen.result.order.slice(0, Math.floor(width / 9)), x, y + 10);
        this.place = { x: x + left, y: y + kTitle + top, cell, width };
        this.drawTiles(context, now);
        this.drawPanels(context, now);
        const sms = this.place.y + cell * this.grid.rows + kGap;
        this.drawSms(context, x, sms, width, now);
        this.drawTraffic(context, x, sms + kSmRow * this.smsOfGpc.length + kGap, width, now);
    }

    private bin(now: number): number {
        if (this.traffic.hit.length === 0) return -1;
        return Math.min(Math.floor(now / this.traffic.bin_ns), this.traffic.hit.length - 1);
    }

    private panels(by: string): Panels[] {
        return this.chosen.result.details!.residency?.panels.filter((p) => p.by === by) ?? [];
    }

    private layout(width: number): { left: number; top: number; cell: number } {
        const strips = (by: string) => this.panels(by).length * this.partitions * kStrip;
        const left = strips("row") + 20;
        const top = strips("column") + 18;
        const cell = Math.max(1, Math.min((width - left) / this.grid.columns, kMostGrid / this.grid.rows, 44));
        return { left, top, cell };
    }

    private colourOf(sm: number): string {
        return series(this.chosen.prediction.machine!.partition_of_sm[sm]);
    }

    private drawTiles(context: CanvasRenderingContext2D, now: number): void {
        const { x, y, cell } = this.place;
        const { rows, columns } = this.grid;
        const tick = this.schedule.tick_ns;
        const seam = cell > 5 ? 1 : 0;
        context.fillStyle = sunken();
        context.fillRect(x, y, cell * columns, cell * rows);
        const label = cell >= 17;
        context.font = `${Math.min(11, cell * 0.5)}px system-ui, sans-serif`;
        context.textAlign = "center";
        for (let tile = 0; tile < this.launchOf.length; ++tile) {
            const id = this.launchOf[tile];
            if (id < 0 || this.schedule.start[id] * tick > now) continue;
            const running = this.schedule.end[id] * tick > now;
            const at = { x: x + (tile % columns) * cell, y: y + Math.floor(tile / columns) * cell };
            context.globalAlpha = running ? 1 : 0.28;
            context.fillStyle = this.colourOf(this.schedule.sm[id]);
            context.fillRect(at.x, at.y, cell - seam, cell - seam);
            context.globalAlpha = 1;
            if (label) {
                context.fillStyle = running ? onColour(this.colourOf(this.schedule.sm[id])) : ink();
                context.fillText(String(this.schedule.sm[id]), at.x + cell / 2, at.y + cell / 2);
            }
        }
        if (this.cursor >= 0) {
            context.strokeStyle = ink();
            context.lineWidth = 2;
            context.strokeRect(x + (this.cursor % columns) * cell - 1, y + Math.floor(this.cursor / columns) * cell - 1, cell + 1, cell + 1);
        }
    }

    // How much of each panel lies in each partition: of A beside the rows that read it, of B above the columns.
    private drawPanels(context: CanvasRenderingContext2D, now: number): void {
        const residency = this.chosen.result.details!.residency;
        const bin = this.bin(now);
        if (!residency || bin < 0) return;
        const held = residency.held[bin];
        const all = held.length / this.partitions;
        const { x, y, cell } = this.place;
        for (const by of ["row", "column"]) {
            this.panels(by).forEach((panels, n) => {
                const length = panels.tiles_per_panel * cell;
                for (let p = 0; p < this.partitions; ++p) {
                    const away = 3 + (n * this.partitions + p + 1) * kStrip;
                    for (let i = 0; i < panels.panels; ++i) {
                        // Where there are outer axes, each of their grids reads the same panels.
                        const share = kDigits.get(held[p * all + panels.first + i])! / residency.whole;
                        const size = Math.min(length, (panels.tiles - i * panels.tiles_per_panel) * cell);
                        const rect: [number, number, number, number] = by === "row"
                            ? [x - away, y + i * length, kStrip - 1, size] : [x + i * length, y - away, size, kStrip - 1];
                        context.fillStyle = sunken();
                        context.fillRect(...rect);
                        context.globalAlpha = share;
                        context.fillStyle = series(p);
                        context.fillRect(...rect);
                        context.globalAlpha = 1;
                    }
                }
            });
        }
        this.nameOperands(context);
    }

    private nameOperands(context: CanvasRenderingContext2D): void {
        const { x, y, cell } = this.place;
        const names = (by: string) => this.panels(by).map((p) => p.tensor).join(", ");
        const parts = this.partitions > 1 ? `partitions 0 to ${this.partitions - 1} outwards` : "one partition";
        context.fillStyle = quiet();
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "left";
        if (names("column"))
            context.fillText(`${names("column")} held (${parts})`, x, y - this.panels("column").length * this.partitions * kStrip - 11);
        if (names("row")) {
            context.save();
            context.translate(x - this.panels("row").length * this.partitions * kStrip - 11, y + cell * this.grid.rows);
            context.rotate(-Math.PI / 2);
            context.fillText(`${names("row")} held`, 0, 0);
            context.restore();
        }
    }

    // Each SM with the tile it computes: a row for each GPC.
    private drawSms(context: CanvasRenderingContext2D, x: number, y: number, width: number, now: number): void {
        const tick = this.schedule.tick_ns;
        const running = new Map<number, number>(); // tile, by SM
        for (let id = 0; id < this.schedule.tile.length; ++id) {
            if (this.schedule.tile[id] >= 0 && this.schedule.start[id] * tick <= now && this.schedule.end[id] * tick > now)
                running.set(this.schedule.sm[id], this.schedule.tile[id]);
        }
        const widest = Math.max(...this.smsOfGpc.map((sms) => sms.length));
        const cell = Math.min((width - 44) / widest, 40);
        context.font = "9px system-ui, sans-serif";
        this.smsOfGpc.forEach((sms, gpc) => {
            const top = y + gpc * kSmRow;
            context.textAlign = "left";
            context.fillStyle = quiet();
            context.fillText(`GPC ${gpc}`, x, top + kSmRow / 2);
            context.textAlign = "center";
            sms.forEach((sm, i) => {
                const tile = running.get(sm);
                context.fillStyle = tile === undefined ? sunken() : this.colourOf(sm);
                context.fillRect(x + 44 + i * cell, top, cell - 1, kSmRow - 1);
                if (tile === undefined || cell < 30) return; // "127,127" in 9 px
                context.fillStyle = onColour(this.colourOf(sm));
                context.fillText(`${Math.floor(tile / this.grid.columns)},${tile % this.grid.columns}`,
                    x + 44 + (i + 0.5) * cell, top + kSmRow / 2);
            });
        });
    }

    // What answered the reads: bars up to now, outlines of what is to come.
    private drawTraffic(context: CanvasRenderingContext2D, x: number, y: number, width: number, now: number): void {
        const t = this.traffic;
        const rate = (values: number[], i: number) => values[i] / Math.max(binLength(this.chosen.result, t, i), 1);
        const kinds: [number[], string][] = [[t.merged, kMerged], [t.hit, kHit], [t.copy, kCopy], [t.dram_read, kDram]];
        const total = t.hit.map((_, i) => kinds.reduce((sum, [values]) => sum + rate(values, i), 0));
        const most = Math.max(...total, 1e-9);
        const bin = (width * t.bin_ns) / this.end;
        total.forEach((_, i) => {
            let bottom = y + kTraffic;
            context.globalAlpha = i * t.bin_ns <= now ? 1 : 0.22;
            for (const [values, colour] of kinds) {
                const height = (kTraffic * rate(values, i)) / most;
                context.fillStyle = colour;
                context.fillRect(x + i * bin, bottom - height, Math.max(Math.min(bin, width - i * bin), 0) - (bin > 3 ? 0.5 : 0), height);
                bottom -= height;
            }
        });
        context.globalAlpha = 1;
        context.strokeStyle = line();
        context.lineWidth = 1;
        context.strokeRect(x + 0.5, y + 0.5, width - 1, kTraffic);
        const at = x + (width * Math.min(now, this.end)) / this.end;
        context.strokeStyle = ink();
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(at, y);
        context.lineTo(at, y + kTraffic);
        context.stroke();
        context.fillStyle = quiet();
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "left";
        context.fillText("0", x, y + kTraffic + 12);
        context.fillText(`reads answered, peak ${((most * 32) / 1000).toFixed(1)} TB/s`, x + 20, y + kTraffic + 12);
        context.textAlign = "right";
        context.fillText(time(this.end), x + width, y + kTraffic + 12);
    }
}
