"""What is said of systems made of plain functions: names, units, symmetries, invariants, shapes; and in whose terms."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

SAID = {
    "coordinates": ("heading", "x", "y"),
    "units": {"heading": "rad", "x": "m", "y": "m", "speed^2": "m^2/s^2"},
    "symmetries": {"along x": lambda q, mass: jnp.array([0.0, 1.0, 0.0])},
    "invariants": {"speed^2": lambda q, xi, mass: mass * xi @ xi / mass},
    "shapes": lambda q, mass: [np.array([q[1:], q[1:] + 0.1 * np.array([np.cos(q[0]), np.sin(q[0])])])],
}


def frame(q, mass=1.0):
    c, s = jnp.cos(q[0]), jnp.sin(q[0])
    return jnp.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def blade(q, mass=1.0):
    return jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]])


def lagrangian(q, v, mass=1.0):
    return 0.5 * mass * v @ v


def psi(q, z, mass):
    return frame(q)[:, :2] @ z


def C(q, v, mass):
    return blade(q) @ v


WAYS = {
    "quasivelocities": lambda **how: dh.from_quasivelocities(lagrangian, frame, 2, params=2.0, **how),
    "velocities": lambda **how: dh.from_velocities(lagrangian, frame, 2, params=2.0, **how),
    "constraints": lambda **how: dh.from_constraints(lagrangian, blade, params=2.0, **how),
    "nonlinear": lambda **how: dh.nonlinear(lagrangian, psi, 2, params=2.0, **how),
    "nonlinear constraints": lambda **how: dh.from_nonlinear_constraints(lagrangian, C, params=2.0, **how),
}
START = {"q": [0.2, 0.0, 0.0], "v": [0.5, np.cos(0.2), np.sin(0.2)], "h": 0.1}


@pytest.mark.parametrize("way", WAYS)
def test_all_constructors_take_what_a_class_has(way):
    system = WAYS[way](velocities=("turning", "speed"), **SAID)
    assert system.coordinates == SAID["coordinates"]
    assert system.velocities == ("turning", "speed")
    assert system.units["x"] == "m"
    q = jnp.array(START["q"])
    assert system.symmetries()["along x"](q).tolist() == [0.0, 1.0, 0.0]
    run = dh.simulate(system, steps=2, compiled=False, **START)
    kept = run.invariants()["speed^2"]
    assert kept == pytest.approx(np.sum(np.asarray(run.xi) ** 2, axis=1), abs=1e-12)
    assert system.shapes(np.array(START["q"]))[0].shape == (2, 2)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_said_is_as_before(way):
    system = WAYS[way]()
    assert system.coordinates == ()
    assert system.symmetries() == system.invariants() == {}
    assert not system.redundant
    with pytest.raises(AttributeError):
        system.shapes(np.zeros(3))


def test_an_invariant_is_refused_where_it_is_none():
    """The other side: what is declared is what is drawn, so a wrong one shows."""
    system = WAYS["velocities"](invariants={"x": dh.Invariant(lambda q, xi, mass: q[1], "exact")})
    assert system.invariants()["x"].kept == "exact"
    x = dh.simulate(system, steps=10, compiled=False, **START).invariants()["x"]
    assert abs(x[-1] - x[0]) > 0.5


def test_films_draw_the_shapes():
    from discrete_hamel.drawing.films.film_scene import shapes_of

    system = WAYS["constraints"](**SAID)
    drawn = shapes_of(system, np.array(START["q"]))(np.array(START["q"]))
    assert drawn[0][1] == pytest.approx(0.1 * np.array([np.cos(0.2), np.sin(0.2)]))


def test_a_declared_symmetry_is_used():
    """A straight run of the skate is a relative equilibrium, and its spectrum needs the generators."""
    moved = {"heading": lambda q, mass: jnp.array([1.0, -q[2], q[1]])}
    system = WAYS["velocities"](symmetries={**SAID["symmetries"], **moved})
    assert set(system.symmetries()) == {"along x", "heading"}
    found = dh.relative_equilibrium(system, q=[0.0, 0, 0], xi=[0.0, 1.0])
    assert found is not None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"coordinates": "xy"}, r"coordinates = 'xy': .*tuples of names"),
        ({"coordinates": ("x", "x")}, r"tuples of names, each of its own"),
        ({"velocities": (1, 2)}, r"velocities = \(1, 2\): .*tuples of names"),
        ({"symmetries": [lambda q: q]}, r"symmetries = .*dicts of functions by name"),
        ({"invariants": {"E": 3.0}}, r"invariants = .*dicts of functions by name"),
        ({"shapes": 3}, r"shapes = 3: .*functions of q"),
        ({"units": "m"}, r"units = 'm': .*units a dict by name"),
        ({"coordinate": ("x",)}, "has no 'coordinate'.*coordinates, velocities"),
    ],
)
def test_what_is_of_another_kind_is_refused(way, wrong, words):
    with pytest.raises(TypeError, match=words):
        WAYS[way](**wrong)


def test_redundant_coordinates_are_checked():
    def unit(q):
        return q @ q - 1

    def turning(q):
        return jnp.array([[q[0], q[1]]])

    ring = dh.from_constraints(lambda q, v: 0.5 * v @ v, turning, holonomic=unit)
    with pytest.raises(ValueError, match=r"off the holonomic constraints.*by 0\.21"):
        dh.simulate(ring, q=[1.1, 0.0], v=[0.0, 1.0], h=0.1, steps=1)


def test_a_velocity_given_as_v_is_answered_in_v():
    with pytest.raises(ValueError, match=r"row 0 demands A\(q\) v = 0 and it is 0.5, off by 0.5. Correct v") as refused:
        dh.simulate(WAYS["constraints"](), q=[0.0, 0, 0], v=[0.0, 1.0, 0.5], h=0.1, steps=1)
    assert "xi" not in str(refused.value)
    with pytest.raises(ValueError, match=r"row 0 demands the component of v along u_3 = 0 and it is 0.5") as refused:
        dh.simulate(WAYS["velocities"](), q=[0.0, 0, 0], v=[0.0, 1.0, 0.5], h=0.1, steps=1)
    assert "xi" not in str(refused.value)


@pytest.mark.parametrize("way", list(WAYS)[:3])
def test_a_force_of_wrong_length_is_refused_in_words(way):
    system = WAYS[way](force=lambda q, v, mass: jnp.zeros(2))
    with pytest.raises(
        ValueError, match=r"^force\(q, (qdot|xi)\) must return shape \(3,\), one number a .*got shape \(2,\)\."
    ):
        dh.simulate(system, steps=1, **START)


def test_a_store_takes_a_described_system(tmp_path):
    system = WAYS["constraints"](**SAID)
    run = dh.simulate(system, steps=10, store=tmp_path / "run.zarr", **START)
    again = dh.simulate(system, steps=10, store=tmp_path / "run.zarr", resume=True, **START)
    assert np.array_equal(np.asarray(run.q), np.asarray(again.q))
