"""Workspaces of compiled code: kept, bounded, freed, and never used by two calls at once."""

from threading import Thread

import numpy as np

from xrelay.runtime.native.output_memory import Workspaces
from xrelay.runtime.program.program import Array


def taken(spaces: Workspaces, size: int, alignment: int = 64) -> Array:
    space = spaces.take(size, alignment)
    assert space is not None
    assert space.nbytes >= size
    assert space.ctypes.data % alignment == 0
    return space


def test_one_is_kept_for_calls_of_any_size():
    spaces = Workspaces()
    for size in (100, 300, 200, 0, 301):
        spaces.give_back(taken(spaces, size))
    assert 301 <= spaces.size < 500
    space = taken(spaces, 250)
    assert spaces.size == 0
    spaces.give_back(space)
    assert taken(spaces, 301) is space


def test_calls_at_the_same_time_have_their_own():
    spaces = Workspaces()
    one, two = taken(spaces, 100), taken(spaces, 100)
    assert not np.shares_memory(one, two)
    for space in (one, two):
        spaces.give_back(space)
    again = [taken(spaces, 100), taken(spaces, 100)]
    assert {id(space) for space in again} == {id(one), id(two)}


def test_what_is_kept_has_a_bound():
    spaces = Workspaces(limit=1000)
    large, small = taken(spaces, 2000), taken(spaces, 10)
    spaces.give_back(small)
    spaces.give_back(large)
    assert spaces.size <= 1000
    spaces.clear()
    assert spaces.size == 0


def test_no_memory_is_none():
    assert Workspaces().take(1 << 62, 64) is None


def test_threads():
    spaces, wrong = Workspaces(), list[int]()

    def work(number: int) -> None:
        for size in range(1, 200):
            space = taken(spaces, size)
            space[:] = number
            if (space != number).any():
                wrong.append(number)
            spaces.give_back(space)

    threads = [Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert spaces.size < 8 * 300
