"""Native code of the scalar graph: against NumPy on random graphs, and its sines against extended precision."""

from decimal import Decimal, localcontext
from functools import cache

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import exact_mismatches, native, random_graph, rounding_mismatches

import discrete_hamel as dh
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.operations import BINARY, UNARY
from discrete_hamel.compiler.native import circular, hyperbolic, instructions, module, object_code, section
from discrete_hamel.compiler.native.circular import REACH

pytestmark = pytest.mark.skipif(bool(object_code.available()), reason=object_code.available())


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32), level=st.integers(0, 2))
def test_what_ieee_754_defines_is_numpys_to_the_last_bit(seed, level):
    wrong, seen = exact_mismatches(seed, level=level)
    assert wrong == 0
    assert seen > 500


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32), level=st.integers(0, 2))
def test_fused_products_only_round_less(seed, level):
    wrong, seen = rounding_mismatches(seed, level=level)
    assert wrong == 0
    assert seen > 100


def test_the_comparison_notices_an_instruction_that_is_wrong(monkeypatch):
    monkeypatch.setitem(instructions.COMPARISONS, "lt", "ole")
    monkeypatch.setitem(instructions.ARITHMETIC, "sub", "fadd")
    assert exact_mismatches(3)[0] > 50


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_every_operation_of_the_graph_has_its_instructions(name):
    rng = np.random.default_rng(5)
    graph = Graph()
    x = [graph.input(k, 0.5) for k in range(2)]
    node = graph.unary(name, x[0]) if name in UNARY else graph.binary(name, *x)
    (function,) = native([(graph, x, [node])], object_code.fused())
    values = np.vstack([rng.uniform(1.01, 3, (40, 2)), rng.uniform(-0.99, 0.99, (40, 2)), [[0.5, 0.5], [np.nan, 1.0]]])
    with np.errstate(all="ignore"):
        for at in values:
            expected = UNARY[name][0](at[0]) if name in UNARY else BINARY[name][0](*at)
            assert function(at)[0] == pytest.approx(float(expected), rel=4e-15, abs=3e-16, nan_ok=True)


def test_the_bits_do_not_depend_on_the_level_of_optimisation():
    rng = np.random.default_rng(2)
    made = [random_graph(rng, (*UNARY, "add", "sub", "mul", "div"), 200) for _ in range(10)]
    points = rng.normal(size=(20, 4))

    def bits(**how):
        found = [function(x) for function in native(made, object_code.fused(), **how) for x in points]
        return [np.where(np.isnan(y), np.nan, y).tobytes() for y in found]  # whose sign no standard defines

    first = bits(level=0)
    assert first == bits(level=1) == bits(level=2) == bits(level=2, inline=False)


@pytest.mark.parametrize("lanes", [2, 8, 16])
def test_lanes_have_the_bits_of_one(lanes):
    rng = np.random.default_rng(lanes)
    made = [random_graph(rng, (*UNARY, *BINARY, "select", "add", "sub", "mul", "div"), 60) for _ in range(10)]
    points = rng.normal(size=(lanes, 4))
    both = (native(made, object_code.fused(), lanes=n) for n in (1, lanes))
    for one, many in zip(*both, strict=True):
        assert np.array_equal(many(points), [one(x) for x in points], equal_nan=True)


def test_a_section_in_many_functions_gives_the_same(monkeypatch):
    monkeypatch.setattr(section, "LONGEST", 7)
    assert exact_mismatches(11, inline=False)[0] == 0
    assert exact_mismatches(12)[0] == 0


@pytest.mark.parametrize("fused", sorted({False, object_code.fused()}))
def test_sine_and_cosine_are_right_to_a_unit_everywhere(fused):
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("no extended precision on this machine")
    graph = Graph()
    x = graph.input("x", 0.3)
    (function,) = native([(graph, [x], [graph.unary("sin", x), graph.unary("cos", x)])], fused)
    rng = np.random.default_rng(3)
    k = rng.integers(-int(4 * REACH / np.pi) + 2, int(4 * REACH / np.pi) - 2, 20_000) * (np.pi / 4)
    uniform = [rng.uniform(-scale, scale, 20_000) for scale in (1e-3, 1.0, 10.0, 1e3, REACH, 1e9)]
    points = np.concatenate([*uniform, k, np.nextafter(k, np.inf), [0.0, REACH, 2 * REACH, 1e300, 5e-324]])
    found = np.array([function([p]) for p in points])
    exact = points.astype(np.longdouble)
    within = np.abs(points) <= REACH
    for column, function in ((0, np.sin), (1, np.cos)):
        assert np.abs(found[:, column] - function(exact))[within].max() < 2.3e-16
        np.testing.assert_allclose(found[~within, column], function(points[~within]), rtol=0, atol=2.3e-16)


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")


def decimal_sine(x, quarter_turns):
    """sin(x + quarter_turns pi/2) by its power series, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        x = (Decimal(x) + quarter_turns * PI / 2) % (2 * PI)
        total = term = x
        for k in range(1, 60):
            term *= -x * x / (2 * k * (2 * k + 1))
            total += term
        return total


def both(fused=False):
    graph = Graph()
    x = graph.input("x", 0.3)
    return native([(graph, [x], [graph.unary("sin", x), graph.unary("cos", x)])], fused)[0]


pair = cache(both)


@settings(deadline=None, max_examples=200)
@given(x=st.floats(-REACH, REACH))
def test_their_error_is_below_a_unit_by_the_power_series(x):
    found = pair()([x])
    for turns in (0, 1):
        assert abs(Decimal(float(found[turns])) - decimal_sine(x, turns)) < 2.3e-16


def test_without_the_third_part_of_pi_the_bound_would_not_hold(monkeypatch):
    """The checks above notice a reduction that is too short: 2^20 times the part left out, 2e-21, is 2e-15."""
    monkeypatch.setattr(circular, "PARTS", circular.PARTS[:2])
    short, points = both(), np.random.default_rng(3).uniform(-REACH, REACH, 20_000)
    assert np.abs(np.array([short([p])[0] for p in points]) - np.sin(points)).max() > 1e-15


def test_what_is_no_angle_has_no_sine():
    graph = Graph()
    x = graph.input("x", 0.3)
    (function,) = native([(graph, [x], [graph.unary("sin", x)])], object_code.fused())
    assert np.isnan([function([np.inf]), function([-np.inf]), function([np.nan])]).all()


@pytest.mark.parametrize("fused", sorted({False, object_code.fused()}))
def test_the_hyperbolic_tangent_is_right_to_two_units_everywhere(fused):
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("no extended precision on this machine")
    graph = Graph()
    x = graph.input("x", 0.3)
    (function,) = native([(graph, [x], [graph.unary("tanh", x)])], fused)
    rng = np.random.default_rng(3)
    uniform = [rng.uniform(-scale, scale, 10_000) for scale in (1e-8, 1e-3, 0.1, 1.0, 3.0, 20.0, 60.0)]
    points = np.concatenate([*uniform, np.arange(1, 90) * np.log(2) / 4, [1e300, -1e300, np.inf, -np.inf, SMALLEST]])
    exact = np.tanh(points.astype(np.longdouble))
    found = np.array([function([p])[0] for p in points])
    assert np.max(np.abs(found - exact) / np.abs(exact)) < 5e-16
    assert np.isnan(function([np.nan])[0])
    zeros = np.array([function([zero])[0] for zero in (0.0, -0.0)])
    assert np.array_equal(np.signbit(zeros), [False, True])
    assert not zeros.any()


def test_a_short_series_would_be_seen(monkeypatch):
    monkeypatch.setattr(hyperbolic, "SERIES", hyperbolic.SERIES[:-2])
    graph = Graph()
    x = graph.input("x", 0.3)
    (function,) = native([(graph, [x], [graph.unary("tanh", x)])], object_code.fused())
    points = np.linspace(0.01, 3, 4000)
    found = np.array([function([p])[0] for p in points])
    assert np.max(np.abs(found / np.tanh(points) - 1)) > 1e-15


@pytest.mark.parametrize("units", [15, 16, 40])
def test_the_units_of_layers_have_the_bits_that_each_has_alone(units):
    """Side by side in groups, of the first layer and of one behind it; in any order they are asked for."""
    graph, rng = Graph(), np.random.default_rng(units)
    given = [graph.input(k, 0.3) for k in range(units)]
    first = [graph.unary("tanh", x) for x in given]
    sums = [graph.add(first[k], graph.mul(first[k - 1], given[k])) for k in range(units)]
    outputs = [*first, *(graph.unary("tanh", x) for x in sums)]
    order = rng.permutation(len(outputs))
    (layers,) = native([(graph, given, [outputs[k] for k in order])], False)
    alone = Graph()
    x = alone.input("x", 0.3)
    (one,) = native([(alone, [x], [alone.unary("tanh", x)])], False)
    values = rng.normal(size=units)
    of_one = np.array([one([v])[0] for v in values])
    behind = np.array([one([of_one[k] + of_one[k - 1] * values[k]])[0] for k in range(units)])
    assert np.array_equal(layers(values), np.concatenate([of_one, behind])[order])


SMALLEST = np.finfo(float).tiny


def test_what_decays_below_the_smallest_normal_number_is_zero():
    """A sleigh turns less and less; numbers below took it 18 ns of 42 a step."""
    traj = dh.simulate(dh.systems.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=115_000, save_every=100)
    turning = np.abs(np.asarray(traj.xi[:, 0]))
    assert turning[-1] == 0 < turning[-200] < 1e-270
    assert not np.any((turning > 0) & (turning < SMALLEST))


def test_after_a_run_small_numbers_are_what_they_were():
    dh.simulate(dh.systems.ChaplyginSleigh(), [0.1, 0, 0], [0.3, 1.4], h=0.01, steps=2)
    assert np.all(np.array([SMALLEST, 2 * SMALLEST]) / 4 > 0)


@pytest.mark.parametrize("where", ["stack", "heap"])
@pytest.mark.parametrize("family", ["x86_64", "aarch64", "riscv64"])
def test_every_processor_is_told_in_its_own_words(family, where, monkeypatch):
    """The words are LLVM's: it would not take another family's for its own."""
    monkeypatch.setattr(module, "architecture", lambda: family)
    memory = section.Memory()
    memory.new(1 if where == "stack" else module.MOST_ON_STACK)
    lines = ["  store double 0.0, ptr %a", "  store double 0.0, ptr %memory", "  ret void"]
    text = module.run_function(lines, ["a"], memory, instructions.Kind(fused=True))
    assert ("malloc" in text) == (where == "heap")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(f"{family}-unknown-linux-gnu").create_target_machine()
    said = {"x86_64": "ldmxcsr", "aarch64": "FPCR", "riscv64": "nothing"}[family]
    assert machine.emit_assembly(llvm.parse_assembly(text)).upper().count(said.upper()) in (
        {"nothing": [0]}.get(said, [2, 3])
    )
