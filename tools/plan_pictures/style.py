"""
The colours of pictures, light and dark, and the rules that use them.

An SVG file has each rule twice, the second time for readers who prefer dark; a page has variables,
which its button switches.
"""

from collections.abc import Mapping

COLOURS: Mapping[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#15181d"),
    "card": ("#f6f7f9", "#1d2127"),
    "ink": ("#1f2530", "#e4e7ec"),
    "soft": ("#657083", "#98a2b3"),
    "line": ("#dde1e7", "#313741"),
    "edge": ("#ffffff", "#15181d"),
    "accent": ("#c2410c", "#fb923c"),
    "bound": ("#b91c1c", "#f87171"),
    "height": ("#1f2530", "#e4e7ec"),
    "load": ("#94a3b8", "#64748b"),
    "band0": ("#eef3fb", "#1b2431"),
    "band1": ("#faf3e8", "#29231a"),
    "c0": ("#a9c9e8", "#34618c"),
    "c1": ("#f3cf9b", "#8a6127"),
    "c2": ("#b5d9b3", "#3c7440"),
    "c3": ("#e6b8b7", "#8a4543"),
    "c4": ("#cbbfe3", "#62508f"),
    "c5": ("#a8d8d6", "#2d7573"),
    "c6": ("#ecc3da", "#85456a"),
    "c7": ("#d6d7a0", "#6e6f2a"),
    "c8": ("#c9cfd8", "#566172"),
    "c9": ("#f0bda2", "#8d5133"),
}
"""Each colour in light and dark."""

COUNT = 10
"""The number of colours of boxes."""

RULES = "\n".join(
    [
        "text{font:11px system-ui,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;fill:{ink}}",
        ".paper{fill:{paper}}",
        ".head{font-size:15px;font-weight:600}",
        ".soft{fill:{soft}}",
        ".name{text-anchor:middle;pointer-events:none}",
        ".end{text-anchor:end}",
        ".middle{text-anchor:middle}",
        ".rule{stroke:{line};stroke-width:1}",
        ".axis{stroke:{soft};stroke-width:1}",
        ".shelf{stroke:{soft};stroke-width:1;stroke-dasharray:1 3}",
        ".height{stroke:{height};stroke-width:1.5}",
        ".bound{stroke:{bound};stroke-width:1.5;stroke-dasharray:6 4}",
        ".bound-text{fill:{bound}}",
        ".peak{fill:{accent};fill-opacity:.12}",
        ".peak-text{fill:{accent};font-weight:600}",
        ".band0{fill:{band0}}",
        ".band1{fill:{band1}}",
        ".load{fill:{load};fill-opacity:.45;stroke:{load};stroke-width:1}",
        ".column{fill:transparent}",
        ".column:hover{fill:{ink};fill-opacity:.08}",
        ".box rect{stroke:{edge};stroke-width:1;fill-opacity:.5}",
        ".box.alive rect{fill-opacity:1}",
        ".box:hover rect,.box.chosen rect{stroke:{ink};stroke-width:2}",
        ".thin .box rect{stroke-width:0}",
        ".thin .box:hover rect{stroke-width:1}",
        ".box rect.hatch{fill-opacity:1;stroke-width:0;pointer-events:none}",
        ".stripe{stroke:{ink};stroke-opacity:.35;stroke-width:1.5}",
        ".rest{fill:{load};fill-opacity:.35}",
        *(f".c{i} rect{{fill:{{c{i}}}}}" for i in range(COUNT)),
    ]
)


def _rules(values: Mapping[str, str], rules: str = RULES) -> str:
    for name, value in values.items():
        rules = rules.replace(f"{{{name}}}", value)
    return rules


def svg_style() -> str:
    """Return the style of an SVG file, which follows the reader's preference."""
    light = _rules({name: pair[0] for name, pair in COLOURS.items()})
    dark = _rules({name: pair[1] for name, pair in COLOURS.items()})
    return f"{light}\n@media (prefers-color-scheme:dark){{\n{dark}\n}}"


def page_style(rules: str) -> str:
    """Return the style of a page, with its own `rules`: `data-theme` overrides the preference."""
    light = ";".join(f"--{name}:{pair[0]}" for name, pair in COLOURS.items())
    dark = ";".join(f"--{name}:{pair[1]}" for name, pair in COLOURS.items())
    used = _rules({name: f"var(--{name})" for name in COLOURS}, f"{RULES}\n{rules}")
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light])"
        f"{{color-scheme:dark;{dark}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n{used}"
    )
