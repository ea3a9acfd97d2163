// SPDX-License-Identifier: Apache-2.0
// Does the page work as a reader uses it, and does it show what the JSON says? Run by run.sh.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const path = process.env.REPORT;
const folder = path.slice(0, path.lastIndexOf("/"));
const read = (name) => JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
const result = read("result.json");
const validation = read("validation.json");
const ranked = [...result.results].sort((a, b) => a.rank - b.rank);

let browser;
before(async () => { browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] }); });
after(() => browser?.close());

// A page of its own, which must not complain and must not ask any host for anything.
async function opened(options, body) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    const bad = [];
    page.on("console", (message) => bad.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => bad.push(`error: ${error.message}`));
    page.on("request", (request) => {
        if (request.url() !== `file://${path}` && !request.url().startsWith("data:")) bad.push(`request: ${request.url()}`);
    });
    await page.goto(`file://${path}`);
    await body(page);
    assert.deepEqual(bad, []);
    await page.close();
}

// The page's own policy keeps waitForFunction from evaluating texts.
async function until(page, holds) {
    for (let i = 0; i < 1000; ++i) {
        if (await page.evaluate(holds)) return;
        await page.waitForTimeout(10);
    }
    assert.fail(`waited in vain for ${holds}`);
}

const chartData = (page, title) => page.evaluate((wanted) => {
    const figure = [...document.querySelectorAll("figure")].find((f) =>
        f.offsetParent !== null && f.querySelector("h3").textContent === wanted);
    const { labels, datasets } = Chart.getChart(figure.querySelector("canvas")).data;
    return { labels, series: Object.fromEntries(datasets.map((d) => [d.label, d.data])) };
}, title);

const near = (actual, expected, what) =>
    assert.ok(Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected)), `${what}: ${actual}, not ${expected}`);

test("twelve orders of an 8192-cube GEMM are less than 5 MB and open in less than 2 s", async () => {
    assert.equal(result.results.length, 12);
    assert.ok(statSync(path).size < 5e6, `${statSync(path).size} bytes`);
    const taken = [];
    for (let i = 0; i < 3; ++i) { // the machine may be busy with something else once
        const page = await browser.newPage();
        const begun = performance.now();
        await page.goto(`file://${path}`);
        await until(page, () => Chart.getChart(document.querySelector("#ranking canvas")) !== undefined);
        taken.push(performance.now() - begun);
        await page.close();
    }
    assert.ok(Math.min(...taken) < 2000, `${taken} ms`);
});

test("the ranked table and its charts have the figures of the JSON", () => opened({}, async (page) => {
    const rows = await page.$$eval("#ranking .ranked tbody tr", (all) => all.map((row) => [...row.cells].map((c) => c.textContent)));
    assert.deepEqual(rows.map((row) => row[1]), ranked.map((r) => r.order));
    rows.forEach((row, i) => {
        assert.equal(Number(row[0]), ranked[i].rank);
        assert.equal(row[2], `${ranked[i].metrics.l2_hit_rate_pct.toFixed(1)} %`);
        near(Number(row[9].replace(" ms", "")), Number((ranked[i].time_us / 1000).toFixed(2)), "time");
    });
    const time = await chartData(page, "Time");
    assert.deepEqual(time.labels, ranked.map((r) => r.order));
    time.series.Time.forEach((value, i) => near(value, ranked[i].time_us / 1000, "time, ms"));
    const dram = await chartData(page, "DRAM reads");
    dram.series["DRAM reads"].forEach((value, i) => near(value, ranked[i].metrics.dram_read_bytes / 1e9, "DRAM, GB"));
}));

test("tabs show one panel each, by mouse and by arrow keys", () => opened({}, async (page) => {
    const tabs = await page.$$eval('[role="tab"]', (all) => all.map((tab) => tab.id));
    assert.deepEqual(tabs, ["tab-ranking", "tab-order", "tab-player", "tab-measured", "tab-about"]);
    const shown = () => page.$$eval('[role="tabpanel"]', (all) => all.filter((p) => p.offsetParent !== null).map((p) => `tab-${p.id}`));
    for (const tab of tabs) {
        await page.click(`#${tab}`);
        assert.deepEqual(await shown(), [tab]);
    }
    for (const tab of [...tabs, tabs[0]].slice(0, -1)) {
        await page.keyboard.press("ArrowRight");
        assert.deepEqual(await shown(), [tab]);
        assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-selected")), "true");
    }
}));

test("an order chosen in the table is drawn from its own details", () => opened({}, async (page) => {
    await page.click('#ranking button:text-is("row_major")');
    const order = result.results.find((r) => r.order === "row_major");
    assert.equal(await page.textContent("#order h2"), "row_major");
    assert.equal(await page.textContent("#order .advice"), order.cause);
    const { traffic, misses, reuse, slices, schedule } = order.details;

    const rates = await chartData(page, "Hit rate, fabric and DRAM");
    assert.deepEqual(rates.series["L2 hit rate (right)"].map((p) => p.y), traffic.l2_hit_rate_pct);
    rates.series["DRAM read"].slice(0, -2).forEach((p, i) => {
        near(p.x, (i * traffic.bin_ns) / 1000, "us");
        near(p.y, (traffic.dram_read[i] * 32) / traffic.bin_ns / 1000, "TB/s");
    });
    const total = reuse.tensors.reduce((sum, t) => sum + t.first_uses + t.requests.reduce((a, b) => a + b, 0), 0);
    const distances = await chartData(page, "Reuse distance");
    for (const t of reuse.tensors) {
        distances.series[t.tensor].forEach((share, i) => near(share, (100 * (t.requests[i] ?? t.first_uses)) / total, "%"));
    }
    const classes = await chartData(page, "Misses by class");
    for (const [name, sectors] of Object.entries(misses)) near(classes.series[name][0], (sectors * 32) / 1e9, name);
    const load = await chartData(page, "Load of the slices");
    load.series["asked for"].forEach((value, i) => near(value, slices.requested_sectors[i] / 1e6, "sectors"));

    // The tables behind the pictures have the figures themselves.
    const figures = async (title) => {
        await page.click(`#order figure:has(h3:text-is("${title}")) summary`);
        const selector = `#order figure:has(h3:text-is("${title}")) tbody tr`;
        await page.waitForSelector(selector);
        return page.$$eval(selector, (rows) => rows.map((row) => [...row.cells].map((c) => c.textContent)));
    };
    const flows = await figures("Memory chart");
    const fill = flows.find((row) => row[0] === "dram" && row[1] === "dram");
    assert.equal(Number(fill[4]), order.counters["dram__sectors_read.sum"] * 32);
    const tiles = await figures("Tile map");
    assert.deepEqual(tiles.slice(0, 50).map((row) => [Number(row[1]), Number(row[2])]),
        schedule.tile.slice(0, 50).map((tile, id) => [tile, schedule.sm[id]]));
    const answers = await figures("What answered the SMs' reads");
    assert.deepEqual(answers.map((row) => row.slice(1).map(Number)),
        traffic.merged.map((n, i) => [n, traffic.hit[i], traffic.copy[i], traffic.dram_read[i]]));
}));

test("no words of the memory chart overlap", () => opened({}, async (page) => {
    await page.click("#tab-order");
    const overlapping = await page.$$eval("svg.memory text", (texts) => {
        const boxes = texts.map((t) => [t.textContent, t.getBoundingClientRect()]);
        return boxes.flatMap(([a, p], i) => boxes.slice(i + 1)
            .filter(([, q]) => p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 4 && q.top < p.bottom - 4)
            .map(([b]) => `${a} / ${b}`));
    });
    assert.deepEqual(overlapping, []);
}));

// What the schedule says is done and running at a time.
function countAt(order, ns) {
    const { schedule } = result.results.find((r) => r.order === order).details;
    const before = (ticks) => ticks.filter((t, id) => schedule.tile[id] >= 0 && t * schedule.tick_ns <= ns).length;
    return { done: before(schedule.end), running: before(schedule.start) - before(schedule.end) };
}

async function scrub(page, share) {
    await page.$eval('#player input[type="range"]', (range, value) => {
        range.value = String(Math.round(value * 10000));
        range.dispatchEvent(new Event("input"));
        range.dispatchEvent(new Event("change"));
    }, share);
    return Number(await page.$eval("#player canvas", (canvas) => canvas.dataset.now));
}

test("the player plays, pauses, scrubs and steps through two orders on one clock", () => opened({}, async (page) => {
    await page.click("#tab-player");
    await page.selectOption('#player label:has-text("Left") select', { label: "hilbert" });
    await page.selectOption('#player label:has-text("Right") select', { label: "diagonal" });
    const now = () => page.$eval("#player canvas", (canvas) => Number(canvas.dataset.now));

    for (const share of [0.1, 0.5, 0.9]) {
        const ns = await scrub(page, share);
        const words = await page.$$eval("#player .readout p", (all) => all.map((p) => p.textContent));
        ["hilbert", "diagonal"].forEach((order, i) => {
            const { done, running } = countAt(order, ns);
            assert.ok(words[i].startsWith(`${order}: ${done} of 4096 tiles done, ${running} running`), words[i]);
        });
    }
    await scrub(page, 1);
    assert.equal(await page.$eval("#player canvas", (canvas) => canvas.dataset.done), "4096 4096");

    await scrub(page, 0);
    await page.click("#play");
    await until(page, () => Number(document.querySelector("#player canvas").dataset.now) > 20000);
    await page.click("#play");
    const paused = await now();
    await page.waitForTimeout(150);
    assert.equal(await now(), paused);

    const starts = ["hilbert", "diagonal"].flatMap((name) => {
        const { schedule } = result.results.find((r) => r.order === name).details;
        return schedule.start.map((t) => t * schedule.tick_ns);
    }).sort((a, b) => a - b);
    await page.click("#forward");
    near(await now(), starts.find((t) => t > paused), "the next CTA's begin");
    const stepped = await now();
    await page.click("#back");
    near(await now(), starts.filter((t) => t < stepped).pop(), "the CTA's begin before");
}));

test("the player says which SM computes a tile, by mouse and by keys", () => opened({}, async (page) => {
    await page.click("#tab-player");
    await page.selectOption('#player label:has-text("Right") select', { label: "nothing" });
    await page.focus("#player canvas");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const { schedule } = ranked[0].details;
    const id = schedule.tile.indexOf(64); // row 1, column 0 of 64
    const words = await page.textContent("#spoken");
    assert.match(words, /tile \(1, 0\)/);
    assert.match(words, new RegExp(`SM ${schedule.sm[id]} of GPC ${result.machine.gpc_of_sm[schedule.sm[id]]}, partition ${result.machine.partition_of_sm[schedule.sm[id]]}\\b`));
    await page.keyboard.press(" ");
    assert.equal(await page.textContent("#play"), "Pause");
    await page.keyboard.press(" ");
    assert.equal(await page.textContent("#play"), "Play");
    await page.click("#player canvas", { position: { x: 200, y: 200 } });
    assert.notEqual(await page.textContent("#spoken"), words);
}));

test("the player's picture changes with time and shows both partitions", () => opened({}, async (page) => {
    await page.click("#tab-player");
    await page.selectOption('#player label:has-text("Right") select', { label: "nothing" });
    const colours = () => page.$eval("#player canvas", (canvas) => {
        const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        let blue = 0;
        let pink = 0;
        for (let i = 0; i < data.length; i += 4) {
            const [r, g, b] = data.slice(i, i + 3);
            if (r === 0 && g === 0x72 && b === 0xb2) ++blue;
            if (r === 0xcc && g === 0x79 && b === 0xa7) ++pink;
        }
        return { blue, pink };
    });
    await scrub(page, 0.5);
    const half = await colours();
    assert.ok(half.blue > 500 && half.pink > 500, JSON.stringify(half));
    await scrub(page, 1);
    const end = await colours();
    assert.ok(end.blue < half.blue / 2 && end.pink < half.pink / 2, JSON.stringify(end)); // nothing runs
}));

test("the theme follows the system, then the button", async () => {
    const look = (page) => page.evaluate(() => [getComputedStyle(document.body).backgroundColor,
        Chart.getChart(document.querySelector("#ranking canvas")).options.scales.x.ticks.color]);
    await opened({ colorScheme: "light" }, async (page) => {
        const light = await look(page);
        assert.equal(await page.getAttribute("#theme", "aria-pressed"), "false");
        await page.click("#theme");
        assert.equal(await page.getAttribute("#theme", "aria-pressed"), "true");
        const dark = await look(page);
        assert.notDeepEqual(dark[0], light[0]);
        assert.notDeepEqual(dark[1], light[1]);
        await page.click("#theme");
        assert.deepEqual(await look(page), light);
    });
    await opened({ colorScheme: "dark" }, async (page) => {
        assert.equal(await page.getAttribute("#theme", "aria-pressed"), "true");
    });
});

test("the scatter has a point for each row", () => opened({}, async (page) => {
    await page.click("#tab-measured");
    await page.selectOption("#measured select", { label: "dram__sectors_read.sum" });
    const { series } = await chartData(page, "dram__sectors_read.sum");
    assert.deepEqual(series["a recorded row"].map((p) => [p.x, p.y]), validation.rows.map((row) =>
        [row.measured["dram__sectors_read.sum"], row.predicted["dram__sectors_read.sum"]]));
}));

test("nothing is wider than a narrow screen, and everything has a name", () => opened({ viewport: { width: 360, height: 740 } }, async (page) => {
    for (const tab of ["ranking", "order", "player", "measured", "about"]) {
        await page.click(`#tab-${tab}`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360, tab);
    }
    const nameless = await page.$$eval("button, select, input, canvas, [role=region], svg[role=img]", (all) => all.filter((e) =>
        !e.getAttribute("aria-label") && !e.textContent.trim() && !e.closest("label")).map((e) => e.outerHTML.slice(0, 80)));
    assert.deepEqual(nameless, []);
}));
