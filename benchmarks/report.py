"""Runs benchmarks: prints rows as they come and what is asked of them; writes numbers, plots and a page of tables."""

import importlib
import json
import math
import time
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import BENCHMARKS, contests

Row = dict[str, Any]


def benchmark(name: str) -> Any:
    """The module of a benchmark: ROUNDS, PEERS, measure, bars, draw."""
    return importlib.import_module(f"benchmarks.{name}")


def run_all(names: Sequence[str], rounds: int | None, quick: bool, out: Path | None) -> bool:
    """Run the benchmarks `names`; with `out` write out/NAME.json, out/NAME.png and the page out.md. Whether all ran.

    The page has all benchmarks found in `out`, also those of earlier runs. A bar that is missed is said, and is no
    failure: how fast a machine is on some day is nobody's error.
    """
    machine, began, good = contests.machine(), time.monotonic(), True
    print(", ".join(f"{name} {version}" for name, version in machine.items() if name != "machine"))
    print(machine["machine"])
    for name in names:
        about = one(name, rounds, quick, machine)
        good &= not about["error"]
        if out is not None:
            write(about, out)
    print(f"\n{len(names)} benchmarks in {time.monotonic() - began:.0f} s", end="")
    print(f", written to {write_page(out)}" if out is not None else "; --out DIR keeps them")
    return good


def one(name: str, rounds: int | None, quick: bool, machine: dict[str, str]) -> Row:
    """One benchmark: all that is known of it, and what went wrong, which does not stop the others."""
    module = benchmark(name)
    title, _, caption = (module.__doc__ or name).partition("\n")
    rounds = module.ROUNDS if rounds is None else rounds
    print(f"\n{name}: {title}  (best of {rounds} rounds at most{', quick' if quick else ''})")
    missing = [f"{peer} is not installed: skipped" for peer in module.PEERS if not contests.installed(peer)]
    for sentence in missing:
        print(f"  {sentence}")
    rows: list[Row] = []
    about = {
        "name": name,
        "title": title.strip(),
        "caption": caption.strip(),
        "rounds": rounds,
        "quick": quick,
        "versions": machine,
        "missing": missing,
        "error": "",
    }
    began = time.monotonic()
    try:
        for row in module.measure(rounds, quick):
            print("  " + ", ".join(f"{key} {text(value)}" for key, value in row.items()), flush=True)
            rows.append(row)
        asked = module.bars(rows)
    except Exception as error:
        traceback.print_exc()
        about["error"], asked = f"{type(error).__name__}: {error}", []
    for bar in asked:
        print(f"  > {bar.what}: {text(bar.measured)} ({limits(bar)}): {bar.verdict()}")
    verdicts = [{"what": b.what, "measured": b.measured, "limits": limits(b), "verdict": b.verdict()} for b in asked]
    return about | {"rows": rows, "bars": verdicts, "seconds": time.monotonic() - began}


def text(value: Any) -> str:
    """A number to three digits, a dash for none.

    >>> text(1234.5), text(0.12345), text(1e-9), text(10_000), text(float("nan")), text("disk")
    ('1234', '0.123', '1e-09', '10000', '-', 'disk')
    """
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def limits(bar: contests.Bar) -> str:
    sign = ">=" if bar.at_least else "<="
    return f"bar {sign} {bar.bar:g}" + (f", aim {bar.aim:g}" if bar.aim is not None else "")


def write(about: Row, out: Path) -> None:
    """The numbers and the plot of one benchmark."""
    from discrete_hamel import plots

    out.mkdir(parents=True, exist_ok=True)
    picture = out / f"{about['name']}.png"
    picture.unlink(missing_ok=True)
    if about["rows"] and not about["error"]:
        with plots.style():
            drawing = benchmark(about["name"]).draw(about["rows"])
        plots.save(drawing, picture)
    (out / f"{about['name']}.json").write_text(json.dumps(_finite(about), indent=1) + "\n", encoding="utf-8")


def _finite(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_page(out: Path, order: Sequence[str] = BENCHMARKS) -> Path:
    """OUT.md: what was asked and measured, then each benchmark that is in the folder OUT with its plot and table."""
    paths = [out / f"{name}.json" for name in order]
    found = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    where = out.with_suffix(".md")
    where.write_text(
        "\n".join([*head(found), *(line for about in found for line in section(about, out))]) + "\n", encoding="utf-8"
    )
    return where


def head(found: list[Row]) -> list[str]:
    """Title, machine, and the bars of all."""
    lines = [
        "# Speed",
        "",
        "As measured, written by `discrete-hamel bench --out docs/speed`; a bar that is missed says so.",
    ]
    for told in dict.fromkeys(", ".join(f"{k} {v}" for k, v in about["versions"].items()) for about in found):
        lines += ["", f"On {told}."]
    lines += ["", "What the project asks of itself:", ""]
    rows = [
        {"": bar["what"], "measured": bar["measured"], "asked": bar["limits"], " ": bar["verdict"]}
        for about in found
        for bar in about["bars"]
    ]
    return [*lines, *table(rows)]


def section(about: Row, out: Path) -> list[str]:
    """One benchmark of the page."""
    lines = ["", f"## {about['title']}", "", about["caption"]]
    how = (
        f"Best of at most {about['rounds']} rounds{' (quick)' if about['quick'] else ''}, all contestants taking turns"
    )
    lines += [
        "",
        f"{how}; `discrete-hamel bench {about['name']}`.",
        *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in about["missing"]),
    ]
    if about["error"]:
        return [*lines, "", f"It could not be run: {about['error']}"]
    if (out / f"{about['name']}.png").exists():
        lines += ["", f"![{about['title']}]({out.name}/{about['name']}.png)"]
    return [*lines, "", *table(about["rows"])]


def table(rows: Iterable[Row]) -> list[str]:
    """A Markdown table; the keys of the first row are its head.

    >>> table([{"a": 1, "b": 0.5}])
    ['| a | b |', '|---|---|', '| 1 | 0.5 |']
    """
    rows = list(rows)
    if not rows:
        return []
    lines = [list(rows[0]), ["---"] * len(rows[0])]
    lines += [["-" if value is None else text(value) for value in row.values()] for row in rows]
    first, rule, *rest = lines
    return [f"| {' | '.join(first)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(line)} |" for line in rest)]
