"""Each of the README's Python blocks runs as written, without the others, and prints the text block that follows it.

Also a script, `python tests/test_readme.py README.md`, where there is no pytest.
"""

import contextlib
import io
import re
import sys
from collections.abc import Iterable
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def blocks(text: str) -> list[tuple[str, str]]:
    """(code, expected output) of each python block; its output is the text block that follows it at once, if any."""
    pattern = r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?"
    return [(code, output or "") for code, output in re.findall(pattern, text, flags=re.DOTALL | re.MULTILINE)]


def printed(codes: list[str]) -> list[str]:
    """What each of several blocks prints, all run in one namespace."""
    namespace: dict = {"__name__": "readme"}
    outputs = []
    for number, code in enumerate(codes, start=1):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, f"README block {number}", "exec"), namespace)
        outputs.append(out.getvalue())
    return outputs


def alone(codes: Iterable[str]) -> list[str]:
    """What blocks print that are run each by itself: a reader of the README copies the one that is theirs."""
    return [printed([code])[0] for code in codes]


def test_blocks_print_what_the_readme_shows():
    codes, expected = zip(*blocks(README.read_text(encoding="utf-8")), strict=True)
    assert len(codes) == 3
    assert all(expected), "a block without shown output would go unchecked"
    assert alone(codes) == list(expected)
    lines = [
        sum(bool(line.strip()) and not line.startswith(("import ", "from ")) for line in code.splitlines())
        for code in codes
    ]
    assert max(lines) <= 10, "ten lines each"


def test_a_wrong_output_would_be_noticed():
    ((code, expected),) = blocks("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    assert printed([code]) != [expected]


def test_the_picture_and_the_files_named_exist():
    text = README.read_text(encoding="utf-8")
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert pictures
    for name in [*pictures, "CHANGELOG.md", "CITATION.cff", "LICENSE", ".ci/run", "Makefile"]:
        assert (README.parent / name).is_file(), name
        assert name == "LICENSE" or name in text or name == "Makefile"


def test_make_knows_the_commands_of_the_readme():
    targets = set(re.findall(r"^([\w-]+):", (README.parent / "Makefile").read_text(), flags=re.MULTILINE))
    asked = set(re.findall(r"(?:^|`)make ([\w-]+)", README.read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert {"figures", "test"} <= asked
    assert asked <= targets


def main(path: str) -> int:
    """Run the blocks and say so; 1 if an output is not what the README shows."""
    import discrete_hamel

    print(f"discrete_hamel from {Path(discrete_hamel.__file__).parent}")
    codes, expected = zip(*blocks(Path(path).read_text(encoding="utf-8")), strict=True)
    status = 0
    for number, (got, want) in enumerate(zip(alone(codes), expected, strict=True), start=1):
        print(f"block {number}: {'as shown' if got == want else 'DIFFERENT'}\n{got}")
        status |= got != want
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
