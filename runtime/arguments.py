"""
Arguments of calls from Python: by position or name, as the parameters need them.

NumPy arrays, tuples and data are passed on as they are. Python's scalars become tensors of the
element type of their parameter, and anything else with `__dlpack__` is read where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

import numpy as np

from .dtypes import element_type
from .errors import MachineError
from .program import Function, Param

KINDS: Mapping[type, str] = {bool: "b", int: "iuf", float: "f"}
"""The kinds of NumPy's element types that a Python scalar may become."""


def in_order(
    function: Function, args: Sequence[object], named: Mapping[str, object]
) -> Sequence[object]:
    """
    Return the arguments in the order of the parameters.

    Raises `MachineError` for a name that is not a parameter's, a parameter that is given twice, and
    one that is missing.
    """
    names = [param.name for param in function.params]
    listed = f"its parameters are: {', '.join(names) or 'none'}"
    if len(args) > len(names):
        counts = f"{len(names)} arguments, but got {len(args)}"
        raise MachineError(f"{function.name} expects {counts}; {listed}")
    values = dict(zip(names, args, strict=False))
    for name, value in named.items():
        if name not in names:
            near = get_close_matches(name, names, n=1)
            cure = f"; did you mean '{near[0]}'?" if near else ""
            raise MachineError(f"{function.name} has no parameter '{name}'; {listed}{cure}")
        if name in values:
            raise MachineError(f"parameter '{name}' of {function.name} is given twice")
        values[name] = value
    missing = [f"'{name}'" for name in names if name not in values]
    if missing:
        what = f"parameter{'s' * (len(missing) > 1)} {', '.join(missing)}"
        raise MachineError(f"{function.name} needs a value for {what}")
    return [values[name] for name in names]


def converted(function: Function, args: Sequence[object]) -> list[object]:
    """Return `args` as the machine accepts them; raise `MachineError` for what cannot be one."""
    found = list(args)
    for i, (param, value) in enumerate(zip(function.params, args, strict=False)):
        if not isinstance(value, np.ndarray):
            found[i] = _converted(f"parameter '{param.name}' of {function.name}", param, value)
    return found


def _converted(what: str, param: Param, value: object) -> object:
    if isinstance(value, tuple | list | np.generic):
        return cast(object, value)
    if isinstance(value, bool | int | float):
        return _scalar(what, param, value)
    if hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(cast(Any, value))
        except (BufferError, RuntimeError, TypeError, ValueError, AttributeError) as error:
            reason = str(error) or type(error).__name__
            raise MachineError(f"{what} cannot be read through DLPack: {reason}") from None
    if value is None or isinstance(value, str | bytes | Mapping | set):
        needed = "a value that is not a tensor" if param.spec is None else str(param.spec)
        kind = type(cast(object, value)).__name__
        raise MachineError(f"{what} must be {needed}, but is a {kind}")
    return value


def _scalar(what: str, param: Param, value: bool | int | float) -> object:
    spec = param.spec
    if spec is None:
        return value
    needed = element_type(spec.dtype)
    if spec.shape:
        raise MachineError(f"{what} must be {spec}, but is the number {value!r}")
    if needed.kind not in KINDS[type(value) if type(value) in KINDS else float]:
        raise MachineError(f"{what} must be {spec}, but is the {type(value).__name__} {value!r}")
    try:
        return np.asarray(value, needed)
    except OverflowError:
        raise MachineError(f"{what} must be {spec}, but {value!r} does not fit") from None
