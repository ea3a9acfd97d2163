// SPDX-License-Identifier: Apache-2.0
// The pictures of the report in docs/: REPORT=report.html CHROMIUM=/usr/bin/chromium node screenshots.mjs FOLDER
// The report is that of `l2lens predict gemm m=8192 n=8192 k=8192 --report report.html`.
import { chromium } from "playwright-core";

const folder = process.argv[2];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

async function picture(name, colorScheme, width, height, prepare) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    await page.goto(`file://${process.env.REPORT}`);
    await prepare(page);
    await page.waitForTimeout(200);
    await page.screenshot({ path: `${folder}/${name}.png` });
    await page.close();
}

const scrubbed = (share) => async (page) => {
    await page.click("#tab-player");
    await page.$eval('#player input[type="range"]', (range, value) => {
        range.value = String(value * 10000);
        range.dispatchEvent(new Event("input"));
    }, share);
};

await picture("report-player", "light", 1100, 1200, scrubbed(0.42));
await picture("report-order", "dark", 1100, 1900, (page) => page.click('#ranking button:text-is("row_major")'));
await picture("report-narrow", "light", 390, 1400, scrubbed(0.42));
await browser.close();
