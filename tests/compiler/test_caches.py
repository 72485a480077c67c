"""What is built and compiled is bounded, can be freed, and is made again when it is needed."""

import gc

import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel._support import caches
from discrete_hamel._support.caches import Cache, StartReason, garbage_kept, make_room
from discrete_hamel.compiler import paths as choice

on_linux = pytest.mark.skipif(not caches.MAPPINGS.exists(), reason="counts the memory mappings of Linux")


def run(**options):
    sleigh = dh.systems.ChaplyginSleigh()
    return dh.simulate(sleigh, q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=20, **options)


@on_linux
def test_clearing_frees_what_was_compiled_and_changes_no_number():
    before = run()
    mappings = caches._mappings()
    assert choice._steps
    dh.clear_caches()
    assert not choice._steps
    assert caches._mappings() < mappings
    assert np.array_equal(run().q, before.q)


@on_linux
def test_room_is_made_near_the_limit_only(monkeypatch):
    """By what XLA compiled, on the plain path; native code is bounded by its own cache."""
    run()
    run(compiled=False)
    built, mappings = dict(choice._steps), caches._mappings()
    monkeypatch.setattr(caches, "_next_look", 0.0)
    make_room()
    assert caches._mappings() >= mappings
    monkeypatch.setattr(caches, "SHARE", 0.0)
    make_room()  # soon after: nobody looks
    assert caches._mappings() >= mappings
    monkeypatch.setattr(caches, "_next_look", 0.0)
    make_room()
    assert caches._mappings() < mappings
    assert dict(choice._steps) == built


def test_the_oldest_is_forgotten_and_a_reason_of_the_start_is_not_kept():
    cache = Cache(most=2)
    assert [cache.fetch(k, lambda k=k: -k) for k in (1, 2, 3, 3)] == [-1, -2, -3, -3]
    assert list(cache) == [2, 3]
    assert cache.fetch(4, lambda: StartReason("singular there")) == "singular there"
    assert list(cache) == [2, 3]


def test_garbage_is_searched_again_whichever_thread_ends_last():
    assert gc.isenabled()
    first, second = garbage_kept(), garbage_kept()
    first.__enter__()
    second.__enter__()
    assert not gc.isenabled()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert gc.isenabled()
    gc.disable()
    try:
        with garbage_kept():
            pass
        assert not gc.isenabled()  # who has turned it off finds it so
    finally:
        gc.enable()


class Shared(Cache):
    """As if another thread forgot all wherever there is time to: after each look, and after each value is put there."""

    def __contains__(self, key):
        there = super().__contains__(key)
        self.clear()
        return there

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.clear()


def test_who_asks_gets_a_value_though_another_thread_forgets_all():
    cache = Shared(most=2)
    assert cache.fetch(1, lambda: 5) == 5
    dict.__setitem__(cache, 1, 5)
    assert cache.fetch(1, lambda: 6) in (5, 6)
