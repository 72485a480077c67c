"""The claims of [BE]'s figures look at their data: each of them fails where some of the data are wrong."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from paper_figures import gallery


def of_printed(data):
    """[BE] (49) as printed, with G_12 = -2 rho m2."""
    m1, m2 = data["masses"].T
    theta, rho = data["states"][:, :2].T
    ax, ay, turning = data["forces"].T
    across, scale = np.sin(theta) * ax - np.cos(theta) * ay, rho * m2 * ((m1 + m2) / m2 - 4)
    return np.stack([rho * across + 2 * turning, 2 * across + (m1 + m2) / (m2 * rho) * turning], 1) / scale[:, None]


# What shows a slip or a limit fails where there is none: where the printed were right, and where all discs are alike.
OWN = {"be_2": lambda data: {"rates": of_printed(data)}, "be_35": lambda data: {"unequal": data["turns"][1:]}}


def mutants(value, rng):
    """Noise of a thousandth, a tenth and all of an array's size, and its mean everywhere; of a truth its contrary."""
    value = np.asarray(value)
    if value.dtype == bool:
        return [~value]
    noise = np.max(np.abs(value)) * rng.normal(size=value.shape)
    return [*(value + size * noise for size in (1e-3, 0.1, 1.0)), np.full_like(value, np.mean(value))]


@pytest.mark.parametrize("name", ["be_1", "be_2", "be_3", "be_a", "be_c", "be_33", "be_35"])
def test_every_claim_fails_for_data_that_are_wrong(name):
    module, rng = gallery.figure_module(name), np.random.default_rng(0)
    data = module.compute(True)
    claims = module.claims(data)
    assert all(holds for _, holds in claims)
    caught = np.zeros(len(claims), bool)
    wrong = [{key: other} for key, value in data.items() for other in mutants(value, rng)]
    wrong += [OWN[name](data)] if name in OWN else []
    for changed in wrong:
        with np.errstate(all="ignore"):
            caught |= [not holds for _, holds in module.claims(data | changed)]
    assert [sentence for (sentence, _), found in zip(claims, caught, strict=True) if not found] == []
