"""sin and cos of one angle at once, in LLVM's instructions: Cody and Waite's reduction, and the kernels of fdlibm.

x - k pi/2 in three parts of pi/2, then two polynomials by Estrin's scheme, whose steps a processor can do side by side.
The error is below 2.3e-16 for |x| <= REACH; beyond, and for what is no number, the C library is asked.
"""

from discrete_hamel.compiler.native.instructions import Code, Kind

REACH = 1e6  # k < 2^20, so that k times the first two parts of pi/2, of 33 bits each, is exact

TWO_OVER_PI = 0.63661977236758134308
PARTS = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)  # of pi/2, fdlibm's
SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
SHIFT = 1.5 * 2.0**52  # x + SHIFT has the whole number next to x in its last bits


def circular(kind: Kind, inline: bool) -> str:
    """The function `kind.circular`: double -> {sine, cosine}. In lanes it has no numbers for angles beyond REACH."""
    code, one, whole = Code(kind), kind.double, kind.of("i64")
    shifted = code.fma("%x", kind.number(TWO_OVER_PI), kind.number(SHIFT))
    k = code(f"fsub {one} {shifted}, {kind.number(SHIFT)}")
    back, r = code(f"fneg {one} {k}"), "%x"
    for part in PARTS:
        r = code.fma(back, kind.number(part), r)
    z = code(f"fmul {one} {r}, {r}")
    zz = code(f"fmul {one} {z}, {z}")
    rz = code(f"fmul {one} {r}, {z}")
    sine = code.fma(rz, _estrin(code, SINE, z, zz), r)
    half = code(f"fmul {one} {z}, {kind.number(0.5)}")
    near = code(f"fsub {one} {kind.number(1.0)}, {half}")  # what rounding took off it goes back with the small terms
    low = code(f"fsub {one} {code(f'fsub {one} {kind.number(1.0)}, {near}')}, {half}")
    cosine = code(f"fadd {one} {near}, {code.fma(zz, _estrin(code, COSINE, z, zz), low)}")
    quadrant = code(f"bitcast {one} {shifted} to {whole}")
    odd = code(f"trunc {whole} {quadrant} to {kind.of('i1')}")
    turned = []
    for swapped, straight, ahead in ((cosine, sine, 0), (sine, cosine, 1)):
        value = code.select(odd, swapped, straight)
        place = code(f"add {whole} {quadrant}, {kind.bits(f'i64 {ahead}')}")
        second = code(f"and {whole} {place}, {kind.bits('i64 2')}")
        sign = code(f"shl {whole} {second}, {kind.bits('i64 62')}")
        bits = code(f"xor {whole} {code(f'bitcast {one} {value} to {whole}')}, {sign}")
        turned.append(code(f"bitcast {whole} {bits} to {one}"))
    size = f"  %size = call {one} {kind.intrinsic('fabs')}({one} %x)"
    within = f"  %within = fcmp ole {one} %size, {kind.number(REACH)}"
    chosen = _or_nothing if kind.lanes > 1 else _or_asked
    how = "alwaysinline" if inline else "noinline"
    head = f"define internal {{{one}, {one}}} {kind.circular}({one} %x) {how} nounwind {{"
    end = [
        f"  %one = insertvalue {{{one}, {one}}} poison, {one} %s, 0",
        f"  %both = insertvalue {{{one}, {one}}} %one, {one} %c, 1",
        f"  ret {{{one}, {one}}} %both",
        "}\n",
    ]
    return "\n".join([head, size, within, *chosen(kind, code.lines, turned), *end])


def _or_nothing(kind: Kind, lines: list[str], turned: list[str]) -> list[str]:
    """In lanes, no number where the angle is too large."""
    nan = kind.number(float("nan"))
    kept = [
        f"  %{name} = select {kind.of('i1')} %within, {kind.double} {value}, {kind.double} {nan}"
        for name, value in zip("sc", turned, strict=True)
    ]
    return [*lines, *kept]


def _or_asked(kind: Kind, lines: list[str], turned: list[str]) -> list[str]:
    """Of one angle that is too large the C library's."""
    return [
        "  br i1 %within, label %near, label %far, !prof !0",
        "near:",
        *lines,
        "  br label %end",
        "far:",
        "  %fs = call double @sin(double %x)",
        "  %fc = call double @cos(double %x)",
        "  br label %end",
        "end:",
        f"  %s = phi double [{turned[0]}, %near], [%fs, %far]",
        f"  %c = phi double [{turned[1]}, %near], [%fc, %far]",
    ]


METADATA = '!0 = !{!"branch_weights", i32 1000000, i32 1}\n'


def _estrin(code: Code, c: tuple[float, ...], z: str, zz: str) -> str:
    """c_0 + c_1 z + ... + c_5 z^5."""
    first, second, third = (code.fma(z, code.kind.number(c[k + 1]), code.kind.number(c[k])) for k in (0, 2, 4))
    return code.fma(zz, code.fma(zz, third, second), first)
