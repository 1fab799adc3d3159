"""Free bytes at a point of a path, against a list of the live ones."""

import numpy as np
import pytest
from helpers.programs.random_settings import rounds

from xrelay.runtime.memory.limits import Memory, OutOfMemory
from xrelay.runtime.memory.regions import Extent, Region
from xrelay.runtime.memory.spaces import Space


def space_of(limit: int = 1 << 30, reuses: bool = True) -> Space:
    return Space(Extent(Region(Memory(limit))), reuses)


def test_a_storage_takes_the_smallest_gap_that_fits():
    space = space_of()
    firsts = [space.take(size, 64, "a storage")[0] for size in (256, 64, 128, 64, 100)]
    assert firsts == [0, 256, 320, 448, 512]
    space.give(0, 256)
    space.give(320, 128)
    assert space.take(128, 64, "a storage")[0] == 320
    assert space.take(65, 64, "a storage")[0] == 0
    assert space.take(200, 64, "a storage")[0] == 640
    assert space.extent.top == 840


def test_neighbours_that_are_free_are_one_gap():
    space = space_of()
    for _ in range(5):
        space.take(64, 64, "a storage")
    for at in (64, 192, 128):
        space.give(at, 64)
    assert space.contents == (320, 64, 256)
    assert space.take(192, 64, "a storage")[0] == 64
    space.give(256, 64)
    assert space.contents == (256,)


def test_bytes_are_not_taken_again_without_reuse():
    space = space_of(reuses=False)
    space.give(*(space.take(64, 64, "a storage")[0], 64))
    assert space.take(64, 64, "a storage")[0] == 64


def test_a_copy_is_another_path():
    space = space_of()
    space.take(64, 64, "a storage")
    other = space.copy()
    assert space.take(64, 64, "a storage")[0] == other.take(100, 64, "a storage")[0] == 64
    assert space.extent.top == 164


def test_more_than_the_limit_is_refused_and_changes_nothing():
    space = space_of(1000)
    space.take(600, 64, "a storage")
    with pytest.raises(OutOfMemory, match="a storage needs"):
        space.take(600, 64, "a storage")
    assert space.contents == (640,)
    assert space.extent.region.memory.used == 600


@pytest.mark.parametrize("seed", range(rounds(20)))
def test_random_storages_do_not_overlap(seed: int):
    random = np.random.default_rng(seed)
    space = space_of()
    live: list[tuple[int, int]] = []
    owned = np.zeros(1 << 22, bool)
    for _ in range(400):
        if live and random.random() < 0.45:
            at, size = live.pop(random.integers(len(live)))
            space.give(at, size)
            owned[at : at + size] = False
            continue
        size = int(random.integers(0, 1000))
        alignment = 1 << int(random.integers(0, 13))
        at, memory = space.take(size, alignment, "a storage")
        assert len(memory) == size
        assert not size or memory.ctypes.data % max(alignment, 64) == 0
        assert not owned[at : at + size].any()
        owned[at : at + size] = True
        live.append((at, size))
    for at, size in live:
        space.give(at, size)
    assert space.contents == (0,)
    assert space.by_size == []
