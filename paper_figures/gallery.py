"""Runs figures and writes each as PDF, PNG and NPZ, some for one column or as films, with progress; then the page."""

import importlib
import json
import multiprocessing
import platform
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import jax
import numpy as np

import discrete_hamel as dh
from discrete_hamel import plots

from . import FIGURES, page, pictures

SUFFIXES = (".pdf", ".png", "_column.pdf", "_column.png", ".npz", ".gif")


def figure_module(name: str) -> Any:
    """The module of a figure: PARAMETERS, compute, draw, claims; and animate, where it has a film."""
    return importlib.import_module(f".{name}", __package__)


def write_all(names: list[str], out: Path, *, fast: bool = True, jobs: int = 1, films: bool = False) -> bool:
    """Write the figures `names` to `out`, `jobs` at a time, and the page; whether all ran and all their claims hold."""
    out.mkdir(parents=True, exist_ok=True)
    began, good = time.monotonic(), True
    for count, (about, seconds) in enumerate(_written(names, out, fast, jobs, films), start=1):
        failed = [sentence for sentence, holds in about["claims"] if not holds]
        good &= not failed and not about["error"]
        left = (time.monotonic() - began) / count * (len(names) - count)
        claims = len(about["claims"])
        verdict = "could not be made" if about["error"] else f"{claims - len(failed)} of {claims} claims hold"
        line = f"[{count:>{len(str(len(names)))}}/{len(names)}] {about['figure']:<18} {seconds:5.1f} s  {verdict}"
        print(line + (f", about {left:.0f} s left" if left else ""), flush=True)
        for sentence in failed:
            print(f"        does not hold: {sentence}")
        if about["error"]:
            print(f"        {about['error'].splitlines()[-1]}")
    where = page.write(out, FIGURES)
    verdict = "every claim holds" if good else "SOMETHING DOES NOT HOLD"
    print(f"{len(names)} figures in {time.monotonic() - began:.0f} s, {verdict}. Look at {where}")
    return good


def _written(names: list[str], out: Path, fast: bool, jobs: int, films: bool) -> Iterator[tuple[dict[str, Any], float]]:
    """What is known about each figure, in the order in which they get done, and the seconds it took."""
    if min(jobs, len(names)) <= 1:
        for name in names:
            yield _timed(name, out, fast, films)
        return
    fresh = multiprocessing.get_context("spawn")  # JAX has threads, which do not survive a fork
    with ProcessPoolExecutor(min(jobs, len(names)), mp_context=fresh) as pool:
        for done in as_completed([pool.submit(_timed, name, out, fast, films) for name in names]):
            yield done.result()


def _timed(name: str, out: Path, fast: bool, films: bool) -> tuple[dict[str, Any], float]:
    start = time.monotonic()
    return write(name, out, fast=fast, films=films), time.monotonic() - start


def write(name: str, out: Path, *, fast: bool, films: bool = False) -> dict[str, Any]:
    """One figure: NAME.pdf, NAME.png, and NAME.npz with its data and, as JSON under "about", all that made it.

    Of a module that says COLUMN = True also NAME_column.pdf and .png, as wide as a column of a journal; with `films`
    also NAME.gif, of one that has an `animate`. What goes wrong in a figure is kept and shown, and does not stop the
    others.
    """
    module = figure_module(name)
    title, _, caption = (module.__doc__ or name).partition("\n")
    about: dict[str, Any] = {
        "figure": name,
        "title": title.strip(),
        "caption": caption.strip(),
        "settings": "fast" if fast else "full",
        "parameters": module.PARAMETERS,
        "versions": versions(),
        "claims": [],
        "error": "",
    }
    data: dict[str, Any] = {}
    for stale in (out / f"{name}{suffix}" for suffix in SUFFIXES):
        stale.unlink(missing_ok=True)
    try:
        data = module.compute(fast)
        drawn = {name: module.draw(data)}
        if getattr(module, "COLUMN", False):
            drawn[f"{name}_column"] = pictures.column(module.draw(data))
        for stem, drawing in drawn.items():
            for suffix in ("pdf", "png"):
                plots.save(drawing, out / f"{stem}.{suffix}", about["title"])
        about["claims"] = [(sentence, bool(holds)) for sentence, holds in module.claims(data)]
        if films and hasattr(module, "animate"):
            module.animate(out / f"{name}.gif")
    except Exception:
        about["error"] = traceback.format_exc()
    np.savez_compressed(out / f"{name}.npz", about=np.array(json.dumps(about)), **data)
    return about


def versions() -> dict[str, str]:
    """What the numbers depend on."""
    return {
        "discrete_hamel": dh.__version__,
        "jax": jax.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
