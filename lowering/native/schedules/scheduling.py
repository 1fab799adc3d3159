"""
A schedule as the text of transform dialect: the steps of one kernel, and the library of many.

    Schedule(on_tensors='''
      %product = transform.structured.match ops{["linalg.matmul"]} in %kernel …
      …
    ''')

A schedule only makes code faster: a kernel whose schedule fails, or takes too long, is compiled
without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..toolchain.stages import BUFFERIZE, LOWER_TO_LLVM

SCHEDULE = "xrelay.schedule"
"""The schedules of a kernel, in order: a dictionary each, of its kind and its sizes."""

ON_TENSORS = "on_tensors"
ON_BUFFERS = "on_buffers"
"""The sequences that are run before and after bufferization."""

SCHEDULED = (
    f"transform-interpreter{{entry-point={ON_TENSORS}}}",
    # Not cse: one empty tensor for two would let a step be computed in the result's memory,
    # which the plan may have laid over an operand.
    "canonicalize",
    *BUFFERIZE,
    f"transform-interpreter{{entry-point={ON_BUFFERS}}}",
    *LOWER_TO_LLVM,
)
"""The passes for kernels with schedules, once these are loaded."""


class Schedule(NamedTuple):
    """
    The transformations of one kernel.

    Both are the ops of a `transform.named_sequence`, without its end, in which
    `%kernel : !transform.any_op` is the `func.func`.
    """

    on_tensors: str
    on_buffers: str = ""


def library_text(schedules: Mapping[str, Schedule]) -> str:
    """
    Return a module with the schedules of kernels, by symbol.

    Its sequences `on_tensors` and `on_buffers` apply each to the function of that name.
    """
    on_tensors = {symbol: schedule.on_tensors for symbol, schedule in schedules.items()}
    on_buffers = {s: schedule.on_buffers for s, schedule in schedules.items()}
    stages = _sequences(ON_TENSORS, on_tensors) + _sequences(ON_BUFFERS, on_buffers)
    return f"module attributes {{transform.with_named_sequence}} {{\n{stages}}}\n"


def _sequences(name: str, bodies: Mapping[str, str]) -> str:
    parts: list[str] = []
    calls: list[str] = []
    for number, (symbol, body) in enumerate(bodies.items()):
        if not body.strip():
            continue
        parts.append(_sequence(f"{name}_{symbol}", "%kernel", body))
        calls.append(
            f'%k{number} = transform.structured.match ops{{["func.func"]}} '
            f'attributes{{sym_name = "{symbol}"}} in %module '
            ": (!transform.any_op) -> !transform.any_op\n"
            f"transform.include @{name}_{symbol} failures(propagate) (%k{number}) "
            ": (!transform.any_op) -> ()\n"
        )
    return "".join(parts) + _sequence(name, "%module", "".join(calls))


def _sequence(name: str, argument: str, body: str) -> str:
    return (
        f"transform.named_sequence @{name}({argument}: !transform.any_op {{transform.readonly}}) "
        f"{{\n{body}\ntransform.yield\n}}\n"
    )
