"""How the pictures look: one colour, marker and line for each contestant, the same in every picture.

The colours differ in lightness too, for those who see colours otherwise, and every contestant has a marker of its own.
In the page each is a variable of the style sheet, which has one value for light and one for dark, so that one SVG is
read on both; pictures that are files have the light values on white.
"""

from __future__ import annotations

import dataclasses
import io
import re
from typing import Any

import matplotlib

if tuple(int(part) for part in matplotlib.__version__.split(".")[:2]) < (3, 7):
    raise ImportError(f"Matplotlib is {matplotlib.__version__}; 3.7 or later is needed")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from .records import MEASURED, OURS, PAPER  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Look:
    light: str
    dark: str
    marker: str
    line: Any = "-"


LOOKS = {
    OURS: Look("#0066aa", "#5ab4f0", "o"),
    MEASURED: Look("#003a63", "#a9d9fb", "^", (0, (4, 1))),
    PAPER: Look("#8a8a00", "#d8d850", "v", (0, (1, 1))),
    "NumPy": Look("#c65102", "#ff9650", "s", (0, (5, 2))),
    "HPTT": Look("#00805e", "#3fd6a8", "D", (0, (3, 1, 1, 1))),
    "PyTorch": Look("#b0306a", "#f48fbb", "P", (0, (5, 2))),
    "PyTorch (CPU)": Look("#b0306a", "#f48fbb", "P", (0, (5, 2))),
    "JAX": Look("#6a4fb3", "#b9a6f0", "X", (0, (2, 1))),
    "CuPy": Look("#7a5a00", "#e2bd4e", "<", (0, (3, 1))),
    "cuTENSOR": Look("#3f7d00", "#9ad65c", ">", (0, (3, 1, 1, 1))),
    "TBLIS": Look("#00808f", "#55d0df", "h", (0, (2, 1))),
}
OTHERS = [Look("#5f5f5f", "#b5b5b5", "d", ":"), Look("#7d4a4a", "#d0a0a0", "*", ":")]
CEILING = Look("#6b6b6b", "#a8a8a8", "_", (0, (6, 3)))
INK, FAINT, GRID = "#1f1f1f", "#5c5c5c", "#d9d9d9"  # text; the words at axes; lines behind everything
DARK_OF = {INK: "#ececec", FAINT: "#b4b4b4", GRID: "#3f3f3f", CEILING.light: CEILING.dark}
DARK_OF.update({look.light: look.dark for look in [*LOOKS.values(), *OTHERS]})
WIDTH = 8.4  # inches, of every picture


def look(name: str, place: int = 0) -> Look:
    return LOOKS.get(name) or OTHERS[place % len(OTHERS)]


def settings(for_page: bool) -> dict[str, Any]:
    clear = "none" if for_page else "white"
    return {
        "svg.fonttype": "none",
        "font.family": ["DejaVu Sans"],
        "font.size": 10,
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": 10,
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "axes.facecolor": clear,
        "grid.color": GRID,
        "grid.linewidth": 0.7,
        "text.color": INK,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "figure.facecolor": clear,
        "savefig.facecolor": clear,
        "legend.frameon": False,
        "legend.fontsize": 10,
        "figure.constrained_layout.use": True,
    }


def to_file(figure: Figure, path: str) -> None:
    """A picture of its own, light, on white: SVG or PNG as the name ends."""
    facts = {"Date": None, "Creator": None} if path.endswith(".svg") else None
    with matplotlib.rc_context(settings(for_page=False) | {"svg.hashsalt": "cutt"}):
        figure.savefig(path, metadata=facts, dpi=110)
    if path.endswith(".svg"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(_lean(text))


def to_page(figure: Figure, name: str, label: str) -> str:
    """An SVG element for the page: colours as variables, nothing that names another place."""
    held = io.StringIO()
    with matplotlib.rc_context(settings(for_page=True) | {"svg.hashsalt": name}):
        figure.savefig(held, format="svg", metadata={"Date": None, "Creator": None})
    text = _lean(held.getvalue())
    text = text[text.index("<svg") :]
    text = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    # Marks and clips are called by ids, which must differ from picture to picture on one page.
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
    for light in DARK_OF:
        text = re.sub(rf"{light}\b", f"var(--c{light[1:]})", text, flags=re.IGNORECASE)
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', text)
    text = text.replace(size.group(0), "") if size else text
    label = label.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return text.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def _lean(text: str) -> str:
    """Without metadata and comments, numbers of two places: half the size."""
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!DOCTYPE.*?>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"(\d+\.\d{2})\d+", r"\1", text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def css() -> str:
    """The variables that pictures are drawn with, for light and for dark."""
    light = "".join(f"--c{colour[1:].lower()}:{colour};" for colour in DARK_OF)
    dark = "".join(f"--c{colour[1:].lower()}:{value};" for colour, value in DARK_OF.items())
    return f":root{{{light}}}\n@media (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"


def close(figure: Figure) -> None:
    plt.close(figure)
