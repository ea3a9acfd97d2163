// SPDX-License-Identifier: Apache-2.0
// Tabs as WAI-ARIA describes them: arrow keys move between them, one panel is shown.

export function makeTabs(onShow: () => void): (id: string) => void {
    const tabs = [...document.querySelectorAll<HTMLElement>('[role="tab"]')];
    const panel = (tab: HTMLElement) => document.getElementById(tab.getAttribute("aria-controls")!)!;

    function show(id: string): void {
        for (const tab of tabs) {
            const chosen = panel(tab).id === id;
            tab.setAttribute("aria-selected", String(chosen));
            tab.tabIndex = chosen ? 0 : -1;
            panel(tab).hidden = !chosen;
        }
        onShow();
    }

    tabs.forEach((tab, i) => {
        tab.addEventListener("click", () => show(panel(tab).id));
        tab.addEventListener("keydown", (event) => {
            const to: Record<string, number> = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 };
            if (!(event.key in to)) return;
            const next = tabs[(to[event.key] + tabs.length) % tabs.length];
            event.preventDefault();
            next.focus();
            show(panel(next).id);
        });
    });
    const asked = location.hash.slice(1);
    show(tabs.some((tab) => panel(tab).id === asked) ? asked : panel(tabs[0]).id);
    return show;
}
