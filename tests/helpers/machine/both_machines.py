"""The machine, held to its specification: `from both_machines import Machine`."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from helpers.machine.reference_machine import ReferenceMachine

from xrelay.runtime.calls.values import Tagged, Value
from xrelay.runtime.errors import MachineError
from xrelay.runtime.kernels.bind import Bind
from xrelay.runtime.machine.machine import Machine as FastMachine
from xrelay.runtime.program.program import Array, Program

LIMITS = re.compile("--memory-limit|has not enough|array size limit")
"""Errors that the specification does not have: its memory is not limited."""


class Machine(FastMachine):
    """
    A machine whose every call is compared with that of the reference machine.

    A path is recorded before it runs, so of two errors it may report the later one: set
    `same_messages` to False for programs that may have two.
    """

    same_messages = True

    def __init__(
        self,
        program: Program,
        constants: Mapping[str, Array] | None = None,
        kernels: Mapping[str, Bind] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(program, constants, kernels, **options)
        limit = options.get("max_instructions")
        self.reference = ReferenceMachine(program, constants, kernels, max_instructions=limit)

    def evaluate(self, function: str = "main", *args: object, **options: Any) -> Value:
        try:
            found = super().evaluate(function, *args, **options)
        except MachineError as error:
            if not LIMITS.search(str(error)):
                self._fails_too(error, function, args)
            raise
        same_value(found, self.reference.evaluate(function, *args))
        return found

    def _fails_too(self, error: MachineError, function: str, args: tuple[object, ...]) -> None:
        with pytest.raises(MachineError) as caught:
            self.reference.evaluate(function, *args)
        too_long = "(--max-instructions)" in str(error)  # the last instruction may be another one
        if self.same_messages and not too_long:
            assert (str(caught.value), caught.value.location) == (str(error), error.location)


def same_value(found: Value, wanted: Value) -> None:
    """Check that two values are equal, however deep they are."""
    rest = [(found, wanted)]
    while rest:
        one, other = rest.pop()
        if isinstance(one, tuple):
            assert isinstance(other, tuple)
            assert len(one) == len(other)
            assert getattr(one, "tag", 0) == getattr(other, "tag", 0)
            assert isinstance(one, Tagged) == isinstance(other, Tagged)
            rest += zip(one, other, strict=True)
            continue
        assert not isinstance(other, tuple)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_array_equal(one, other)
