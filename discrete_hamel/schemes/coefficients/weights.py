"""Weights of symmetric compositions, as data: a step h becomes steps gamma_1 h, ..., gamma_s h of the base scheme."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import Pytree


class Weights(Pytree):
    """gamma_1..gamma_s, a palindrome with sum 1, which raise a symmetric scheme of order 2 to `order`.

    `half` holds gamma_1..gamma_{(s+1)/2}; the middle one is made from the others, so that the sum is 1.
    """

    half: Array | tuple[float, ...]
    order: int
    source: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "half", np.asarray(self.half, float))

    @property
    def gamma(self) -> Array:
        """All s of them."""
        outer = jnp.asarray(self.half)[:-1]
        middle = 1 - 2 * jnp.sum(outer)
        return jnp.concatenate([outer, middle[None], outer[::-1]])

    def __len__(self) -> int:
        return 2 * len(self.half) - 1


def _nest(order: int, stage: Callable[[int], tuple[float, ...]], source: str) -> Weights:
    """The compositions `stage(p)` for p = 4, ..., order, each of the one before: every inner weight times every outer.

    `stage` gives the first half of its weights, to the middle.
    """
    if order < 4 or order % 2:
        raise InputError(f"order is {order}; symmetric compositions have even orders, from 4 on.")
    gamma: tuple[float, ...] = (1.0,)
    for p in range(4, order + 1, 2):
        half = stage(p)
        gamma = tuple(outer * weight for outer in (*half, *half[-2::-1]) for weight in gamma)
    return Weights(gamma[: (len(gamma) + 1) // 2], order, source)


def triple_jump(order: int) -> Weights:
    """3, 9, 27 steps for order 4, 6, 8: gamma_1 = 1 / (2 - 2^{1/(p-1)}), gamma_2 = 1 - 2 gamma_1, again.

    Creutz & Gocksch (1989), Suzuki (1990), Yoshida (1990); Hairer, Lubich & Wanner (2006) II (4.4).

    >>> [round(float(g), 6) for g in triple_jump(4).gamma]
    [1.351207, -1.702414, 1.351207]
    """

    def stage(p: int) -> tuple[float, ...]:
        jump = 1 / (2 - 2 ** (1 / (p - 1)))
        return jump, 1 - 2 * jump

    return _nest(order, stage, "triple jump: Yoshida, Phys. Lett. A 150 (1990) 262")


def suzuki(order: int) -> Weights:
    """5, 25, 125 steps for order 4, 6, 8: gamma_1 = gamma_2 = 1 / (4 - 4^{1/(p-1)}), gamma_3 = 1 - 4 gamma_1, again.

    More steps than the triple jump but shorter ones, none longer than h.   Suzuki (1990); HLW II (4.5)

    >>> [round(float(g), 6) for g in suzuki(4).gamma]
    [0.414491, 0.414491, -0.657963, 0.414491, 0.414491]
    """

    def stage(p: int) -> tuple[float, ...]:
        jump = 1 / (4 - 4 ** (1 / (p - 1)))
        return jump, jump, 1 - 4 * jump

    return _nest(order, stage, "Suzuki, Phys. Lett. A 146 (1990) 319")


# Decimals as published; the tests check the order conditions to round-off.

MCLACHLAN_4 = Weights(
    (0.28, 0.62546642846767004501, -0.81093285693534009002), 4, "McLachlan, SIAM J. Sci. Comput. 16 (1995) 151: 5 steps"
)
YOSHIDA_6 = Weights((
    0.78451361047755726381949763, 0.23557321335935813368479318, -1.17767998417887100694641568,
    1.31518632068391121888424973,
), 6, "Yoshida, Phys. Lett. A 150 (1990) 262, solution A; HLW V (3.11): 7 steps")  # fmt: skip
KAHAN_LI_6 = Weights((
    0.39216144400731413927925056, 0.33259913678935943859974864, -0.70624617255763935980996482,
    0.08221359629355080023149045, 0.79854399093482996339895035,
), 6, "Kahan & Li, Math. Comp. 66 (1997) 1089; HLW V (3.12): 9 steps")  # fmt: skip
SUZUKI_UMENO_8 = Weights((
    0.74167036435061295344822780, -0.40910082580003159399730010, 0.19075471029623837995387626,
    -0.57386247111608226665638773, 0.29906418130365592384446354, 0.33462491824529818378495798,
    0.31529309239676659663205666, -0.79688793935291635401978884,
), 8, "Suzuki & Umeno (1993), McLachlan (1995); HLW V (3.13): 15 steps")  # fmt: skip
KAHAN_LI_8 = Weights((
    0.13020248308889008087881763, 0.56116298177510838456196441, -0.38947496264484728640807860,
    0.15884190655515560089621075, -0.39590389413323757733623154, 0.18453964097831570709183254,
    0.25837438768632204729397911, 0.29501172360931029887096624, -0.60550853383003451169892108,
), 8, "Kahan & Li, Math. Comp. 66 (1997) 1089; HLW V (3.14): 17 steps")  # fmt: skip


def most_accurate(order: int) -> Weights:
    """The most accurate published ones that we know at equal cost: Suzuki's for order 4, Kahan & Li's for 6 and 8."""
    best = {4: suzuki(4), 6: KAHAN_LI_6, 8: KAHAN_LI_8}
    if order not in best:
        raise InputError(f"order is {order}; weights are here for 4, 6 and 8.")
    return best[order]
