"""Prose with its formulas typeset: what captions and claims write in plain letters, as HTML with MathML.

    >>> typeset("the step keeps p1^2 + gamma' < 1e-13 of it")  # doctest: +ELLIPSIS
    'the step keeps <math><mrow><msup><msub><mi>p</mi>...<mn>10</mn>...</math> of it'
    >>> typeset("a disk & a plane, as it stands")
    'a disk &amp; a plane, as it stands'

A formula is a longest run of numbers, letters, operators and brackets that has in it what prose has not: a Greek name,
a power, an index, a prime, a function, an exponent of ten, or a letter beside an operator. Words end it.
"""

import html
import re
from collections.abc import Sequence
from typing import NamedTuple

FUNCTIONS = {"sqrt", "sin", "cos", "tan", "cot", "tanh", "cosh", "sinh", "log", "exp", "arctan", "cay", "det"}
INDICES = frozenset("abcijkqstv")  # no word that is an index is made of these alone
UNITS = "kg|cm|mm|mJ|ms|ns|rad|deg|Hz|m|s|g|J|N"
SIGNS = {"+-": "±", "->": "→", "<=": "≤", ">=": "≥", "!=": "≠", "*": "·", "-": "−"}
ARTICLES = {"a", "A", "I"}
SHORT, LONG = 24, 40  # letters of a formula that is not broken into lines; of one that scrolls where there is no room
DIFFERENTIALS = {"dl", "dq", "dr", "ds", "dt", "dx", "dy"}
OPENING, CLOSING = "([{", ")]}"

TOKENS = re.compile(
    r"(?P<figure>(?<=figure )\d+[a-z]\b)|(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
    r"|(?P<word>[A-Za-z]+['’]s\b|Ctrl-C|[Dd]['’]Alembert(?:['’]s)?\b)"
    r"|(?P<name>[A-Za-z]+\d*(?:_\{[^}]*\}|_[A-Za-z0-9]+)?'*)"
    r"|(?P<operator>\+-|->|<=|>=|!=|[-+*/=<>^|])"
    r"|(?P<bracket>[()\[\]{}])"
    r"|(?P<space> +)"
    r"|(?P<other>.)",
    re.DOTALL,
)
MEASURE = re.compile(rf"(?:{UNITS})(?:\^\d)?(?:\s?(?:{UNITS})(?:\^\d)?)*(?:/(?:{UNITS})(?:\^\d)?)?(?![A-Za-z0-9_^'(])")
NAME = re.compile(r"([A-Za-z]+?)(\d*)(?:_\{([^}]*)\}|_([A-Za-z0-9]+))?('*)$")


class Token(NamedTuple):
    """A piece of text; `strong` if it cannot be prose, `atom` if it may stand in a formula for a quantity."""

    kind: str
    text: str

    @property
    def stem(self) -> str:
        return NAME.match(self.text)[1] if self.kind == "name" else ""  # type: ignore[index]

    @property
    def atom(self) -> bool:
        return self.kind in ("number", "unit") or (self.kind == "name" and _quantity(self.stem))

    @property
    def strong(self) -> bool:
        if self.kind == "number":
            return "e" in self.text
        if self.kind == "unit":
            return "^" in self.text
        many = bool(greek(self.stem) or rate(self.stem)) or self.stem in FUNCTIONS or self.text != self.stem
        return self.atom and self.kind == "name" and many or self.text in ("^", "+-")


def greek(name: str) -> str:
    """The Greek letter of this name, or nothing.

    >>> greek("xi"), greek("Omega"), greek("disk")
    ('ξ', 'Ω', '')
    """
    letter = "ε" if name == "eps" else html.unescape(f"&{name};")
    return letter if len(letter) == 1 and "Α" <= letter <= "ω" else ""


def rate(name: str) -> tuple[str, ...]:
    """The letter of a rate, and its dots; nothing of another name.

    >>> rate("qdot"), rate("xidot"), rate("anecdote")
    (('q', '˙'), ('ξ', '˙'), ())
    """
    found = re.fullmatch(r"([A-Za-z]+?)(d?)dot", name)
    letter = (greek(found[1]) or found[1]) if found else ""
    return (letter, "¨" if found and found[2] else "˙") if len(letter) == 1 else ()


def _quantity(stem: str) -> bool:
    """Whether a name is a letter, a Greek letter, a rate, a function, or the differential of a letter."""
    differential = stem in DIFFERENTIALS or (stem[:1] == "d" and bool(greek(stem[1:])))
    return len(stem) == 1 or bool(greek(stem) or rate(stem)) or stem in FUNCTIONS or differential


def typeset(text: str) -> str:
    """The text as HTML, its formulas as MathML."""
    tokens, made, at = _tokens(text), [], 0
    while at < len(tokens):
        run = _run(tokens, at)
        made.append("<wbr>".join(map(_formula, _parts(run))) or html.escape(tokens[at].text))
        at += max(len(run), 1)
    # A tolerance in brackets stays on one line with them.
    return re.sub(r"\((<math>(?:(?!</math>).)*</math>)\)", r'<span class="whole">(\1)</span>', "".join(made))


def _formula(run: Sequence[Token]) -> str:
    """A run of tokens as MathML; one that may be wider than a narrow page in a box of its own, which scrolls."""
    formula = f"<math>{_row(run)}</math>"
    return f'<span class="long">{formula}</span>' if sum(len(token.text) for token in run) > LONG else formula


def _parts(run: Sequence[Token]) -> list[Sequence[Token]]:
    """A formula whole, or if it is long the parts between which a line may end: after operators outside of brackets."""
    if sum(len(token.text) for token in run) <= SHORT:
        return [run] if run else []
    depth, cuts = 0, [0]
    for place, token in enumerate(run[:-1]):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if not depth and place > cuts[-1] and token.text in ("=", "<", ">", "<=", ">=", "+", "-"):
            cuts.append(place + 1)
    return [run[i:j] for i, j in zip(cuts, [*cuts[1:], len(run)], strict=True)]


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    at = 0
    while at < len(text):
        measure = MEASURE.match(text, at)
        numbered = len(found) > 1 and found[-1].kind == "space" and found[-2].kind == "number"
        if measure and (numbered or "/" in measure[0]) and not (at and text[at - 1].isalnum()):
            found.append(Token("unit", measure[0]))
            at = measure.end()
            continue
        match = TOKENS.match(text, at)
        assert match  # `other` takes what no one else does
        found.append(Token(match.lastgroup or "other", match[0]))
        at = match.end()
    return found


def _run(tokens: Sequence[Token], at: int) -> Sequence[Token]:
    """The longest formula that begins here; none if no formula does."""
    after = tokens[at + 2].kind if at + 2 < len(tokens) and tokens[at + 1].kind == "space" else ""
    article = tokens[at].text in ARTICLES and after not in ("", "operator", "bracket")
    if tokens[at].kind == "space" or article:
        return ()
    end = at
    while end < len(tokens) and (tokens[end].atom or tokens[end].kind in ("operator", "bracket", "space")):
        if tokens[end].kind == "space" and _remark(tokens, end + 1):
            break
        end += 1
    for last in range(end, at, -1):
        run = tokens[at:last]
        if _complete(run) and _telling(run):
            return run
    return ()


def _remark(tokens: Sequence[Token], at: int) -> bool:
    """Whether a bracket with one number begins here, such as a tolerance: no factor of what stands before it."""
    if at >= len(tokens) or tokens[at].text != "(":
        return False
    inside = at + 1
    while inside < len(tokens) and tokens[inside].kind in ("number", "unit", "space"):
        inside += 1
    return inside > at + 1 and inside < len(tokens) and tokens[inside].text in ("),;:")


def _complete(run: Sequence[Token]) -> bool:
    """Brackets and bars match, and the ends are quantities."""
    depth = 0
    for token in run:
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth < 0:
            return False
    first, last = run[0], run[-1]
    bars = sum(token.text == "|" for token in run)
    starts = (first.atom and first.kind != "unit") or first.text in OPENING or first.text in ("-", "+-", "|")
    ends = last.atom or last.text in CLOSING or last.text == "|"
    if last.text in ARTICLES and len(run) > 2 and run[-2].kind == "space" and run[-3].atom:
        ends = False  # "with h a quarter"
    if first.text == "(" and last.text == ")" and not any(token.text in ("/", "^", "=") for token in run[1:-1]):
        starts = False  # prose in brackets: they stay outside
    return not depth and not bars % 2 and starts and ends


def _telling(run: Sequence[Token]) -> bool:
    """Whether prose would not be written so."""
    if any(token.strong for token in run):
        return True
    letters = [token for token in run if token.kind == "name"]
    if len(run) == 1:
        return bool(letters) and run[0].text not in ARTICLES
    signs = [token for token in run if token.kind == "operator" and token.text not in "-|"]
    return bool(letters) and (
        bool(signs) or len(letters) == 1 and run[-1].kind == "name" and run[-1].text not in ARTICLES
    )


def _row(tokens: Sequence[Token]) -> str:
    """A run of tokens, powers and roots with what they belong to."""
    parts: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.text == "^":
            index = NAME.match(tokens[at + 1].text) if tokens[at + 1].kind == "name" else None
            if index and index[4]:  # c^k_ij
                parts[-1] = f"<msubsup>{parts[-1]}{_word(index[4])}{_letter(index[1] + index[2])}</msubsup>"
                at += 2
                continue
            power, at = _piece(tokens, at + 1)
            power = power.removeprefix("<mrow>" + _fence("{")).removesuffix(_fence("}") + "</mrow>")  # A^{-1}
            parts[-1] = f"<msup>{parts[-1]}{power}</msup>"
        elif token.kind == "space":
            if parts and at + 1 < len(tokens) and "unit" in (tokens[at - 1].kind, tokens[at + 1].kind):
                parts.append('<mspace width="0.2em"/>')
            elif parts and tokens[at - 1].atom and tokens[at + 1].atom:
                parts.append('<mspace width="0.15em"/>')
            at += 1
        else:
            piece, at = _piece(tokens, at)
            parts.append(piece)
    return f"<mrow>{''.join(parts)}</mrow>"


def _piece(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """What stands at a place, brackets with all that is in them, and the place after it."""
    token = tokens[at]
    if token.text == "sqrt":
        after = at + 1 + (tokens[at + 1 : at + 2] == [Token("space", " ")])
        if after < len(tokens):
            inner, after = _piece(tokens, after)
            return (
                f"<msqrt>{inner.removeprefix('<mrow>' + _fence('(')).removesuffix(_fence(')') + '</mrow>')}</msqrt>",
                after,
            )
    if token.kind == "bracket":
        depth, end = 1, at + 1
        while depth:
            depth += (tokens[end].text in OPENING) - (tokens[end].text in CLOSING)
            end += 1
        closing = tokens[end - 1].text
        return f"<mrow>{_fence(token.text)}{_row(tokens[at + 1 : end - 1])}{_fence(closing)}</mrow>", end
    if token.kind == "operator" and token.text in ("-", "+") and at + 1 < len(tokens) and tokens[at - 1].text == "^":
        inner, end = _piece(tokens, at + 1)
        return f"<mrow><mo>{SIGNS.get(token.text, token.text)}</mo>{inner}</mrow>", end
    return _single(token), at + 1


def _fence(bracket: str) -> str:
    return f'<mo stretchy="false">{bracket}</mo>'


def _single(token: Token) -> str:
    if token.kind == "number":
        mantissa, _, exponent = token.text.partition("e")
        if not exponent:
            return f"<mn>{token.text}</mn>"
        power = f"<msup><mn>10</mn><mn>{str(int(exponent)).replace('-', '−')}</mn></msup>"
        return power if mantissa == "1" else f"<mrow><mn>{mantissa}</mn><mo>·</mo>{power}</mrow>"
    if token.kind == "unit":
        return f"<mtext>{token.text.replace('^2', '²').replace('^3', '³')}</mtext>"
    if token.kind != "name":
        return f"<mo>{html.escape(SIGNS.get(token.text, token.text))}</mo>"
    return _letter(token.text)


def _letter(text: str) -> str:
    """A quantity's name: its letter, index and primes."""
    stem, digits, braced, plain, primes = NAME.match(text).groups()  # type: ignore[union-attr]
    if stem in FUNCTIONS:
        return f"<mi>{stem}</mi>"
    letter = "".join(f"<mi>{part}</mi>" for part in _letters(stem))
    letter = letter if letter.count("<mi>") == 1 else f"<mrow>{letter}</mrow>"
    if rate(stem):
        letter = "<mover><mi>{}</mi><mo>{}</mo></mover>".format(*rate(stem))
    index = digits or braced or plain or ""
    below = _row(_tokens(index)) if braced else _word(index) if plain else f"<mn>{index}</mn>"
    above = f"<mo>{'′' * len(primes)}</mo>"
    if index and primes:
        return f"<msubsup>{letter}{below}{above}</msubsup>"
    if index:
        return f"<msub>{letter}{below}</msub>"
    return f"<msup>{letter}{above}</msup>" if primes else letter


def _word(index: str) -> str:
    """An index: a letter, a word (MathML draws it upright), or several letters side by side, as in c_ij and L_vv."""
    if len(index) > 1 and set(index) <= INDICES:
        return f"<mrow>{''.join(f'<mi>{letter}</mi>' for letter in index)}</mrow>"
    return f"<mi>{greek(index) or index}</mi>"


def _letters(stem: str) -> list[str]:
    if bool(greek(stem)) or len(stem) == 1:
        return [greek(stem) or stem]
    return ["d", greek(stem[1:]) or stem[1:]]
