"""Programs of one expression, and NumPy functions that give the numbers that they should."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from helpers.machine.in_machine import results_in_machine
from helpers.native.compiled_programs import CompiledPrograms
from helpers.programs.agreement import Array
from helpers.programs.random_settings import share
from helpers.relay.relay_programs import read

from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.passes.evaluation.evaluator import evaluate

Reference: TypeAlias = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
)


@dataclass(frozen=True)
class Case:
    """The parameters and body of `@main`, the arguments, and what they should give."""

    params: str
    body: str
    args: Sequence[Array]
    expected: Reference
    meta: dict[str, Any] | None = None
    """The metadata of the program."""

    @property
    def text(self) -> str:
        return f"def @main({self.params}) {{ {self.body} }}"

    @property
    def results(self) -> list[Array]:
        found = cast("Callable[..., Any]", self.expected)(*self.args)
        return flattened(found)


RNG = np.random.default_rng(11)


def floats(*shape: int) -> Array:
    return RNG.integers(-8, 8, shape).astype(np.float32) / 2


def ints(*values: int, dtype: str = "int64") -> Array:
    return np.array(values, dtype)


def flattened(value: Any) -> list[Array]:
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in flattened(part)]  # pyright: ignore[reportUnknownVariableType]
    return [np.asarray(value)]


def assert_close(found: Sequence[Array], expected: Sequence[Array], atol: float = 0) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_allclose(
            one.astype(np.float64), other.astype(np.float64), rtol=1e-6, atol=atol
        )


def check_case(case: Case, atol: float = 0) -> None:
    """
    Check that the case agrees with NumPy in the evaluator and in the machine.

    It is printed as text that is read as the same program.
    """
    module = read(case.text, case.meta)
    assert read(module_text(module)).is_structurally_equivalent(module)
    expected = case.results
    for found in (
        evaluate(module.clone(), case.args),
        results_in_machine(module, case.args, "main"),
    ):
        assert_close(flattened(found), expected, atol)


def check_machine_code(cases: dict[str, Case], folder: Path) -> None:
    """Check that cases, or the share of them that is tested by default, agree in machine code."""
    programs = CompiledPrograms()
    for name, case in share([*cases.items()], 16):
        programs.add_accepted(read(case.text, case.meta), [case.args], name)
    programs.check(folder)
