"""From the scalar graph of a traced function to formulas: quotients of polynomials, normal form by structure.

Every node becomes a quotient of polynomials over the rationals in the inputs and in what is no quotient: sines, powers
with other exponents, exponentials. Three relations make the form normal: sin^2 = 1 - cos^2, tan = sin / cos, and powers
of one base whose exponents differ by whole numbers. So no search for simplifications is needed: what is zero is 0.
"""

import operator
from collections.abc import Callable, Iterable
from fractions import Fraction

import sympy as sp
from sympy.polys.fields import FracElement, FracField
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyElement

from discrete_hamel.compiler.graph.expressions import Graph

MOST = 40  # terms of a polynomial that is factored
SMALL = 10**6  # denominators of the rationals that numbers are taken for
QUOTIENTS: dict[str, Callable] = {name: getattr(operator, name) for name in ("add", "sub", "mul", "neg")}
QUOTIENTS["div"] = operator.truediv
ROOTS = {"sqrt": Fraction(1, 2), "rsqrt": Fraction(-1, 2), "cbrt": Fraction(1, 3)}
IN_SYMPY: dict[str, Callable] = {
    "asin": sp.asin, "acos": sp.acos, "atan": sp.atan, "sinh": sp.sinh, "cosh": sp.cosh, "tanh": sp.tanh,
    "asinh": sp.asinh, "acosh": sp.acosh, "atanh": sp.atanh, "exp": sp.exp, "log": sp.log, "abs": sp.Abs,
    "sign": sp.sign, "floor": sp.floor, "ceil": sp.ceiling, "sin": sp.sin, "cos": sp.cos, "atan2": sp.atan2,
    "max": sp.Max, "min": sp.Min, "lt": sp.StrictLessThan, "le": sp.LessThan, "gt": sp.StrictGreaterThan,
    "ge": sp.GreaterThan, "eq": sp.Eq, "ne": sp.Ne,
    "stop_gradient": lambda x: x, "log1p": lambda x: sp.log(1 + x), "expm1": lambda x: sp.exp(x) - 1,
    "exp2": lambda x: 2**x, "logistic": lambda x: 1 / (1 + sp.exp(-x)),
    "select": lambda truth, a, b: sp.Piecewise((a, truth), (b, True)),
}  # fmt: skip


def number(value: float) -> Fraction:
    """The rational that a float stands for: one with a small denominator, if that rounds to it."""
    simple = Fraction(value).limit_denominator(SMALL)
    return simple if float(simple) == value else Fraction(value)


class Formulas:
    """The nodes of a graph as elements of one field of quotients; `symbol` names its inputs."""

    def __init__(self, graph: Graph, outputs: Iterable[int], symbol: Callable[[str], sp.Symbol]) -> None:
        self.graph = graph
        self.meaning: dict[sp.Symbol, sp.Expr] = {}  # what a generator that is no input stands for
        self.circles: list[tuple[int, int]] = []  # positions of the generators sin a, cos a
        self._roots: dict[int, tuple[FracElement, int]] = {}  # position of w, its base a, k: w^k = a
        self._powers: list[tuple[FracElement, FracElement, FracElement]] = []  # base, exponent, the power
        self._angles: dict[FracElement, tuple[FracElement, FracElement]] = {}
        needed = graph.dependencies(outputs)
        inputs = [graph.nodes[i][1] for i in needed if graph.nodes[i][0] == "input"]
        opaque = [i for i in needed if graph.nodes[i][0] not in (*QUOTIENTS, "const", "input")]
        names = [symbol(name) for name in inputs]
        names += [sp.Dummy(f"{kind}{i}") for i in opaque for kind in ("s", "c")]
        self.field = FracField(names or [sp.Dummy()], sp.QQ, lex)
        self._place = {name: k for k, name in enumerate(names)}
        self._spare = {i: names[len(inputs) + 2 * k : len(inputs) + 2 * k + 2] for k, i in enumerate(opaque)}
        self._inputs = dict(zip(inputs, names[: len(inputs)], strict=True))
        self.of: dict[int, FracElement] = {}
        for index in needed:
            self.of[index] = self._make(index)

    # --- from nodes ---

    def _generator(self, name: sp.Symbol) -> FracElement:
        return self.field.gens[self._place[name]]

    def _rational(self, value: Fraction) -> FracElement:
        return self.field.from_expr(sp.Rational(value.numerator, value.denominator))

    def _make(self, index: int) -> FracElement:
        operation, *rest = self.graph.nodes[index]
        if operation == "const":
            return self._rational(number(rest[0]))
        if operation == "input":
            return self._generator(self._inputs[rest[0]])
        values = [self.of[operand] for operand in rest]
        if operation in QUOTIENTS:
            return self.normal_form(QUOTIENTS[operation](*values))
        return self._opaque(operation, index, values)

    def _opaque(self, operation: str, index: int, values: list[FracElement]) -> FracElement:
        if operation in ("sin", "cos", "tan"):
            s, c = self._circle(index, values[0])
            return {"sin": s, "cos": c, "tan": s / c}[operation]
        if operation in ROOTS:
            return self._power(index, values[0], self._rational(ROOTS[operation]))
        if operation == "pow":
            return self._power(index, *values)
        name = self._spare[index][0]
        self.meaning[name] = IN_SYMPY[operation](*(self.expression(value) for value in values))
        return self._generator(name)

    def _circle(self, index: int, angle: FracElement) -> tuple[FracElement, FracElement]:
        if -angle in self._angles:
            s, c = self._angles[-angle]
            return -s, c
        if angle not in self._angles:
            names = self._spare[index]
            s, c = (self._generator(name) for name in names)
            written = self.expression(angle)
            self.meaning |= {names[0]: sp.sin(written), names[1]: sp.cos(written)}
            self.circles.append((self._place[names[0]], self._place[names[1]]))
            self._angles[angle] = s, c
        return self._angles[angle]

    def _power(self, index: int, base: FracElement, exponent: FracElement) -> FracElement:
        """base^exponent, by a power of the same base that is there already, if the exponents differ by a whole one."""
        for other, known, power in self._powers:
            steps = _whole(exponent - known) if other == base else None
            if steps is not None:
                return self.normal_form(power * base**steps)
        name = self._spare[index][0]
        power = self._generator(name)
        self.meaning[name] = self.expression(base) ** self.expression(exponent)
        self._powers.append((base, exponent, power))
        share = _constant(exponent)
        if share is not None and share.numerator in (1, -1):
            self._roots[self._place[name]] = (base if share > 0 else 1 / base, share.denominator)
        return power

    # --- the normal form ---

    def normal_form(self, value: FracElement, swapped: bool = False) -> FracElement:
        """The same with sin^2 = 1 - cos^2 (or cos^2 = 1 - sin^2) and w^k = a put in, and cancelled."""
        numerator, denominator = value.numer, value.denom
        for s, c in self.circles:
            high, low = (c, s) if swapped else (s, c)
            other = 1 - self.field.ring.gens[low] ** 2
            numerator, denominator = (_lower(part, high, 2, other) for part in (numerator, denominator))
        same = (numerator, denominator) == (value.numer, value.denom)
        result = value if same else _quotient(self, numerator, denominator)
        for place, (base, power) in self._roots.items():
            if any(monomial[place] >= power for part in (result.numer, result.denom) for monomial in part):
                parts = [_substitute(self, part, place, power, base) for part in (result.numer, result.denom)]
                result = self.normal_form(parts[0] / parts[1], swapped)
        return result

    # --- to SymPy ---

    def expression(self, value: FracElement, state: Iterable[sp.Symbol] = ()) -> sp.Expr:
        """A value as it is written: the sum over monomials of the symbols `state`, or one quotient, factored."""
        choices = [_write(self, self.normal_form(value, swapped), tuple(state)) for swapped in (False, True)]
        found = min(choices, key=sp.count_ops) if self.circles else choices[0]
        return sp.powsimp(found.xreplace(self.meaning)) if self._powers else found.xreplace(self.meaning)


def _quotient(formulas: Formulas, numerator: PolyElement, denominator: PolyElement) -> FracElement:
    return formulas.field.new(*numerator.cancel(denominator))


def _lower(polynomial: PolyElement, place: int, power: int, replacement: PolyElement) -> PolyElement:
    """The polynomial with g^power = replacement, g the generator at `place`."""
    ring = polynomial.ring
    if all(monomial[place] < power for monomial in polynomial):
        return polynomial
    result = ring.zero
    for monomial, coefficient in polynomial.items():
        times, rest = divmod(monomial[place], power)
        lower = (*monomial[:place], rest, *monomial[place + 1 :])
        result += ring.from_dict({lower: coefficient}) * replacement**times
    return result


def _substitute(formulas: Formulas, polynomial: PolyElement, place: int, power: int, base: FracElement) -> FracElement:
    """The same with a quotient as replacement."""
    result = formulas.field.zero
    for monomial, coefficient in polynomial.items():
        times, rest = divmod(monomial[place], power)
        lower = (*monomial[:place], rest, *monomial[place + 1 :])
        result += formulas.field.new(polynomial.ring.from_dict({lower: coefficient})) * base**times
    return result


def _constant(value: FracElement) -> Fraction | None:
    if not (value.numer.is_ground and value.denom.is_ground):
        return None
    quotient = value.numer.LC / value.denom.LC if value.numer else 0
    return Fraction(int(sp.QQ.numer(quotient)), int(sp.QQ.denom(quotient))) if quotient else Fraction(0)


def _whole(value: FracElement) -> int | None:
    constant = _constant(value)
    return int(constant) if constant is not None and constant.denominator == 1 else None


def _write(formulas: Formulas, value: FracElement, state: tuple[sp.Symbol, ...]) -> sp.Expr:
    places = [formulas._place[symbol] for symbol in state if symbol in formulas._place]
    if not places or any(monomial[place] for monomial in value.denom for place in places):
        return _factor(value)
    parts: dict[tuple, PolyElement] = {}
    for monomial, coefficient in value.numer.items():
        key = tuple(monomial[place] for place in places)
        rest = tuple(0 if place in places else power for place, power in enumerate(monomial))
        part = parts.setdefault(key, value.numer.ring.zero)
        parts[key] = part + value.numer.ring.from_dict({rest: coefficient})
    gens = formulas.field.symbols
    terms = []
    for key, part in parts.items():
        weight = sp.Mul(*(gens[place] ** power for place, power in zip(places, key, strict=True)))
        coefficient = formulas.normal_form(_quotient(formulas, part, value.denom))
        terms.append(weight * _factor(coefficient))
    return sp.Add(*terms)


def _factor(value: FracElement) -> sp.Expr:
    """Numerator over denominator, factored where they are short, and their common number in front."""
    (above, numerator), (below, denominator) = (_factors(part) for part in (value.numer, value.denom))
    return sp.Mul(above / below, numerator, 1 / denominator)


def _factors(polynomial: PolyElement) -> tuple[sp.Rational, sp.Expr]:
    """A number, and what it multiplies."""
    if not polynomial:
        return sp.Integer(0), sp.Integer(1)
    if len(polynomial) > MOST:
        content, rest = polynomial.primitive()
        return _in_sympy(content), rest.as_expr()
    content, factors = polynomial.factor_list()
    return _in_sympy(content), sp.Mul(*(factor.as_expr() ** power for factor, power in factors))


def _in_sympy(value: Fraction) -> sp.Rational:
    return sp.Rational(int(sp.QQ.numer(value)), int(sp.QQ.denom(value)))
