"""
Many small cases as one test.

A test of pytest costs some milliseconds, in each process of `-n`: cases of a millisecond that
nobody selects by name are a loop. All of them run; an error says which case it is of.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any, TypeAlias

from helpers.programs.random_settings import OTHER, rounds

Test: TypeAlias = Callable[..., None]


def every(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Call a test with each of `cases`: like `pytest.mark.parametrize`, but one test."""
    listed = list(cases)
    assert listed, "no cases"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(**others: Any) -> None:
            failures: list[Exception] = []
            for case in listed:
                values = {names: case} if isinstance(names, str) else dict(zip(names, case))
                try:
                    test(**others, **values)
                except Exception as error:
                    error.add_note(f"in the case {values}")
                    failures.append(error)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(listed)} cases", failures)

        had = signature(test)
        ours = (names,) if isinstance(names, str) else names
        kept = [value for name, value in had.parameters.items() if name not in ours]
        assert len(kept) + len(ours) == len(had.parameters), "the test has other parameters"
        del run.__wrapped__
        setattr(run, "__signature__", had.replace(parameters=kept))
        return run

    return decorate


def seeds(count: int) -> Callable[[Test], Test]:
    """Call a test with each `seed` of the `rounds` of `count`, or of `XRELAY_RANDOM_PROGRAMS`."""
    return every("seed", range(OTHER or rounds(count, 4)))
