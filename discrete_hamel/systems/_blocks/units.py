"""Units, for axes and tables: what the catalogue's names mean in SI, and the units of rates and momenta from these.

A system says its units by name, in the class attribute `units`; a name that is not in it has none. So a system of your
own has no units until it says some:

    class KnifeEdge(dh.System):
        units = {"t": "s", "x": "m", "y": "m", "theta": "rad", "forward": "m/s", "energy": "J"}

Numbers are never converted: a unit is what the system's own numbers are in.
"""

from collections.abc import Mapping

_ROTATION = tuple(f"{a}{b}" for a in (1, 2, 3) for b in (1, 2, 3))
_MOMENTA = tuple(f"{where} momentum {axis}" for where in ("spatial", "contact") for axis in "xyz")

_NAMES = {
    "1": (*(f"{letter}{ab}" for letter in "RW" for ab in _ROTATION), *(f"gamma{i}" for i in range(1, 10)), "axis")
    + ("length of gamma", "trace of R^T R", "trace of W^T W"),
    "s": ("t",),
    "rad": ("theta", "phi", "psi", "chi", "alpha", "incline", "tilt", *(f"theta{i}" for i in range(1, 100))),
    "m": ("x", "y", "z", "r", "s", "x1", "y1", "x2", "y2", "u1", "u2", "rho", "length", "lengths", "distance", "offset")
    + ("radius", "sphere", "cylinder", "hoop", "wire", "wheelbase", "centre", "half_track", "wheel_radius", "rear")
    + ("front", "half_length", "semiaxes", "depth", "params", "distance of the centres"),
    "kg": ("mass", "masses", "mass1", "mass2", "sleigh"),
    "kg m^2": ("inertia", "inertia_across", "inertia_axis", "inertia_diameter", "wheel_inertia", "steering_inertia")
    + ("handle_inertia", "rotor_inertia"),
    "rad/s": (*(f"{name}{i}" for name in ("omega", "Omega", "xi", "nu") for i in ("", *range(1, 100))), "rate", "spin")
    + ("a . omega", "across v", "turning", "theta' - turning", "normal spin"),
    "m/s": ("v", "v1", "v2", "s1", "s2", "a1", "a2", "zeta1", "zeta2", "slip1", "slip2", "slip3", "sideways", "along")
    + ("forward", "|x|'", "forward velocity", "y' - w x", "x' + w y"),
    "m/s^2": ("gravity",),
    "m^2/s^2": ("energy of the centre",),
    "N/m": ("stiffness",),
    "N m": ("weight",),
    "N": ("contact force",),
    "J": ("energy", "moving energy"),
    "kg m^2/s": ("vertical momentum", "steering momentum", "turning momentum", "rotor momentum", *_MOMENTA),
}
SI = {name: unit for unit, names in _NAMES.items() for name in names}

_IN_SI = {"J": "kg m^2/s^2", "N": "kg m/s^2", "C": "A s", "T": "kg/(A s^2)", "V": "kg m^2/(A s^3)"}


def cgs(units: Mapping[str, str]) -> dict[str, str]:
    """The same in grams, centimetres and seconds.

    >>> cgs(SI)["energy"], cgs(SI)["radius"]
    ('g cm^2/s^2', 'cm')
    """
    small = {"kg": "g", "m": "cm"}
    return {
        name: as_unit({small.get(base, base): power for base, power in powers((found, 1)).items()})
        for name, found in units.items()
    }


def unit(units: Mapping[str, str], name: str) -> str:
    """The unit of a quantity: as declared, of x' as x over t, of a momentum "p v" as energy over v; "" if unknown.

    >>> unit(SI, "phi'"), unit(SI, "p v"), unit(SI, "p omega"), unit({}, "x")
    ('rad/s', 'kg m/s', 'kg m^2/s', '')
    """
    if name in units:
        return units[name]
    above, below = ("energy", name[2:]) if name.startswith("p ") else (name[:-1], "t")
    if name[-1:] != "'" and above != "energy":
        return ""
    above, below = unit(units, above), unit(units, below)
    return as_unit(powers((above, 1), (below, -1))) if above and below else ""


def axis_title(units: Mapping[str, str], name: str) -> str:
    """A name with its unit, for an axis: without one where there is none.

    >>> axis_title(SI, "p omega"), axis_title(SI, "R11"), axis_title({}, "x")
    ('p omega [kg m²/s]', 'R11', 'x')
    """
    found = in_print(unit(units, name))
    return f"{name} [{found}]" if found else name


def in_print(found: str) -> str:
    """A unit as print has it; nothing for pure numbers."""
    return "" if found == "1" else found.replace("^", "").translate(str.maketrans("23456789", "²³⁴⁵⁶⁷⁸⁹"))


def powers(*factors: tuple[str, int]) -> dict[str, int]:
    """A product of powers of units, in base units; angles are numbers where they are divided by.

    >>> powers(("J", 1)), powers(("J", 1), ("rad/s", -1))
    ({'kg': 1, 'm': 2, 's': -2}, {'kg': 1, 'm': 2, 's': -1})
    """
    total: dict[str, int] = {}
    for found, power in factors:
        above, _, below = found.partition("/")
        symbols = [(symbol, power) for symbol in above.split()]
        symbols += [(symbol, -power) for symbol in below.strip("()").split()]
        for symbol, sign in symbols:
            base, _, exponent = symbol.partition("^")
            parts = powers((_IN_SI[base], 1)) if base in _IN_SI else {base: 1} if base != "1" else {}
            for one, of_one in parts.items():
                total[one] = total.get(one, 0) + sign * int(exponent or 1) * of_one
    return {base: power for base, power in total.items() if power > 0 or (power and base != "rad")}


def as_unit(exponents: Mapping[str, int]) -> str:
    """Powers of base units as one unit.

    >>> as_unit({"kg": 1, "m": 2, "s": -1}), as_unit({"s": -1}), as_unit({"rad": 1, "m": -1, "s": -1}), as_unit({})
    ('kg m^2/s', '1/s', 'rad/(m s)', '1')
    """
    above, below = (
        [base + (f"^{abs(power)}" if abs(power) > 1 else "") for base, power in exponents.items() if sign * power > 0]
        for sign in (1, -1)
    )
    under = f"/({' '.join(below)})" if len(below) > 1 else f"/{below[0]}" if below else ""
    return (" ".join(above) or "1") + under
