"""index.html: every figure found in a folder, with its caption, its claims ticked or crossed, and its files."""

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>discrete_hamel: the papers' figures</title>
<style>
  body { font: 16px/1.5 Georgia, serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
  h1, h2 { font-weight: normal; line-height: 1.25 }
  section { border-top: 1px solid #ccc; margin-top: 2.5rem; padding-top: 0.5rem }
  img { max-width: 100%; height: auto; display: block; margin: 1rem auto }
  ul { list-style: none; padding-left: 0 }
  li { padding-left: 1.7rem; text-indent: -1.7rem }
  .holds::before { content: "\\2713\\00a0\\00a0"; color: #009e73; font-weight: bold }
  .fails::before { content: "\\2717\\00a0\\00a0"; color: #d55e00; font-weight: bold }
  .fails, .error { color: #a33c00 }
  small, pre { color: #666 }
  pre { overflow-x: auto; font-size: 0.8rem }
</style>
</head>
<body>
"""


def write(out: Path, order: Sequence[str]) -> Path:
    """The page of all figures in `out` that are in `order`, also those of earlier runs; its path."""
    found = [json.loads(str(np.load(out / f"{name}.npz")["about"])) for name in order if (out / f"{name}.npz").exists()]
    where = out / "index.html"
    sections = [_section(about, (out / f"{about['figure']}.gif").exists()) for about in found]
    where.write_text(HEAD + _summary(found) + "".join(sections) + "</body>\n</html>\n", encoding="utf-8")
    return where


def _summary(found: list[dict[str, Any]]) -> str:
    holds = [holds for about in found for _, holds in about["claims"]]
    broken = sum(bool(about["error"]) for about in found)
    versions = ", ".join(f"{name} {version}" for name, version in (found[-1]["versions"] if found else {}).items())
    links = " &middot; ".join(f'<a href="#{about["figure"]}">{about["figure"]}</a>' for about in found)
    note = f"; {broken} could not be made" if broken else ""
    return (
        f"<h1>The papers' figures</h1>\n<p>{len(found)} figures{note}; {sum(holds)} of {len(holds)} claims hold.</p>\n"
        f"<p>{links}</p>\n<p><small>{html.escape(versions)}. [HE], [QS], [ND], [BE], [MD]: the papers in "
        "CITATION.cff.</small></p>\n"
    )


def _section(about: dict[str, Any], film: bool) -> str:
    name, title = about["figure"], html.escape(about["title"])
    parts = [f'<section id="{name}">\n<h2>{title}</h2>\n']
    if about["error"]:
        parts.append(f'<p class="error">This figure could not be made.</p><pre>{html.escape(about["error"])}</pre>\n')
    else:
        parts.append(f'<a href="{name}.pdf"><img src="{name}.png" alt="{title}"></a>\n')
    parts.append(f"<p>{html.escape(about['caption'])}</p>\n<ul>\n")
    for sentence, holds in about["claims"]:
        parts.append(f'<li class="{"holds" if holds else "fails"}">{html.escape(sentence)}</li>\n')
    parts.append("</ul>\n")
    parameters = html.escape(json.dumps(about["parameters"]))
    suffixes = ("pdf", "png", "npz", *(("gif",) if film else ()))
    files = " &middot; ".join(f'<a href="{name}.{suffix}">{suffix.upper()}</a>' for suffix in suffixes)
    parts.append(
        f"<p><small>{files} &middot; {about['settings']} settings &middot; {parameters}</small></p>\n</section>\n"
    )
    return "".join(parts)
