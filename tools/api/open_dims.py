"""
The inputs that nothing gives a value, and the sizes of their dims.

A dim has the size that `--dim` or `--shape` gives, or that of a dim of the same name of an input
from a file. What is missing is reported at once, with the options that would give it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...runtime.calls.input_bindings import BindingError, InputBindings, dim_option, listed
from ...runtime.program.program import Param, TensorSpec
from ..errors import UsageError


def option_of(param: Param, axis: int) -> str:
    """Return the dim's name on the command line: its own, or its place."""
    return (param.dims[axis] if param.dims else "") or f"{param.name}:{axis}"


def bound_params(
    function: str,
    params: Sequence[Param],
    given: Mapping[str, TensorSpec],
    bindings: InputBindings,
) -> list[Param]:
    """
    Return the parameters of `function` that are not `given`, with the sizes that are known.

    Raises `UsageError` for what does not fit, and for names that do not exist.
    """
    sized = replace(bindings, shapes={**{n: s.dims for n, s in given.items()}, **bindings.shapes})
    try:
        dims = sized.bind([(param.name, _dims(param)) for param in params])
    except BindingError as error:
        raise UsageError(f"{function}: {error}") from None
    found: list[Param] = []
    for param, known in zip(params, dims, strict=True):
        if param.name in given or param.name in bindings.values:
            continue
        if param.spec is not None:
            sizes = tuple(dim if isinstance(dim, int) else None for dim in known)
            param = replace(param, spec=TensorSpec(param.spec.dtype, sizes))
        found.append(param)
    return found


def _dims(param: Param) -> list[int | str] | None:
    if param.spec is None:
        return None
    names = param.dims or ("",) * len(param.spec.shape)
    return [
        name if size is None else size for name, size in zip(names, param.spec.shape, strict=True)
    ]


def require_values(missing: Sequence[Param], is_drawn: bool) -> None:
    """
    Raise `UsageError` for parameters without a value, if they are not drawn or cannot be.

    The message names the options that give them all that they need.
    """
    open_dims = [
        (option_of(param, axis), f"dim {axis}{_name(param, axis)} of '{param.name}'")
        for param in missing
        if param.spec is not None
        for axis, size in enumerate(param.spec.shape)
        if size is None
    ]
    options = " ".join(map(dim_option, dict(open_dims)))
    if missing and not is_drawn:
        names = [f"'{param.name}' ({_described(param)})" for param in missing]
        them = "them" if len(missing) > 1 else "it"
        draw = f"--random-seed 0 {options}".rstrip()
        raise UsageError(
            f"no value for input{'s' * (len(missing) > 1)} {listed(names)}; give --inputs, or "
            f"{draw} to draw {them}"
        )
    if open_dims:
        dims = listed(dim for _, dim in open_dims)
        raise UsageError(
            f"cannot draw inputs of dynamic shape: the size of {dims} is unknown; give {options}"
        )


def _name(param: Param, axis: int) -> str:
    name = param.dims[axis] if param.dims else ""
    return name and f" ({name})"


def _described(param: Param) -> str:
    if param.spec is None:
        return "not a tensor"
    dims = [
        str(size) if size is not None else (param.dims[axis] if param.dims else "") or "?"
        for axis, size in enumerate(param.spec.shape)
    ]
    return f"{param.spec.dtype}[{', '.join(dims)}]"
