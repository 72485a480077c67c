"""What a run says of its path."""

from problems import OwnSteps

import discrete_hamel as dh

RUN = {"q": [0.1, 0, 0], "xi": [1.5, -0.3], "h": 0.01}


def test_explain_tells_path_passes_and_what_they_cost():
    found = dh.explain(dh.systems.ChaplyginSleigh(), **RUN)
    assert found.path == "compiled"
    assert found.passes[0].left.startswith("5 unknowns")
    assert 0 < found.step < 1
    assert "iterations" in str(found)


def test_explain_says_why_a_run_is_plain():
    found = dh.explain(dh.systems.ChaplyginSleigh(), **RUN, scheme=OwnSteps())
    assert found.path == "plain"
    assert "steps in a way of its own" in found.reason in str(found)


def test_report_says_the_reason_of_its_path():
    traj = dh.simulate(dh.systems.ChaplyginSleigh(), **RUN, steps=2, compiled=False)
    assert "path='plain', reason='asked for'" in repr(traj)
