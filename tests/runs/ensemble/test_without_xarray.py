"""Who has not installed the extra `archive` is told so before anything is run, not after."""

import sys

import pytest

import discrete_hamel as dh


def test_an_ensemble_says_what_to_install_before_it_runs(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    sleigh = dh.systems.ChaplyginSleigh()
    with pytest.raises(ImportError, match=r'pip install "discrete_hamel\[archive\]"'):
        dh.ensemble(sleigh, [[0.1, 0, 0]] * 2, [[1.5, -0.3]] * 2, h=0.01, steps=10**12)
