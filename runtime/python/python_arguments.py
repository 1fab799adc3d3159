"""
Arguments of calls from Python: by position or name, in the order of the parameters.

Python's numbers become tensors of the element type of their parameter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...operators.spelling import did_you_mean
from ..errors import MachineError
from ..program.dtypes import element_type
from ..program.program import Function, Param

KINDS: Mapping[type, str] = {bool: "b", int: "iuf", float: "f"}
"""The kinds of NumPy's element types that a Python scalar may become."""


def in_order(
    function: Function, args: Sequence[object], named: Mapping[str, object]
) -> tuple[object, ...]:
    """
    Return the arguments in the order of the parameters.

    Raises `MachineError` for a name that is not a parameter's, a parameter that is given twice, and
    one that is missing.
    """
    if not args and len(named) == len(function.params):
        try:
            return tuple([named[param.name] for param in function.params])
        except KeyError:
            pass
    names = [param.name for param in function.params]
    listed = f"its parameters are: {', '.join(names) or 'none'}"
    if len(args) > len(names):
        counts = f"{len(names)} arguments, but got {len(args)}"
        raise MachineError(f"{function.name} expects {counts}; {listed}")
    values = dict(zip(names, args, strict=False))
    for name, value in named.items():
        if name not in names:
            cure = did_you_mean(name, names)
            raise MachineError(f"{function.name} has no parameter '{name}'; {listed}{cure}")
        if name in values:
            raise MachineError(f"parameter '{name}' of {function.name} is given twice")
        values[name] = value
    missing = [f"'{name}'" for name in names if name not in values]
    if missing:
        what = f"parameter{'s' * (len(missing) > 1)} {', '.join(missing)}"
        raise MachineError(f"{function.name} needs a value for {what}")
    return tuple(values[name] for name in names)


def converted(function: Function, args: Sequence[object]) -> tuple[object, ...]:
    """Return `args` with Python's numbers as tensors; raise `MachineError` if one does not fit."""
    arguments = list(args)
    for i, (param, value) in enumerate(zip(function.params, args, strict=False)):
        if isinstance(value, bool | int | float) and not isinstance(value, np.generic):
            arguments[i] = _scalar(f"parameter '{param.name}' of {function.name}", param, value)
    return tuple(arguments)


def _scalar(what: str, param: Param, value: bool | int | float) -> object:
    """Return `value` as a tensor for `param`, if it is one; `what` it is called in errors."""
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
