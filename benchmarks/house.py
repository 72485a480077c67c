"""The house in numbers, then and now: python -m benchmarks.house [commit ...]

For each commit, and the files as they are here: lines and files of the package, mean and longest, modules with at most
one importer and those named by a one-word plural, and pairs of places that share six lines, to the letter and in shape,
where the command `duplicates` is.
"""

import ast
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
BEFORE_THE_MOVE = "89392dd"


def importers(root: Path) -> Counter[str]:
    """How many other modules of the package import each of its modules, wherever in their text."""
    package = root / "discrete_hamel"
    paths = {".".join(path.relative_to(root).with_suffix("").parts): path for path in package.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    count = Counter(dict.fromkeys((name for name, path in modules.items() if path.name != "__init__.py"), 0))
    for name, path in modules.items():
        found = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:  # relative: the package that the file lies in, or one above
                    here = name if path.name == "__init__.py" else name.rpartition(".")[0]
                    base = ".".join(
                        [*here.split(".")[: len(here.split(".")) - node.level + 1], *base.split(".")]
                    ).strip(".")
                found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        count.update((found & count.keys()) - {name})
    return count


def duplicates(root: Path) -> str:
    """Pairs in the package, in all and of these to the letter; the command is not everywhere."""
    if not shutil.which("duplicates"):
        return "-"
    command = ["duplicates", "--most", "200", "--seconds", "120", "--repo", str(root / "discrete_hamel")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if found := re.match(r"(\d+) pairs?.*?\((\d+) by shape alone(?:, (\d+) of those marked boilerplate)?", said):
        pairs, shape, thin = (int(number or 0) for number in found.groups())
        return f"{pairs} ({pairs - shape} to the letter, {shape - thin} in shape, {thin} boilerplate)"
    return said.splitlines()[0]


def report(title: str, root: Path) -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in (root / "discrete_hamel").rglob("*.py")}
    modules = {path: count for path, count in lengths.items() if path.name != "__init__.py"}
    count = importers(root)
    alone = sum(number <= 1 for number in count.values())
    print(f"{title}: {sum(lengths.values())} lines in {len(lengths)} files, {len(modules)} of them modules")
    mean = sum(modules.values()) / len(modules)
    print(f"  a module: mean {mean:.0f} lines, longest {max(modules.values())}")
    plural = sorted(path.stem for path in modules if re.fullmatch("[a-z]+[^isu]s", path.stem))
    print(f"  named by a one-word plural: {len(plural)}: {' '.join(plural)}")
    print(f"  below 100 lines: {sum(number < 100 for number in modules.values())}")
    print(f"  at most one importer: {alone} of {len(count)} ({100 * alone / len(count):.0f} %)")
    print(f"  pairs that share six lines: {duplicates(root)}", flush=True)


def unpack(commit: str, folder: Path) -> None:
    """The package as it was at a commit."""
    command = ["git", "archive", f"{commit}^{{commit}}", "discrete_hamel"]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True)
    if packed.returncode:
        raise SystemExit(f"{commit} is no commit that is here: {packed.stderr.decode().strip()}")
    subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)


def main() -> None:
    for commit in sys.argv[1:] or [BEFORE_THE_MOVE]:
        with tempfile.TemporaryDirectory() as folder:
            unpack(commit, Path(folder))
            report(commit, Path(folder))
    report("here", ROOT)


if __name__ == "__main__":
    main()
