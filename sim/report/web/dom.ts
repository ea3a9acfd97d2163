// SPDX-License-Identifier: Apache-2.0
// Elements without a template language: what is text stays text.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
        else if (value === true) element.setAttribute(name, "");
        else if (value !== false) element.setAttribute(name, String(value));
    }
    for (const child of children) {
        if (child !== null && child !== undefined && child !== false) element.append(child);
    }
    return element;
}

export function svg(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    element.append(...children);
    return element;
}

export interface TableData {
    head: string[];
    rows: (string | number)[][]; // the first cell names the row
}

export function table(caption: string, data: TableData): HTMLElement {
    const head = data.head.map((title, i) => h("th", { scope: "col", class: i ? "n" : "" }, title));
    const rows = data.rows.map((row) =>
        h("tr", {}, ...row.map((cell, i) =>
            i ? h("td", { class: "n" }, String(cell)) : h("th", { scope: "row" }, String(cell)))));
    return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
        h("table", {}, h("caption", { class: "quiet" }, caption), h("thead", {}, h("tr", {}, ...head)),
            h("tbody", {}, ...rows)));
}

// A picture with its title, a sentence on how to read it, and its figures as a table behind it.
export function figure(title: string, how: string, picture: Node, data: () => TableData, wide = false): HTMLElement {
    const details = h("details", {}, h("summary", {}, "Figures"));
    details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1) details.append(table(title, data()));
    });
    return h("figure", { class: wide ? "wide" : "" },
        h("figcaption", {}, h("h3", {}, title), h("p", { class: "quiet" }, how)), picture, details);
}

export function select(label: string, groups: { label: string; options: string[] }[],
    onChoice: (index: number) => void, none = ""): { element: HTMLElement; set(index: number): void } {
    const list = h("select", {});
    if (none) list.append(h("option", { value: -1 }, none));
    let index = 0;
    for (const group of groups) {
        const options = group.options.map((text) => h("option", { value: index++ }, text));
        list.append(...(groups.length > 1 ? [h("optgroup", { label: group.label }, ...options)] : options));
    }
    list.addEventListener("change", () => onChoice(Number(list.value)));
    return {
        element: h("label", { class: "choice" }, label, list),
        set: (i) => { list.value = String(i); },
    };
}
