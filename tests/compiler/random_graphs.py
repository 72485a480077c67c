"""Random scalar graphs, what NumPy makes of them, and their native code."""

import ctypes

import numpy as np

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.operations import BINARY, UNARY
from discrete_hamel.compiler.native import object_code
from discrete_hamel.compiler.native.circular import METADATA, circular
from discrete_hamel.compiler.native.hyperbolic import hyperbolic
from discrete_hamel.compiler.native.instructions import Code, Kind
from discrete_hamel.compiler.native.section import Memory, Section, load

EXACT = ("add", "sub", "mul", "div", "neg", "sqrt", "abs", "sign", "floor", "ceil", "max", "min", "select")
EXACT += ("lt", "le", "gt", "ge", "eq", "ne", "stop_gradient")  # operations that IEEE 754 defines to the last bit
SMOOTH = ("add", "sub", "mul", "neg", "max", "min", "abs", "add", "sub", "mul")  # whose rounding errors add up simply
ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative}
LIKE_JAX = ARITHMETIC | {  # where NumPy says of 0 and -0 what its processor says
    "sign": lambda x: np.sign(x) if x != 0 else x,
    "max": lambda x, y: x if x >= y or np.isnan(x) else y,
    "min": lambda x, y: x if x <= y or np.isnan(x) else y,
}
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e300, 5e-324, np.inf, np.nan)


def random_graph(rng, operations, count, inputs=4):
    """A graph, its input nodes, and outputs; numbers among the operands are often such as fold."""
    graph = Graph()
    given = [graph.input(k, rng.normal()) for k in range(inputs)]
    nodes = list(given)
    for _ in range(count):
        name = rng.choice(operations)
        operands = [int(rng.choice(nodes[-12:] if rng.random() < 0.7 else nodes)) for _ in range(3)]
        if rng.random() < 0.2:
            operands[rng.integers(3)] = graph.const(float(rng.choice(SPECIAL[:6])))
        with np.errstate(all="ignore"):
            nodes.append(
                graph.apply(name, *operands[: 3 if name == "select" else 1 if name in UNARY or name == "neg" else 2])
            )
    return graph, given, [int(o) for o in rng.choice(nodes, 5)] + nodes[-3:]


def by_numpy(graph, outputs, values):
    """The outputs where the inputs have these values by node, and bounds of their rounding errors."""
    found, errors = dict(values), dict.fromkeys(values, 0.0)
    eps = np.finfo(float).eps
    with np.errstate(all="ignore"):
        for i in graph.dependencies(outputs):
            if i in found:
                continue
            name, *operands = graph.nodes[i]
            if name == "const":
                found[i], errors[i] = operands[0], 0.0
                continue
            of, off = [np.float64(found[a]) for a in operands], [errors[a] for a in operands]
            if name == "select":
                found[i] = of[1] if of[0] != 0 else of[2]
            else:
                table = LIKE_JAX.get(name) or (UNARY[name][0] if name in UNARY else BINARY[name][0])
                found[i] = float(table(*of))
            errors[i] = sum(off) + eps * abs(found[i])
            if name == "mul":
                errors[i] = abs(of[0]) * off[1] + abs(of[1]) * off[0] + off[0] * off[1] + eps * abs(found[i])
    return [found[o] for o in outputs], [errors[o] for o in outputs]


def native(graphs, fused, inline=True, level=1, lanes=1):
    """The native code of some graphs, (graph, inputs, outputs) each: a list of functions of arrays, with lanes in
    front if there are several."""
    kind = Kind(fused, lanes)
    texts = [kind.declarations(), circular(kind, inline), hyperbolic(kind)]
    for k, (graph, given, outputs) in enumerate(graphs):
        memory = Memory()
        for node in given:
            memory.place(graph, node)
        section = Section(f"g{k}", graph, outputs, given, memory, kind)
        code = Code(kind)
        for i, node in enumerate(given):
            code.store(code.load("%x", i), "%memory", memory.place(graph, node))
        section.call(code)
        for i, node in enumerate(outputs):
            code.store(load(code, memory, graph, node), "%y", i)
        body = f"  %memory = alloca [{memory.size} x {kind.double}]\n" + "\n".join(code.lines)
        texts += [section.text(inline), f"define void @f{k}(ptr %x, ptr %y) {{\n{body}\n  ret void\n}}\n"]
    library = object_code.Library(object_code.assemble("".join([*texts, METADATA]), level))
    pointers = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

    def function(k):
        code, count = pointers(library.address(f"f{k}")), len(graphs[k][2])

        def call(x):
            x, y = np.ascontiguousarray(np.transpose(x), float), np.full((count, *np.shape(x)[:-1]), 7.0)
            code(x.ctypes.data, y.ctypes.data)
            return y.T, library  # which has to live as long as its code runs

        return lambda x: call(x)[0]

    return [function(k) for k in range(len(graphs))]


def points(rng, inputs=4):
    """Where to evaluate: anywhere, and at special numbers."""
    return [rng.normal(size=inputs), 10.0 ** rng.uniform(-9, 9, inputs), rng.choice(SPECIAL, inputs)]


def exact_mismatches(seed, graphs=40, count=40, **how):
    """How many outputs of random graphs differ from NumPy's by a bit, and how many there were."""
    rng = np.random.default_rng(seed)
    made = [random_graph(rng, EXACT, count) for _ in range(graphs)]
    wrong = seen = 0
    for (graph, given, outputs), function in zip(made, native(made, False, **how), strict=True):
        for x in points(rng):
            expected = np.array(by_numpy(graph, outputs, dict(zip(given, x, strict=True)))[0])
            found = function(x)
            wrong += int(np.sum(~((found == expected) | (np.isnan(found) & np.isnan(expected)))))
            seen += len(found)
    return wrong, seen


def rounding_mismatches(seed, graphs=40, count=40, **how):
    """The same with products fused into sums, where results may differ by what is rounded off."""
    rng = np.random.default_rng(seed)
    made = [random_graph(rng, SMOOTH, count) for _ in range(graphs)]
    wrong = seen = 0
    for (graph, given, outputs), function in zip(made, native(made, object_code.fused(), **how), strict=True):
        for x in points(rng)[:2]:
            expected, error = map(np.array, by_numpy(graph, outputs, dict(zip(given, x, strict=True))))
            found = function(x)
            usable = np.isfinite(expected) & np.isfinite(error)
            wrong += int(np.sum(~(np.abs(found - expected) <= 2.01 * error)[usable]))
            seen += int(usable.sum())
    return wrong, seen
