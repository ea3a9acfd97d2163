// SPDX-License-Identifier: Apache-2.0
// The tile player: which SM computes which tile, what each partition holds of the operands, and how the SMs' reads are
// answered, as time goes by; two orders beside each other on one clock. The one canvas that this page draws itself.
import { Chosen } from "./data";
import { h, select } from "./dom";
import { percent, time } from "./format";
import { Pane } from "./player_pane";
import { kCopy, kDram, kHit, kMerged, series } from "./palette";

const kSpeeds: [string, number][] = [["in 120 s", 120], ["in 60 s", 60], ["in 30 s", 30], ["in 10 s", 10]];
const kTicks = 10000; // of the scrubber
const kMargin = 10; // around the panes, px
const kBetween = 28;

interface Clock {
    now: number; // ns since the launch
    end: number;
    playing: boolean;
    seconds: number; // that the longest run takes to play
}

function legend(partitions: number): HTMLElement {
    const entry = (colour: string, words: string) => h("li", {}, h("i", { style: `background:${colour}` }), words);
    return h("ul", { class: "legend", "aria-label": "Colours of the player" },
        ...[...Array(Math.min(partitions, 8)).keys()].map((p) =>
            entry(series(p), `tile on an SM of partition ${p} (solid: running, pale: done); panel it holds`)),
        entry(kMerged, "reads merged"), entry(kHit, "hit in the own partition"), entry(kCopy, "copied from the other partition"),
        entry(kDram, "from DRAM"));
}

// What a pane shows now, in words.
function words(pane: Pane, now: number): string {
    const { order, done, running, tiles, answers } = pane.summary(now);
    const shares = answers
        ? `; reads: ${percent(answers.merged)} merged, ${percent(answers.hit)} hit, ${percent(answers.copy)} copied, ${percent(answers.dram)} from DRAM`
        : "";
    return `${order}: ${done} of ${tiles} tiles done, ${running} running${shares}`;
}

export function makePlayer(panel: HTMLElement, all: Chosen[], groups: { label: string; options: string[] }[]): void {
    const playable = (chosen: Chosen) => chosen.result.details?.schedule !== undefined;
    if (!all.some(playable)) {
        panel.append(h("p", { class: "note" },
            "None of the results has a schedule: predict with --details --json, or with --report, to play one."));
        return;
    }
    const clock: Clock = { now: 0, end: 1, playing: false, seconds: 30 };
    const canvas = h("canvas", { tabindex: 0, role: "application", "aria-describedby": "spoken", "aria-label":
        "Tile player. Space plays and pauses, comma and full stop step, arrow keys choose a tile; what it shows is said below" });
    const panes: (Pane | null)[] = [null, null];
    const readout = h("div", { class: "readout" });
    const spoken = h("p", { class: "quiet", "aria-live": "polite", id: "spoken" });
    const scrubber = h("input", { type: "range", min: 0, max: kTicks, value: 0, step: 1, "aria-label": "Time since the launch" });
    const shownTime = h("output", { id: "time" });
    const play = h("button", { type: "button", id: "play" }, "Play");
    const colours = h("div", {});
    const note = h("p", { class: "note", hidden: true });
    const reduced = matchMedia("(prefers-reduced-motion: reduce)");

    function draw(): void {
        const shown = panes.filter((pane): pane is Pane => pane !== null);
        const width = canvas.clientWidth || 600;
        const stacked = width < 720;
        const paneWidth = shown.length > 1 && !stacked ? (width - kBetween) / 2 - kMargin : width - 2 * kMargin;
        const heights = shown.map((pane) => pane.height(paneWidth));
        const height = 2 * kMargin + (stacked ? heights.reduce((a, b) => a + b, 0) : Math.max(0, ...heights));
        const scale = window.devicePixelRatio || 1;
        canvas.style.height = `${height}px`;
        if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
            canvas.width = Math.round(width * scale);
            canvas.height = Math.round(height * scale);
        }
        const context = canvas.getContext("2d")!;
        context.setTransform(scale, 0, 0, scale, 0, 0);
        context.clearRect(0, 0, width, height);
        let at = kMargin;
        shown.forEach((pane, i) => {
            pane.draw(context, stacked ? kMargin : at, stacked ? at : kMargin, paneWidth, clock.now);
            at += stacked ? heights[i] : paneWidth + kBetween;
        });
        scrubber.value = String(Math.round((clock.now / clock.end) * kTicks));
        scrubber.setAttribute("aria-valuetext", time(clock.now));
        shownTime.textContent = `${time(clock.now)} of ${time(clock.end)}`;
        readout.replaceChildren(...shown.map((pane) => h("p", {}, words(pane, clock.now))));
        canvas.dataset.now = String(clock.now);
        canvas.dataset.done = shown.map((pane) => pane.summary(clock.now).done).join(" ");
    }

    const say = () => {
        spoken.textContent = panes.filter((pane) => pane !== null).map((pane) => pane!.tileWords(clock.now)).filter(Boolean).join(". ");
    };

    function set(now: number): void {
        clock.now = Math.min(Math.max(now, 0), clock.end);
        draw();
    }

    let last = 0;
    function frame(at: number): void {
        if (!clock.playing) return;
        const passed = at - last;
        // Who wants little motion gets a few still pictures a second.
        if (!reduced.matches || passed >= 250) {
            last = at;
            set(clock.now + (clock.end * passed) / (1000 * clock.seconds));
        }
        if (clock.now >= clock.end) pause();
        else requestAnimationFrame(frame);
    }
    function pause(): void {
        clock.playing = false;
        play.textContent = "Play";
        say();
    }
    function toggle(): void {
        if (clock.playing) return pause();
        if (clock.now >= clock.end) set(0);
        clock.playing = true;
        play.textContent = "Pause";
        last = performance.now();
        requestAnimationFrame(frame);
    }
    // To the next CTA that begins in one of the panes, or back to the one before.
    function step(forwards: boolean): void {
        if (clock.playing) pause();
        const times = panes.filter((pane) => pane !== null).map((pane) => pane!.neighbouringStart(clock.now, forwards));
        set(forwards ? Math.min(...times, clock.end) : Math.max(...times, 0));
        say();
    }

    function choose(which: number, index: number): void {
        const chosen = index < 0 ? null : all[index];
        note.hidden = chosen === null || playable(chosen);
        if (!note.hidden) note.textContent = `${chosen!.result.order} has no schedule in its result.`;
        panes[which] = chosen && playable(chosen) ? new Pane(chosen) : null;
        const partitions = panes.map((pane) => pane?.partitions ?? 0);
        colours.replaceChildren(legend(Math.max(...partitions)));
        const ends = panes.filter((pane) => pane !== null).map((pane) => pane!.end);
        clock.end = Math.max(1, ...ends);
        set(clock.now);
    }

    play.addEventListener("click", toggle);
    scrubber.addEventListener("input", () => {
        if (clock.playing) pause();
        set((Number(scrubber.value) / kTicks) * clock.end);
    });
    scrubber.addEventListener("change", say);
    canvas.addEventListener("keydown", (event) => {
        const moves: Record<string, [number, number]> = {
            ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
        if (event.key === " ") toggle();
        else if (event.key === "," || event.key === ".") step(event.key === ".");
        else if (event.key in moves) {
            for (const pane of panes) pane?.moveCursor(...moves[event.key]);
            draw();
            say();
        } else return;
        event.preventDefault();
    });
    canvas.addEventListener("pointerdown", (event) => {
        const box = canvas.getBoundingClientRect();
        for (const pane of panes) pane?.point(event.clientX - box.left, event.clientY - box.top);
        draw();
        say();
    });
    document.addEventListener("themechange", () => canvas.offsetParent && draw());
    new ResizeObserver(() => canvas.offsetParent && draw()).observe(panel);

    const ranked = all.map((chosen, i) => ({ chosen, i })).filter(({ chosen }) => playable(chosen))
        .sort((a, b) => a.chosen.result.rank - b.chosen.result.rank);
    const best = ranked[0];
    const beside = ranked.filter(({ chosen }) => chosen.prediction === best.chosen.prediction);
    const other = beside.find(({ chosen }) => chosen !== best.chosen && chosen.result.order === "row_major") ?? beside[beside.length - 1];
    const left = select("Left", groups, (i) => choose(0, i));
    const right = select("Right", groups, (i) => choose(1, i), "nothing");
    const speed = select("Whole run", [{ label: "", options: kSpeeds.map(([name]) => name) }], (i) => { clock.seconds = kSpeeds[i][1]; });
    speed.set(2);
    left.set(best.i);
    right.set(other === best ? -1 : other.i);
    panel.append(h("div", { class: "player" },
        h("div", { class: "controls" }, left.element, right.element, speed.element),
        h("div", { class: "controls" }, play,
            h("button", { type: "button", id: "back", onclick: () => step(false), "aria-label": "Step back" }, "◂ Step"),
            h("button", { type: "button", id: "forward", onclick: () => step(true), "aria-label": "Step forward" }, "Step ▸"),
            scrubber, shownTime),
        note, readout, canvas, spoken, colours,
        h("p", { class: "quiet" },
            "The strips beside and above the tiles show how much of each panel of the operands lies in each partition. A click on a tile says which SM computes it.")));
    choose(0, best.i);
    choose(1, other === best ? -1 : other.i);
}
