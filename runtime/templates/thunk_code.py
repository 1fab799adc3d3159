"""
The code of kernels that were bound to places: closures and thunks as lines of a template.

    partial(np.add, x, y, z)   ->   k1(v1, v1, v2)
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import CellType, FunctionType
from typing import Any

import numpy as np

from ..kernels.bind import InOrder, Thunk, flattened
from .places import Body, Method, Place
from .sizes import NoTemplate, Traced, code_of


class Lines:
    """A thunk that is known as lines of code."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def __call__(self) -> None:
        raise AssertionError("only its lines are used")


def lines_of(body: Body, thunk: Thunk) -> list[str]:
    """Return the lines that do what `thunk` does; raise `NoTemplate` if that is not known."""
    lines: list[str] = []
    part: Any
    for part in flattened(thunk):
        if isinstance(part, Lines):
            lines += part.lines
        elif type(part) is partial:
            args = [argument(body, arg) for arg in part.args]
            args += [f"{key}={argument(body, arg)}" for key, arg in part.keywords.items()]
            lines.append(f"{argument(body, part.func)}({', '.join(args)})")
        else:
            lines.append(f"{argument(body, part)}()")
    return lines


def argument(body: Body, arg: Any) -> str:
    """Return the expression for an object that a kernel uses when it runs."""
    if isinstance(arg, Place):
        return arg.name()
    if isinstance(arg, Traced) or arg is None or type(arg) in (bool, int):
        return code_of(arg)
    if isinstance(arg, Method):
        return f"{arg.place.name()}.{arg.name}"
    if isinstance(arg, np.ndarray):
        if arg.dtype == object:
            raise NoTemplate("sizes in an array")
        code = body.trace.constant(arg)
        return body.view(f"{code}.copy()") if arg.flags.writeable else code  # one for each arena
    if not _is_traced(arg):
        return body.trace.constant(arg)
    if type(arg) in (tuple, list):
        listed = "".join(f"{argument(body, item)}, " for item in arg)
        return f"({listed})" if type(arg) is tuple else f"[{listed}]"
    if type(arg) is slice:
        return f"slice({', '.join(argument(body, part) for part in _parts(arg))})"
    if type(arg) is partial and not arg.keywords:
        return f"partial({', '.join(argument(body, part) for part in _parts(arg))})"
    if type(arg) is FunctionType and not _is_traced(arg.__defaults__):
        cells = "".join(f"{argument(body, part)}, " for part in _parts(arg))
        return f"closure({body.trace.constant(arg)}, ({cells}))"
    raise NoTemplate(f"a kernel that uses {arg!r:.60}")


def _parts(item: Any) -> Sequence[Any]:
    """Return what an object that kernels use is made of."""
    match item:
        case tuple() | list():
            return item  # pyright: ignore[reportUnknownVariableType]
        case slice():
            return (item.start, item.stop, item.step)
        case partial():
            return (item.func, *item.args, *item.keywords.values())
        case InOrder():
            return item.thunks
        case FunctionType():
            cells = item.__closure__ or ()
            return [cell.cell_contents for cell in cells]
        case _:
            return ()


def _is_traced(item: Any) -> bool:
    """Test whether an object depends on the sizes of the call, or on places."""
    if isinstance(item, Place | Traced | Method):
        return True
    if isinstance(item, dict):
        return any(map(_is_traced, item.values()))
    return any(map(_is_traced, _parts(item)))


def closure(function: FunctionType, contents: Sequence[object]) -> FunctionType:
    """Return `function` with other contents of its cells."""
    cells = tuple(map(CellType, contents))
    return FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, cells
    )
