"""Wrong inputs end in a sentence or in a right answer: a short version of benchmarks/malformed.py, which has 10 000."""

import importlib
from pathlib import Path

import pytest

MALFORMED = Path(__file__).parents[2] / "benchmarks" / "malformed.py"
pytestmark = pytest.mark.skipif(not MALFORMED.exists(), reason="the benchmarks are not part of what is distributed")


@pytest.fixture(scope="module")
def malformed():
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(MALFORMED.parent)
        return importlib.import_module("malformed")


@pytest.mark.slow
def test_each_input_ends_in_a_sentence_or_a_right_answer(malformed, tmp_path):
    tally, told = malformed.campaign(300, 17, str(tmp_path))
    assert told == []
    assert tally["sentence"] > 200
    assert tally["answer"] > 5


def test_the_check_notices_wrong_answers_and_strange_exceptions(malformed, monkeypatch):
    call = {**malformed.RIGHT[0], "h": 0.01, "steps": 4}
    assert malformed.verdict(dict(call)) == ("answer", "")
    run = malformed.dh.simulate(**call)
    q = run.q.copy()
    q[2] += 1e-6
    for wrong, told in ((run.replace(q=q), "a step off by"), (run.replace(xi=run.xi * float("nan")), "NaN in xi")):
        monkeypatch.setattr(malformed.dh, "simulate", lambda *args, wrong=wrong, **options: wrong)
        kind, more = malformed.verdict(dict(call))
        assert kind == "no answer"
        assert more.startswith(told)
    monkeypatch.setattr(
        malformed.dh, "simulate", lambda *args, **options: malformed.jnp.zeros(3) @ malformed.jnp.ones(4)
    )
    assert malformed.verdict(dict(call))[0] == "from inside another library"
    monkeypatch.setattr(malformed.dh, "simulate", lambda *args, **options: {}["missing"])
    assert malformed.verdict(dict(call))[0] == "another exception"


def test_the_check_of_ensembles_notices_them_too(malformed, monkeypatch):
    ours = malformed.malformed_ensembles
    call = {"system": malformed.dh.systems.ChaplyginSleigh(), "q": ours.Q, "xi": ours.XI, "h": ours.H}
    call |= {"steps": ours.STEPS, "save_every": ours.EVERY, "reduction": malformed.dh.Reduction(ours.first, ours.whole)}
    assert malformed.verdict(dict(call)) == ("answer", "")
    ensemble = malformed.dh.ensemble

    def summed(system, q, xi, **options):
        if options.get("reduction"):
            options["reduction"] = malformed.dh.Reduction(ours.first, ours.counting)
        return ensemble(system, q, xi, **options)

    monkeypatch.setattr(malformed.dh, "ensemble", summed)
    kind, more = malformed.verdict(dict(call))
    assert (kind, more.startswith("member 0: m = ")) == ("no answer", True)
    monkeypatch.setattr(malformed.dh, "ensemble", lambda *args, **options: {}["missing"])
    assert malformed.verdict(dict(call))[0] == "another exception"
