"""Members' data on several devices of one process: the same bits, sharded as the data were."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from devices import cases, digests
from sleighs import BLOCK

from discrete_hamel.runs.ensemble import block_runs, ensemble

pytest.importorskip("xarray")


@pytest.fixture(scope="module")
def on_four_devices():
    """What devices.py prints, in a process that has four."""
    flags = os.environ | {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"}
    script = Path(__file__).with_name("devices.py")
    ended = subprocess.run([sys.executable, script], env=flags, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", cases(np.asarray))
def test_where_the_data_are_does_not_change_a_bit(name, on_four_devices, monkeypatch):
    monkeypatch.setattr(block_runs, "BLOCK", BLOCK)
    system, data = cases(np.asarray)[name]
    assert on_four_devices[name] == digests(ensemble(system, **data))


@pytest.mark.slow
def test_data_with_copies_are_run_once_and_come_back_with_copies(on_four_devices):
    assert on_four_devices["copies"] == on_four_devices["a parameter and xi"]


@pytest.mark.slow
def test_data_that_are_sharded_in_other_ways_are_refused(on_four_devices):
    along_components, of_one_axis, on_two_meshes = on_four_devices["refusals"]
    assert re.search(r"sharded over members, their first axis; got .*PartitionSpec\(\"members\"\)", along_components)
    assert re.search(r"xi must have shape \(members, components\).*got \(1000,\)", of_one_axis)
    assert "sharded over one mesh" in on_two_meshes
