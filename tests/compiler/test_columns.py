"""Functions of many nodes as native code: the numbers of NumPy, whatever the number of rows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler import along as module
from discrete_hamel.compiler.along import Columns, along
from discrete_hamel.compiler.native.object_code import available
from discrete_hamel.runs.trajectory import contact_force_at
from discrete_hamel.runs.validation import canonical

pytestmark = pytest.mark.skipif(bool(available()), reason=available())
DISK = canonical(dh.systems.RollingDisk())


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (count, 5)), rng.normal(size=(count, 5))


@pytest.fixture
def columns(monkeypatch):
    """The columns of a function, native from the first row on."""
    monkeypatch.setattr(module, "ROWS", 0)
    return lambda function, system, *states: Columns(function, system, states, pytest.fail)


@pytest.mark.parametrize("count", [1, 15, 16, 37, 5000])
def test_contact_forces_are_numpys(columns, count):
    made = columns(contact_force_at, DISK, *rows(1))
    q, xi = rows(count)
    expected = np.empty((count, len(made.outputs)))
    made._by_numpy(np.array([float(leaf) for leaf in jax.tree.leaves(DISK)]), (q, xi), expected)
    found = made(DISK, (q, xi))
    assert made.native is not None
    assert np.allclose(found, expected[:, 0], rtol=1e-13, atol=1e-13 * np.abs(expected).max())


def test_sines_of_angles_beyond_reach_are_asked_of_numpy(columns):
    q, xi = rows(40)
    q[7, 0] = 1e12
    made = columns(lambda scale, q, xi: scale * jnp.sin(q[0]) + xi[1], np.asarray(2.0), q, xi)
    assert np.allclose(made(np.asarray(2.0), (q, xi)), 2 * np.sin(q[:, 0]) + xi[:, 1], rtol=1e-14)


def test_an_array_of_several_numbers_comes_row_by_row(columns):
    q, xi = rows(33)
    made = columns(lambda scale, q, xi: scale * jnp.outer(q[:2], xi[:3]), np.asarray(2.0), q, xi)
    assert np.allclose(made(np.asarray(2.0), (q, xi)), 2 * q[:, :2, None] * xi[:, None, :3], rtol=1e-15)


def test_arrays_of_another_kind_never_reach_it(columns):
    made = columns(lambda scale, q, xi: scale * q[0] * xi[0], np.asarray(2.0), *rows(40))
    made(np.asarray(2.0), rows(40))
    q, xi = rows(40)
    for numbers, states in (([2.0, 1.0], (q, xi)), ([2.0], (q[:, :4], xi))):
        with pytest.raises(ValueError, match="other shapes"):
            made.native(np.array(numbers), states)


def test_it_is_native_after_very_many_nodes_only(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 100)
    function = lambda scale, q: scale * jnp.cos(q[0])  # noqa: E731
    q, _ = rows(60)
    for native in (False, True, True):
        assert np.allclose(along(function, np.asarray(3.0), q), 3 * np.cos(q[:, 0]), rtol=1e-14)
        assert (next(reversed(module._programs.values())).native is not None) == native
