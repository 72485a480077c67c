"""The reference: an entry for each public name, made from its signature, its docstring and the code that it calls."""

import ast
import enum
import functools
import html
import inspect
import re
import textwrap
import types
import typing
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path

from arguments import ARGUMENTS
from docstrings import highlighted, page_of, prose

import discrete_hamel as dh

ROOT = Path(__file__).parents[2]
PARTS = ("mechanisms", "groups", "fields", "schemes", "analysis", "testing", "plots", "animate")  # modules of their own
WRONG = [name for names in dh.THEMES["what can go wrong"].values() for name in names]
SHOWN = (Path(__file__).parent / "examples.txt").read_text(encoding="utf-8")
EXAMPLES = dict(  # of what has none in its docstring, by name; tests/test_site.py runs them
    re.findall(r"^# (\S+)\n(.*?)(?=^# |\Z)", SHOWN, re.DOTALL | re.MULTILINE)
)
DEEP = 4  # calls that are followed to find what a function raises
Links = Mapping[str, str]
Pages = dict[str, tuple[str, list[str], types.ModuleType]]


def pages() -> Pages:
    """Title, names and module of each page of the reference, by the page's name."""
    themes = {theme: [name for names in modules.values() for name in names] for theme, modules in dh.THEMES.items()}
    found: Pages = {
        f"{k + 1}-{slug(theme)}": (_titled(theme), names, dh) for k, (theme, names) in enumerate(themes.items())
    }
    at_top = {name for names in themes.values() for name in names}
    for part in PARTS:
        if part in dh.MODULES:
            module = getattr(dh, part)
            own = at_top if part in ("schemes", "analysis") else set()
            names = [name for name in module.__all__ if _documented(module, name) and name not in own]
            found[part] = (f"dh.{part}", names, module)
    return found


def links(found: Pages) -> dict[str, str]:
    """The address of each entry inside the folder of the reference, by its name: `simulate`, `mechanisms.Body`."""
    return {
        (name if owner is dh else f"{page}.{name}"): f"{page}.html#{anchor(owner, name)}"
        for page, (_, names, owner) in found.items()
        for name in names
    }


def public(owner: types.ModuleType) -> str:
    """What a reader writes for a module, whatever the name of its folder: dh, dh.animate."""
    return next((f"dh.{name}" for name in dh.MODULES if getattr(dh, name) is owner), "dh")


def anchor(owner: types.ModuleType, name: str) -> str:
    """The place of an entry on its page."""
    kind = "-class" if inspect.isclass(getattr(owner, name)) else ""  # Mechanism and mechanism are two entries
    whole = f"{public(owner).removeprefix('dh.')}-{name}{kind}"
    return whole.lower().replace("_", "-").strip("-")  # as Sphinx writes it


def entry(owner: types.ModuleType, name: str, addresses: Links, used: Mapping[str, Sequence[str]]) -> str:
    """A heading, the signature, the docstring; arguments, what is returned and raised, and where to look further."""
    thing = getattr(owner, name)
    called = f"{public(owner)}.{name}"
    parts = [f"({anchor(owner, name)})=\n## {called}\n"]
    if _called(thing):
        parts.append(raw(highlighted(f"{called}{signature(thing)}", "python")))
    parts.append(raw(page_of(inspect.getdoc(thing) or "", addresses)))
    if _values(thing):
        rows = [f"<dt><code>.{value.name}</code></dt><dd>{_escaped(value.value)}</dd>" for value in _values(thing)]
        parts.append(raw(f'<p class="part">Values</p><dl class="members">{"".join(rows)}</dl>'))
    if _called(thing):
        parts.append(raw("".join([arguments(thing, addresses), returns(thing, addresses), raises(thing, addresses)])))
    if inspect.isclass(thing) and not _error(thing):
        own = [n for n, member in vars(thing).items() if not n.startswith("_") and inspect.getdoc(member)]
        own = [n for n in own if not isinstance(getattr(vars(thing)[n], "fget", None), attrgetter)]  # another's: `of`
        members = [(n, inspect.getattr_static(thing, n)) for n in own]
        rows = [
            _member(n, member, addresses) for n, member in members if callable(member) or isinstance(member, property)
        ]
        if rows:
            parts.append(raw(f'<p class="part">Members</p><dl class="members">{"".join(rows)}</dl>'))
    if shown := EXAMPLES.get(called):
        parts.append(raw(highlighted(shown.strip(), "pycon")))
    elif (maker := made_by(owner, name)) and ">>>" not in (inspect.getdoc(thing) or ""):
        parts.append(f"Example: see [`dh.{maker}`]({addresses[maker].replace('.html', '.md')}), which returns it.\n")
    parts.append(see_also(owner, name, addresses, used))
    return "\n".join(parts)


def made_by(owner: types.ModuleType, name: str) -> str:
    """The function with an example that returns this class, or "": where a result is shown."""
    for maker in [*dh.__all__, *(f"{public(owner).removeprefix('dh.')}.{n}" for n in getattr(owner, "__all__", ()))]:
        thing = getattr(owner if "." in maker else dh, maker.rpartition(".")[2])
        if inspect.isfunction(thing) and ">>>" in (inspect.getdoc(thing) or ""):
            given = inspect.signature(thing).return_annotation
            if re.search(rf"\b{name}\b", given if isinstance(given, str) else inspect.formatannotation(given)):
                return maker
    return ""


# --- what an entry says of a call ---


def arguments(thing: object, addresses: Links) -> str:
    """A table: name, type and shape, default, what it is."""
    rows = []
    for parameter in _parameters(thing):
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f" = {_short(parameter.default)}"
        kind = "" if parameter.annotation is parameter.empty else _escaped(_last_names(parameter.annotation))
        meaning = prose(_meaning(thing, parameter.name), addresses)
        rows.append(
            f"<tr><th scope='row'><code>{stars}{parameter.name}{_escaped(default)}</code></th>"
            f"<td><code>{kind}</code></td><td>{meaning or 'see above'}</td></tr>"
        )
    if not rows:
        return ""
    head = "<thead><tr><th scope='col'>argument</th><th scope='col'>type</th><th scope='col'></th></tr></thead>"
    return f"<table class='arguments'>{head}<tbody>{''.join(rows)}</tbody></table>"


def _meaning(thing: object, name: str) -> str:
    """What an argument of this call is: what is said of it alone, the comment beside a field, what it is everywhere."""
    own = ARGUMENTS.get(f"{getattr(thing, '__name__', '')}.{name}") or _comment(thing, name) * inspect.isclass(thing)
    return own or ARGUMENTS.get(name) or _comment(thing, name) * (not _said(thing, name))


def unexplained(thing: object) -> list[str]:
    """Arguments of which neither the docstring nor `ARGUMENTS` nor a comment says anything."""
    if not _called(thing):
        return []
    return [p.name for p in _parameters(thing) if not _meaning(thing, p.name) and not _said(thing, p.name)]


def returns(thing: object, addresses: Links) -> str:
    """What comes back, by its annotation, with the first sentence of the class that it is."""
    if inspect.isclass(thing):
        return ""
    try:
        given = inspect.signature(thing).return_annotation  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    if given is inspect.Signature.empty:
        return ""
    shown = _escaped(_last_names(given))
    address = addresses.get(shown) or addresses.get(f"analysis.{shown}") or addresses.get(f"schemes.{shown}")
    linked = f'<a href="{address}"><code>{shown}</code></a>' if address else f"<code>{shown}</code>"
    about = inspect.getdoc(given) if inspect.isclass(given) and given.__module__.startswith("discrete_hamel") else ""
    first = re.split(r"(?<=\.)\s|\n\n", about or "")[0]
    return f"<p><span class='part'>Returns</span> {linked}{': ' + prose(first, addresses) if first else ''}</p>"


def raises(thing: object, addresses: Links) -> str:
    """The public exceptions that it, or what it calls, raises."""
    found = [name for name in WRONG if name in raised(thing)]
    if not found:
        return ""
    shown = ", ".join(f'<a href="{addresses.get(name, "")}"><code>{name}</code></a>' for name in found)
    return f"<p><span class='part'>Raises</span> {shown}</p>"


def raised(thing: object) -> set[str]:
    """Names of the exceptions that a function makes, and those of the package that it calls."""
    seen: set[int] = set()
    found: set[str] = set()

    def visit(function: object, depth: int) -> None:
        function = inspect.unwrap(function) if callable(function) else function
        if inspect.isclass(function):
            for name in ("__init__", "__post_init__", "__new__", "check"):
                if name in vars(function):
                    visit(vars(function)[name], depth)
            return
        code = getattr(function, "__code__", None)
        if code is None or id(code) in seen or not getattr(function, "__module__", "").startswith("discrete_hamel"):
            return
        seen.add(id(code))
        thrown, called = _names(function)
        found.update(thrown)
        if depth:
            for name in called:
                first, _, last = name.partition(".")
                thing = function.__globals__.get(first)
                visit(getattr(thing, last, None) if last else thing, depth - 1)

    visit(thing, DEEP)
    return found


@functools.cache
def _names(function: types.FunctionType) -> tuple[frozenset[str], frozenset[str]]:
    """Names that a function's source calls, as an exception is where it is raised; and those with their modules'."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):
        return frozenset(), frozenset()
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = {call.id for call in calls if isinstance(call, ast.Name)}
    dotted = {f"{call.value.id}.{call.attr}" for call in calls if _of_module(call, function)}
    return frozenset(named), frozenset(named | dotted)


def _of_module(call: ast.expr, function: types.FunctionType) -> bool:
    """Whether this is the function of a module, `loop.run`."""
    named = isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name)
    return named and inspect.ismodule(function.__globals__.get(call.value.id))


def see_also(owner: types.ModuleType, name: str, addresses: Links, used: Mapping[str, Sequence[str]]) -> str:
    """Names that its docstring names, its neighbours, and the pages in which it stands."""
    text = inspect.getdoc(getattr(owner, name)) or ""
    named = [n.removeprefix("dh.") for n in re.findall(r"`([\w.]+)`", text)]
    near = next((names for group in dh.THEMES.values() for names in group.values() if name in names), ())
    page = public(owner).removeprefix("dh.")
    if owner is not dh:  # a module of its own: those that stand beside it there
        known = [n for n in owner.__all__ if f"{page}.{n}" in addresses]
        place = known.index(name) if name in known else 0
        near = tuple(f"{page}.{n}" for n in known[max(0, place - 3) : place + 4] if n != name)
    others = [n for n in dict.fromkeys([*named, *near[:8]]) if n != name and n in addresses]
    parts = [f"[`dh.{n}`]({addresses[n].replace('.html', '.md')})" for n in others]
    parts += [f"[{_title(page)}]({_relative(page)})" for page in used.get(name, ())[:6]]
    return f"See also: {', '.join(parts)}.\n" if parts else ""


# --- where names are used ---


def mentions(files: Sequence[Path], names: Sequence[str]) -> dict[str, list[str]]:
    """The pages, relative to docs/, in which each name stands as code: dh.name, or `name` in backticks."""
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    words = {
        path: set(re.findall(r"\bdh\.(?:\w+\.)*(\w+)|`(\w+)[`(]", text.replace('\\"', '"')))
        for path, text in texts.items()
    }
    flat = {path: {word for pair in found for word in pair if word} for path, found in words.items()}
    return {name: [str(path) for path in files if name in flat[path]] for name in names}


@functools.cache
def _title(page: str) -> str:
    if Path(page).name == "README.md":
        return "Start"
    text = Path(page).read_text(encoding="utf-8")
    found = re.search(r'^#+ (.+?)$|"# (.+?)(?:\\n)?"', text, re.MULTILINE)
    return next((part for part in found.groups() if part), page) if found else Path(page).stem


def _relative(page: str) -> str:
    path = Path(page).relative_to(ROOT)
    if path.parts[0] == "notebooks":
        return f"../tutorial/{path.name}"
    if path.name == "README.md":
        return "../start.md"
    return f"../../{path.relative_to('docs')}"


# --- signatures ---


def signature(thing: object) -> str:
    """As one reads it: types by their last name."""
    try:
        shown = re.sub(r"= '([^']*)'", r'= "\1"', str(inspect.signature(thing)))  # type: ignore[arg-type]
        return _last_names(shown)  # the quotes of annotations go, and those of defaults stay
    except (TypeError, ValueError):
        return "(...)"


def _last_names(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = (
        re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_]\w*)", "", text).replace("'", "").replace("*<class Words>", "Words")
    ).replace("~", "")
    return re.sub(r"<[^<>]* at 0x[0-9a-f]+>", "...", text)


def _parameters(thing: object) -> list[inspect.Parameter]:
    try:
        found = list(inspect.signature(thing).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
    return [parameter for parameter in found if parameter.name not in ("self", "args", "kwargs")]


def _said(thing: object, name: str) -> bool:
    """Whether the words of its docstring say it: an example that uses it does not explain it."""
    words = re.sub(r"^\s*(>>>|\.\.\.).*$", "", inspect.getdoc(thing) or "", flags=re.MULTILINE)
    return bool(re.search(rf"\b{re.escape(name)}\b", words))


@functools.cache
def _comment(thing: object, name: str) -> str:
    """The comment beside a field of a class, or of one that it is made from; or beside an argument."""
    for kind in inspect.getmro(thing) if inspect.isclass(thing) else (thing,):
        try:
            source = inspect.getsource(kind)  # type: ignore[arg-type]
        except (OSError, TypeError):
            continue
        if found := re.search(rf"^\s+{re.escape(name)}\b[^#\n]*#\s*(.+)$", source, re.MULTILINE):
            return found[1]
    return ""


def _short(default: object) -> str:
    text = default.__name__ if callable(default) and hasattr(default, "__name__") else repr(default)
    return _last_names(text)


def _member(name: str, member: object, addresses: Links) -> str:
    call = "" if isinstance(member, property) else signature(member)
    return f"<dt><code>.{name}{_escaped(call)}</code></dt><dd>{page_of(inspect.getdoc(member) or '', addresses)}</dd>"


def _called(thing: object) -> bool:
    """Whether a reader calls it: not an error, nor what is one of a few values."""
    return callable(thing) and not _error(thing) and not _values(thing)


def _values(thing: object) -> list[enum.Enum]:
    return list(thing) if isinstance(thing, enum.EnumType) else []


def _error(thing: object) -> bool:
    return inspect.isclass(thing) and issubclass(thing, BaseException)


def _documented(module: types.ModuleType, name: str) -> bool:
    thing = getattr(module, name)
    return callable(thing) and not typing.get_origin(thing) and bool(inspect.getdoc(thing))


def _titled(theme: str) -> str:
    return theme[0].upper() + theme[1:]


def slug(text: str) -> str:
    """A name for a file."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def raw(text: str) -> str:
    """HTML as a piece of a page."""
    return f"```{{raw}} html\n{text}\n```\n" if text else ""


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)
