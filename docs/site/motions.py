"""The motions behind the site's films: each system's sample motion, at the times of the frames, in docs/films/.

    python docs/site/motions.py [NAME ...]

They are computed once and kept, as a minute of compilation is not for every `make docs`; `tests/test_site.py` runs some
of them again. What is kept is q: it is drawn anew each time, by `films.py`.
"""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import discrete_hamel as dh
from discrete_hamel.cli.name_lookup import catalogue
from discrete_hamel.cli.systems import sample_of
from discrete_hamel.drawing.films.timing import frames

FOLDER = Path(__file__).parents[1] / "films"
FRAMES, SECONDS, MOST = 36, 6.0, 3000  # of a film; of the motion, if that is not more than so many steps
LONGER = {"PlanarChain": 3.0, "SlippingTop": 6.0}  # seconds that show more, or enough


class Motion(NamedTuple):
    """What a film is drawn from: a trajectory's nodes, as far as they are kept."""

    system: dh.System
    t: np.ndarray
    q: np.ndarray
    energy: np.ndarray

    def invariants(self) -> dict[str, np.ndarray]:
        """The energy, which a film's caption says."""
        return {"energy": self.energy}

    def __len__(self) -> int:
        return len(self.t)


def run(name: str) -> dict[str, Any]:
    """The sample motion of a system, at the frames: t, q and energy, rounded for the screen."""
    system = catalogue()[name]()
    sample = sample_of(system)
    steps = int(np.clip(round(LONGER.get(name, SECONDS) / sample["h"]), 100, MOST))
    trajectory = dh.simulate(system, **sample, steps=steps, progress=False)
    nodes = frames(trajectory, seconds=FRAMES - 1, rate=1.0).nodes
    return {
        "t": [round(float(t), 4) for t in trajectory.t[nodes]],
        "q": [[float(f"{x:.4g}") for x in q] for q in np.asarray(trajectory.q)[nodes]],
        "energy": [float(f"{e:.9g}") for e in np.asarray(trajectory.energy)[nodes]],
    }


def kept(name: str) -> Motion | None:
    """The motion of a system, if it is kept."""
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    return Motion(catalogue()[name](), *(np.array(found[part]) for part in ("t", "q", "energy")))


def main(names: list[str]) -> None:
    """Write those that have something to show."""
    from discrete_hamel.drawing.films.film_scene import shapes_of

    FOLDER.mkdir(exist_ok=True)
    for name in names or catalogue():
        try:
            system = catalogue()[name]()
            shapes_of(system, np.asarray(sample_of(system)["q"], float))
        except (TypeError, KeyError, dh.InputError) as reason:
            print(f"{name}: no film: {str(reason).splitlines()[0]}", flush=True)
            continue
        (FOLDER / f"{name}.json").write_text(json.dumps(run(name), separators=(",", ":")) + "\n")
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
