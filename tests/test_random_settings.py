"""A random test that fails shows it soon."""

import time

import pytest
from helpers.programs.random_settings import SHRINKING, exactly
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.internal.conjecture import engine


@pytest.mark.ci
def test_a_failure_is_not_shrunk_for_minutes(monkeypatch: pytest.MonkeyPatch):
    """Shrinking has a limit: here, 20 calls of 10 ms of more than a hundred."""
    assert engine.MAX_SHRINKING_SECONDS == SHRINKING
    monkeypatch.setattr(engine, "MAX_SHRINKING_SECONDS", 0.2)
    calls = 0

    @exactly(400)
    @given(st.lists(st.integers(), min_size=50))
    def fails(numbers: list[int]):
        nonlocal calls
        calls += 1
        time.sleep(0.01)
        assert sum(map(abs, numbers)) < 1 << 20

    with pytest.raises(AssertionError):
        fails()
    assert calls < 60
