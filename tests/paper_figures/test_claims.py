"""Claims that can fail: of these figures every claim holds, and does not with at least one of the mutants named.

The table says which mutant (`mutated_figures`) catches which claim, by the claim's number in the figure. Of claims that
no mutant of the library can break, because they hold by construction, none is left here: a new claim of these figures
has to be caught by something before this test passes.
"""

import mutated_figures
import pytest

pytest.importorskip("matplotlib")

from paper_figures import gallery

CAUGHT: dict[str, dict[str, set[int]]] = {
    "he_1": {"frame turned": {0, 1}, "constraint row lost": {2}, "off the constraint accepted": {2}},
    "he_4a": {
        "frame turned": {0, 1, 2, 4, 5},
        "gravity a tenth": {2, 3, 4, 5},
        "tau = 0.45": {0, 1, 2, 4, 5},
        "dl/dq twice": {2, 4},
    },
    "he_5a": {"tau = 0.45": {0}, "tau and 1 - tau swapped in (D1)": {0}, "dl/dq twice": {1}, "Runge-Kutta": {0, 1}},
    "he_5b": {"Runge-Kutta": {0, 1, 2}, "dl/dq twice": {0, 2}, "tau = 1/2 whatever is asked": {1}},
    "nd_3": {
        "frame turned": {0, 3, 4},
        "mass wrong": {1, 2},
        "bracket dropped": {2, 4},
        "constraint row lost": {3, 4},
    },
    "nd_4": {"offset lost": {0, 2, 3, 4, 5, 6, 7}, "offset behind": {0, 2, 3, 4, 5, 6}, "tau = 0.45": {1, 2}},
    "qs_6_2": {"bracket flipped": {1, 3, 4, 5}, "mass wrong": {0, 4, 5}, "leaking": {0, 1, 2, 4, 5}},
    "sleigh_path": {"constraint row lost": {0, 1, 2, 4}, "bracket dropped": {0, 2, 4}, "tau = 0.45": {1, 2, 3}},
    "md_11_1": {
        "hoop wrong": {0, 2, 4, 5},
        "radius wrong": {2, 3, 4, 5},
        "ball too large": {1},
        "gravity wrong": {5, 6},
    },
    "md_12_1": {
        "dl/dq twice": {0, 1, 2, 3},
        "frame turned": {0, 1, 3, 5},
        "nearly straight": {4},
        "tau = 0.45": {1, 2, 3, 5},
    },
}


@pytest.fixture(params=CAUGHT)
def name(request):
    return request.param


def test_every_claim_is_caught_by_some_mutant(name):
    module, table = gallery.figure_module(name), CAUGHT[name]
    true = module.claims(module.compute(True))
    assert all(holds for _, holds in true)
    assert set().union(*table.values()) == set(range(len(true))), "each claim needs a mutant that catches it"
    for mutant, claims in table.items():
        with pytest.MonkeyPatch.context() as patch:
            failed = mutated_figures.caught(module, mutant, patch)
        missed = [true[k][0] for k in sorted(claims) if not failed[k]]
        assert missed == [], f"{mutant}: these hold although it is wrong"


def test_the_sample_is_of_forty_claims_at_least():
    assert sum(len(set().union(*table.values())) for table in CAUGHT.values()) >= 40


def test_the_harness_changes_nothing_by_itself():
    """A mutant that mutates nothing leaves every claim standing."""
    module = gallery.figure_module("sleigh_path")
    with pytest.MonkeyPatch.context() as patch:
        mutated_figures.every_system(lambda system: system)(patch, module)
        assert all(holds for _, holds in module.claims(module.compute(True)))
    with pytest.MonkeyPatch.context() as patch:
        mutated_figures.every_run(lambda given: None)(patch, module)
        assert all(holds for _, holds in module.claims(module.compute(True)))
