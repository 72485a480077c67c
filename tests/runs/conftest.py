"""Stores in tests are not flushed to the disk, which is what takes time; test_durability looks at the flushing."""

import pytest

from discrete_hamel.runs.storage import atomic_files


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(request, monkeypatch):
    if "flushing" not in request.fixturenames:
        monkeypatch.setattr(atomic_files, "flush", lambda path: None)


@pytest.fixture
def flushing():
    """Asks for files to be flushed as ever."""
