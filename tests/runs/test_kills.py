"""Runs killed at random moments: a short version of benchmarks/kills.py, which makes 200 of them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = Path(__file__).parents[2] / "benchmarks" / "kills.py"


@pytest.mark.slow
@pytest.mark.skipif(not KILLS.exists(), reason="the benchmarks are not part of what is distributed")
def test_killed_runs_open_and_resume_bit_for_bit():
    pytest.importorskip("xarray")
    command = [sys.executable, KILLS, "5", "3", "unflushed"]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    assert re.match(r"kills: 5, opened: 5, bit-identical: 5,", out), out
