// SPDX-License-Identifier: Apache-2.0
// What C++ has put into the page (sim/report/html_data.hpp). It has been checked there.

export interface Schedule {
    tick_ns: number;
    tile: number[]; // by launch id; -1: none
    sm: number[];
    start: number[]; // ticks
    end: number[];
}

export interface Traffic {
    bin_ns: number;
    l2_hit_rate_pct: (number | null)[];
    merged: number[]; // sectors per bin, as all below
    hit: number[];
    copy: number[];
    dram_read: number[];
    fabric: number[];
    write: number[];
    dram_write: number[];
}

export interface Panels {
    tensor: string;
    by: string; // "row" or "column" of tiles
    tiles: number;
    tiles_per_panel: number;
    first: number;
    panels: number;
}

export interface Details {
    schedule?: Schedule;
    traffic: Traffic;
    misses?: { compulsory: number; capacity: number; copy: number; promotion: number };
    slices: {
        requested_sectors: number[];
        simulated: { slice: number; sectors: number[]; dram_read_sectors: number }[];
    };
    reuse?: {
        lower_bytes: number[];
        tensors: { tensor: string; first_uses: number; requests: number[] }[];
    };
    residency?: { whole: number; panels: Panels[]; held: string[] };
}

export interface Flow {
    from: string;
    to: string;
    what: string;
    counter: string;
    bytes: number;
}

export interface Result {
    order: string;
    mode: string;
    engine: string;
    sample?: string;
    rank: number;
    time_us: number;
    counters: Record<string, number>;
    metrics: Record<string, number>;
    cause?: string;
    flows: Flow[];
    details?: Details;
}

export interface Prediction {
    label: string;
    kernel: { name: string; grid?: number[]; axes?: string[] };
    gpu: string;
    machine?: {
        gpc_of_sm: number[];
        partition_of_sm: number[];
        partitions: number;
        partition_bytes: number;
    };
    results: Result[];
}

export interface Validation {
    label: string;
    labels: string[];
    summary: Record<string, Record<string, number>>;
    points: Record<string, [number, number, number][]>; // measured, predicted, label
}

export interface PageData {
    predictions: Prediction[];
    validations: Validation[];
    metrics: Record<string, { unit: string; meaning: string }>;
}

export const kSectorBytes = 32;

export function pageData(): PageData {
    return JSON.parse(document.getElementById("data")!.textContent!) as PageData;
}

// One order of one of the predictions.
export interface Chosen {
    prediction: Prediction;
    result: Result;
}

export function byRank(prediction: Prediction): Result[] {
    return [...prediction.results].sort((a, b) => a.rank - b.rank);
}

// Rows and columns of the tile grid; outer axes stand below each other.
export function gridOf(prediction: Prediction): { rows: number; columns: number } {
    const grid = prediction.kernel.grid ?? [1, 1];
    const columns = grid[grid.length - 1];
    return { rows: grid.reduce((product, n) => product * n, 1) / columns, columns };
}

// The length of bin i in ns: the last one ends with the run.
export function binLength(result: Result, traffic: Traffic, i: number): number {
    const left = result.time_us * 1000 - i * traffic.bin_ns;
    return left > 0 && left < traffic.bin_ns ? left : traffic.bin_ns;
}
