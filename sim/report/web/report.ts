// SPDX-License-Identifier: Apache-2.0
// Wires the page: tabs, the choice of an order, the player, and colours that follow the theme.
import { drawVisible, redraw } from "./charts";
import { Chosen, pageData } from "./data";
import { h, select } from "./dom";
import { fillMeasured } from "./measured";
import { firstOrder, showOrder } from "./order";
import { makePlayer } from "./player";
import { fillRanking } from "./ranking";
import { makeTabs } from "./tabs";

const data = pageData();
const everyOrder: Chosen[] = data.predictions.flatMap((prediction) =>
    prediction.results.map((result) => ({ prediction, result })));
const groups = data.predictions.map((prediction) => ({
    label: prediction.label, options: prediction.results.map((result) => result.order) }));

const showTab = makeTabs(drawVisible);

document.querySelectorAll<HTMLElement>("[data-ranking]").forEach((container) =>
    fillRanking(container, data.predictions[Number(container.dataset.ranking)]));
document.querySelectorAll<HTMLElement>("[data-validation]").forEach((container) =>
    fillMeasured(container, data.validations[Number(container.dataset.validation)], data.metrics));

if (data.predictions.length > 0) {
    const panel = document.getElementById("order")!;
    const content = h("div", {});
    const choice = select("Order", groups, (i) => showOrder(content, everyOrder[i]));
    panel.append(choice.element, content);
    const show = (chosen: Chosen) => {
        choice.set(everyOrder.findIndex((it) => it.result === chosen.result));
        showOrder(content, chosen);
    };
    show(firstOrder(data.predictions));
    document.querySelectorAll<HTMLElement>("[data-result]").forEach((button) =>
        button.addEventListener("click", () => {
            const prediction = data.predictions[Number(button.dataset.document)];
            show({ prediction, result: prediction.results[Number(button.dataset.result)] });
            showTab("order");
            document.getElementById("tab-order")!.focus();
            window.scrollTo(0, 0);
        }));
    makePlayer(document.getElementById("player")!, everyOrder, groups);
}
document.addEventListener("themechange", redraw);
drawVisible();
