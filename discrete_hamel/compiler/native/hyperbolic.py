"""tanh in LLVM's instructions, of one number or of several at once: E/(E + 2), E = exp(2|x|) - 1, and the sign of x.

exp(y) - 1 = 2^k (exp(r) - 1) + 2^k - 1 with r = y - k log 2 in two parts, and exp(r) - 1 by its power series, whose
terms beyond the thirteenth are below 2e-17 of it for |r| <= log(2)/2. The error is below 5e-16 of tanh, as the C
library's is, which takes several times as long where sixteen can be had at once: the units of a network's layer.
"""

import math

from discrete_hamel.compiler.native.instructions import GROUP, Code, Kind

ONE_OVER_LOG2 = 1.44269504088896338700
PARTS = (6.93147180369123816490e-01, 1.90821492927058770002e-10)  # of log 2, fdlibm's: k times the first is exact
LAST = 60.0  # 2|x| from which on tanh is 1
SHIFT = 1.5 * 2.0**52  # x + SHIFT has the whole number next to x in its last bits
SERIES = tuple(1 / math.factorial(n) for n in range(2, 14))


def hyperbolic(kind: Kind) -> str:
    """The functions `kind.hyperbolic`, double -> tanh, and where values are single numbers that of GROUP of them."""
    if kind.lanes > 1:
        return _function(kind, kind.hyperbolic)
    several = Kind(kind.fused, GROUP)
    return several.intrinsics() + _function(several, several.hyperbolic) + _function(kind, kind.hyperbolic)


def _function(kind: Kind, name: str) -> str:
    code, one, whole = Code(kind), kind.double, kind.of("i64")
    size = code.unary("fabs", "%x")
    twice = code(f"fadd {one} {size}, {size}")
    y = code.select(code.compare("ogt", twice, kind.number(LAST)), kind.number(LAST), twice)  # no number stays none
    shifted = code.fma(y, kind.number(ONE_OVER_LOG2), kind.number(SHIFT))
    back, r = code(f"fneg {one} {code(f'fsub {one} {shifted}, {kind.number(SHIFT)}')}"), y
    for part in PARTS:
        r = code.fma(back, kind.number(part), r)
    square = code(f"fmul {one} {r}, {r}")
    small = code.fma(square, _series(code, r, square), r)
    bits = code(f"shl {whole} {code(f'bitcast {one} {shifted} to {whole}')}, {kind.bits('i64 52')}")
    of_one = kind.bits(f"i64 {1023 << 52}")  # the exponent of 1
    power = code(f"bitcast {whole} {code(f'add {whole} {bits}, {of_one}')} to {one}")
    grown = code.fma(power, small, code(f"fsub {one} {power}, {kind.number(1.0)}"))
    ratio = code(f"fdiv {one} {grown}, {code(f'fadd {one} {grown}, {kind.number(2.0)}')}")
    sign = code(f"and {whole} {code(f'bitcast {one} %x to {whole}')}, {kind.bits(f'i64 {-(1 << 63)}')}")
    signed = code(f"or {whole} {code(f'bitcast {one} {ratio} to {whole}')}, {sign}")
    result = code(f"bitcast {whole} {signed} to {one}")
    lines = "\n".join(code.lines)
    return f"define internal {one} {name}({one} %x) noinline nounwind {{\n{lines}\n  ret {one} {result}\n}}\n"


def _series(code: Code, r: str, square: str) -> str:
    """1/2! + r/3! + ... by Estrin's scheme: pairs, and pairs of these, which a processor can work on side by side."""
    terms, power = [code.kind.number(c) for c in SERIES], r
    while len(terms) > 1:
        pairs = [terms[k : k + 2] for k in range(0, len(terms), 2)]
        terms = [code.fma(power, pair[1], pair[0]) if len(pair) > 1 else pair[0] for pair in pairs]
        power = square if power == r else code(f"fmul {code.kind.double} {power}, {power}")
    return terms[0]
