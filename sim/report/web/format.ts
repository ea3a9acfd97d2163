// SPDX-License-Identifier: Apache-2.0
// Figures as people read them, in the words of the terminal's tables (sim/report/format.hpp).

function significant(value: number): string {
    const size = Math.abs(value);
    return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size < 0.005 ? 0 : 2);
}

function scaled(value: number, scales: [number, string][]): string {
    for (const [factor, unit] of scales) {
        if (Math.abs(value) >= 0.9995 * factor) return `${significant(value / factor)} ${unit}`.trim();
    }
    return `${significant(value)} ${scales[scales.length - 1][1]}`.trim();
}

// The scale of an axis: what to divide by, and what it is called then.
export interface Unit {
    factor: number;
    name: string;
}
function unitOf(values: (number | null)[], scales: [number, string][]): Unit {
    const most = Math.max(0, ...values.map((v) => Math.abs(v ?? 0)));
    const [factor, name] = scales.find(([f]) => most >= f) ?? scales[scales.length - 1];
    return { factor, name };
}
export const bytesUnit = (values: number[]) => unitOf(values, [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);
export const rateUnit = (bytesPerNs: number[]) => unitOf(bytesPerNs, [[1e3, "TB/s"], [1, "GB/s"], [1e-3, "MB/s"]]);
export const sectorsUnit = (values: number[]) =>
    unitOf(values, [[1e6, "millions of sectors"], [1e3, "thousands of sectors"], [1, "sectors"]]);

export const bytes = (value: number) =>
    scaled(value, [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);
export const binaryBytes = (value: number) =>
    scaled(value, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]])
        .replace(/\.0+ | ?\.(\d*?)0+ /, (_, digits) => (digits ? `.${digits} ` : " "));
export const count = (value: number) => scaled(value, [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]);
export const time = (ns: number) => scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]]);
export const percent = (value: number) => `${value.toFixed(1)} %`;
