"""sin and cos of one angle at once, in LLVM's instructions: Cody and Waite's reduction, and the kernels of fdlibm.

x - k pi/2 in three parts of pi/2, then two polynomials by Estrin's scheme, whose steps a processor can do side by side.
The error is below 2.3e-16 for |x| <= REACH; beyond, and for what is no number, the C library is asked.
"""

from discrete_hamel.compiler.native.instructions import Code, number
from discrete_hamel.compiler.step.sincos import COSINE, PARTS, REACH, SINE, TWO_OVER_PI

SHIFT = 1.5 * 2.0**52  # x + SHIFT has the whole number next to x in its last bits


def circular(fused: bool, inline: bool) -> str:
    """The function @circular: double -> {sine, cosine}."""
    code = Code(fused)
    shifted = code.fma("%x", number(TWO_OVER_PI), number(SHIFT))
    k = code(f"fsub double {shifted}, {number(SHIFT)}")
    back, r = code(f"fneg double {k}"), "%x"
    for part in PARTS:
        r = code.fma(back, number(part), r)
    z = code(f"fmul double {r}, {r}")
    zz = code(f"fmul double {z}, {z}")
    rz = code(f"fmul double {r}, {z}")
    sine = code.fma(rz, _estrin(code, SINE, z, zz), r)
    half = code(f"fmul double {z}, {number(0.5)}")
    near = code(f"fsub double {number(1.0)}, {half}")  # and what rounding took off it goes back with the small terms
    low = code(f"fsub double {code(f'fsub double {number(1.0)}, {near}')}, {half}")
    cosine = code(f"fadd double {near}, {code.fma(zz, _estrin(code, COSINE, z, zz), low)}")
    quadrant = code(f"bitcast double {shifted} to i64")
    odd = code(f"trunc i64 {quadrant} to i1")
    turned = []
    for swapped, straight, ahead in ((cosine, sine, 0), (sine, cosine, 1)):
        value = code(f"select i1 {odd}, double {swapped}, double {straight}")
        place = code(f"add i64 {quadrant}, {ahead}")
        sign = code(f"shl i64 {code(f'and i64 {place}, 2')}, 62")
        bits = code(f"xor i64 {code(f'bitcast double {value} to i64')}, {sign}")
        turned.append(code(f"bitcast i64 {bits} to double"))
    how = "alwaysinline" if inline else "noinline"
    return "\n".join(
        [
            f"define internal {{double, double}} @circular(double %x) {how} nounwind {{",
            "  %size = call double @llvm.fabs.f64(double %x)",
            f"  %within = fcmp ole double %size, {number(REACH)}",
            "  br i1 %within, label %near, label %far, !prof !0",
            "near:",
            *code.lines,
            "  br label %end",
            "far:",
            "  %fs = call double @sin(double %x)",
            "  %fc = call double @cos(double %x)",
            "  br label %end",
            "end:",
            f"  %s = phi double [{turned[0]}, %near], [%fs, %far]",
            f"  %c = phi double [{turned[1]}, %near], [%fc, %far]",
            "  %one = insertvalue {double, double} undef, double %s, 0",
            "  %both = insertvalue {double, double} %one, double %c, 1",
            "  ret {double, double} %both",
            "}\n",
        ]
    )


METADATA = '!0 = !{!"branch_weights", i32 1000000, i32 1}\n'


def _estrin(code: Code, c: tuple[float, ...], z: str, zz: str) -> str:
    """c_0 + c_1 z + ... + c_5 z^5."""
    first, second, third = (code.fma(z, number(c[k + 1]), number(c[k])) for k in (0, 2, 4))
    return code.fma(zz, code.fma(zz, third, second), first)
