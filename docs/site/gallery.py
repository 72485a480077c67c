"""The gallery: all figures of the papers, small, with their claims.

    discrete-hamel figures --out figures && python docs/site/gallery.py figures

packs what the figures were when they were last made, into docs/gallery/; title and caption come from the modules.
"""

import html
import json
import sys
from pathlib import Path

from paper_figures import FIGURES
from paper_figures.gallery import figure_module
from paper_figures.page import prose, prose_plain
from paper_figures.papers import OWN, PAPERS, paper_of

FOLDER = Path(__file__).parents[1] / "gallery"
WIDE = 560  # pixels


def pack(figures: Path) -> None:
    """Small pictures of the figures in a folder, and what they claimed."""
    import numpy as np
    from PIL import Image

    FOLDER.mkdir(exist_ok=True)
    known = {}
    for name in FIGURES:
        about = json.loads(str(np.load(figures / f"{name}.npz")["about"]))
        if about["error"]:
            raise SystemExit(f"{name} could not be made: {about['error']}")
        known[name] = {"claims": about["claims"], "settings": about["settings"]}
        with Image.open(figures / f"{name}.png") as full:
            small = full.convert("RGB")
            small.thumbnail((WIDE, 2 * WIDE), Image.Resampling.LANCZOS)
            small.save(FOLDER / f"{name}.webp", quality=55, method=6)
    (FOLDER / "claims.json").write_text(json.dumps(known, indent=1) + "\n")


def claims() -> dict:
    """What each figure claimed when it was last made: claims as (sentence, whether it holds), by name."""
    return json.loads((FOLDER / "claims.json").read_text())


def page() -> list[tuple[str, str]]:
    """(heading, HTML) of each paper's figures."""
    known, parts = claims(), []
    described = {name: (figure_module(name).__doc__ or name).partition("\n") for name in FIGURES}
    for paper in (*PAPERS, OWN):
        own = [name for name in FIGURES if paper_of(described[name][0]) == paper]
        if not own:
            continue
        heading = paper.title if paper is OWN else f"[{paper.tag}] {paper.title}"
        about = ", ".join(part for part in (paper.authors, paper.where) if part)
        figures = "".join(_figure(name, *described[name][::2], known[name]["claims"]) for name in own)
        parts.append((heading, f"<p>{html.escape(about)}</p>{figures}"))
    return parts


def _figure(name: str, title: str, caption: str, found: list) -> str:
    plain = prose_plain(title)
    rows = "".join(
        f'<li class="{"holds" if holds else "fails"}">{_prose(sentence if holds else f"Not so: {sentence}")}</li>'
        for sentence, holds in found
    )
    return (
        f'<section class="paper-figure" id="{name}"><h3>{plain[:1].upper()}{plain[1:]}</h3>'
        f'<img src="../gallery/{name}.webp" alt="{html.escape(title, quote=True)}" loading="lazy">'
        f"<p>{_prose(' '.join(caption.split()))}</p><ul class='claims'>{rows}</ul>"
        f"<p><code>discrete-hamel figures {name}</code></p></section>"
    )


def _prose(text: str) -> str:
    return prose(text).replace('href="#paper-', 'data-paper="')


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
