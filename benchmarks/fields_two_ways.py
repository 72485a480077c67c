"""Fields by their own schemes of linear cost, and by DiscreteHamel(): python -m benchmarks.fields_two_ways [points ...]

The maps are the same. Seconds until the first step, and microseconds a step, both of `dh.explain`.
"""

import sys

import discrete_hamel as dh
from discrete_hamel import fields

OWN = {
    "String": fields.TridiagonalTension(),
    "SleighWithString": fields.LinkByLink(),
    "SphereField": fields.NeighbourHamel(),
    "Beam": fields.NeighbourHamel(),
}


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [16, 32, 64]
    print("field              points  own scheme: path, s, us   DiscreteHamel(): path, s, us")
    for name, own in OWN.items():
        for points in sizes:
            system = getattr(fields, name)(points=points)
            sample = system.sample()
            given = {"q": sample["q"], "xi": sample["xi"], "h": sample["h"]}
            found = [dh.explain(system, **given, scheme=scheme) for scheme in (own, dh.DiscreteHamel())]
            said = "   ".join(f"{one.path:8} {one.building:6.1f} {1e6 * one.step:9.1f}" for one in found)
            print(f"{name:18} {points:6}  {said}  {found[1].reason}", flush=True)


if __name__ == "__main__":
    main()
