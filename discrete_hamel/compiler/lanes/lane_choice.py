"""Whether runs side by side can take the compiled step for lanes, else why not."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.caches import Cache
from discrete_hamel.compiler.graph.expressions import MOST_NODES, Unsupported
from discrete_hamel.compiler.graph.leaves import scalars
from discrete_hamel.compiler.lanes.lanes import LARGEST, Bundle, advance, work
from discrete_hamel.compiler.native.host import usable
from discrete_hamel.compiler.native.lanes import LaneRun
from discrete_hamel.compiler.step.stepper import Stepper, in_steps
from discrete_hamel.compiler.step.verification import difference, refused
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

_bundles = Cache(most=100)


def bundle_for(
    system: System, scheme: Scheme, state: State, h: Array, varying: tuple[bool, ...], capacity: int, members: int
) -> Bundle | str:
    """The compiled step for lanes, from a sample member, or the reason why there is none.

    `varying` says which numbers among the parameters differ from lane to lane; `members` a call and the `capacity` for
    their nodes are what it is compiled for.
    """
    tree = (system, scheme, state, h)
    shapes = tuple((leaf.shape, str(leaf.dtype)) for leaf in jax.tree.leaves(tree))
    key = (jax.tree.structure(tree), shapes, varying, capacity, members)
    return _bundles.kept(key, lambda: _built(*tree, varying, capacity, members))


def _built(
    system: System, scheme: Scheme, state: State, h: Array, varying: tuple[bool, ...], capacity: int, members: int
) -> Bundle | str:
    try:
        native = usable(state)
        stepper = Stepper(system, scheme, state, h, cost=work, most=MOST_NODES if native else LARGEST)
        if not (native or stepper.native):
            return "this machine or version of JAX does not make one kernel of a loop"
        bundle, numbers = Bundle(stepper, varying), scalars((system, *in_steps(scheme, h)))
        bundle.native = LaneRun(stepper) if native else None
        own = jnp.array([jnp.full(members, x) for x, v in zip(numbers, varying, strict=True) if v])
        own = own.reshape(sum(varying), members).astype(h.dtype)
        begin = jnp.broadcast_to(jnp.stack(scalars(state))[:, None], (len(scalars(state)), members))
        common = [x for x, v in zip(numbers, varying, strict=True) if not v]
        one, active = jnp.asarray(1), jnp.ones(members, begin.dtype)
        _, done, _, _, rows = advance(bundle, capacity, common, one, one, own, begin, active)  # compiles, or fails to
        q, p, xi = np.split(rows[: int(done[0]), :, 0], [state.q.size, state.q.size + state.p.size], axis=1)
        if unlike := difference(stepper, system, scheme, state, h, ({"q": q, "p": p}, xi, None)):
            return refused(system, scheme, unlike)
    except Unsupported as error:
        return error.reason
    except Exception as error:  # whatever it is, the plain path is the definition and takes over; the report says so
        return f"{type(error).__name__}: {error}"
    return bundle
