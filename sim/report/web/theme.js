// SPDX-License-Identifier: Apache-2.0
// Light or dark: what the system asks for, until the button says otherwise. Runs before the page is painted.
(function () {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)");
    const show = () => {
        const theme = root.dataset.theme || (system.matches ? "dark" : "light");
        document.getElementById("theme").setAttribute("aria-pressed", String(theme === "dark"));
        document.dispatchEvent(new Event("themechange"));
        return theme;
    };
    document.addEventListener("DOMContentLoaded", () => {
        document.getElementById("theme").addEventListener("click", () => {
            const dark = document.getElementById("theme").getAttribute("aria-pressed") === "true";
            root.dataset.theme = dark ? "light" : "dark";
            show();
        });
        system.addEventListener("change", show);
        show();
    });
})();
