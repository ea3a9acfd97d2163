// SPDX-License-Identifier: Apache-2.0
// Colours that people with any colour vision tell apart: those of Okabe and Ito ("Color Universal Design", 2008), and
// cividis for what is ordered (Nunez, Anderton, Renslow, PLoS ONE 13(7), 2018).

const root = () => getComputedStyle(document.documentElement);
export const ink = () => root().getPropertyValue("--ink").trim();
export const quiet = () => root().getPropertyValue("--quiet").trim();
export const line = () => root().getPropertyValue("--line").trim();
export const surface = () => root().getPropertyValue("--surface").trim();
export const sunken = () => root().getPropertyValue("--sunken").trim();

// Where a sector came from: the same everywhere on the page.
export const kMerged = "#009E73";
export const kHit = "#56B4E9";
export const kCopy = "#E69F00";
export const kDram = "#D55E00";
export const kWrite = "#7A7A7A";

// Partitions and tensors: none of the colours above, so that a partition is not taken for a kind of traffic.
const kSeries = ["#0072B2", "#CC79A7", "#8C8C8C", "#F0E442", "#4B3B8F", "#A6761D", "#1B9E9E", "#B2182B"];
export const series = (i: number) => kSeries[i % kSeries.length];

// Black or white, whichever reads better on a colour "#rrggbb" (its relative luminance as WCAG 2 has it).
export function onColour(hex: string): string {
    const linear = [1, 3, 5].map((k) => (parseInt(hex.slice(k, k + 2), 16) / 255) ** 2.2);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.18 ? "#000000" : "#ffffff";
}

const kCividis = ["#00224E", "#123570", "#3B496C", "#575D6D", "#707173", "#8A8678", "#A59C74", "#C3B369", "#E1CC55",
    "#FEE838"];

export function ramp(share: number): string {
    const at = Math.min(Math.max(share, 0), 1) * (kCividis.length - 1);
    const i = Math.min(Math.floor(at), kCividis.length - 2);
    const part = (hex: string, k: number) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
    const mixed = [0, 1, 2].map((k) =>
        Math.round(part(kCividis[i], k) + (at - i) * (part(kCividis[i + 1], k) - part(kCividis[i], k))));
    return `rgb(${mixed.join(",")})`;
}
