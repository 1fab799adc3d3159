"""
The sizes of dynamic dims of inputs that are drawn at random: `--dim n=3`, `--dim x:0=3`.

A dim is given by its name, or as `PARAMETER:AXIS`; one that shares its name with a dim of an input
from a file has its size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..runtime.program import Param, TensorSpec
from .errors import UsageError
from .run_files import Arrays


@dataclass(frozen=True)
class OpenDim:
    """A dim of a parameter that is not static, and the options that bind it."""

    param: Param
    axis: int

    @property
    def name(self) -> str:
        """The dim's name, "" if it has none."""
        return self.param.dims[self.axis] if self.param.dims else ""

    @property
    def place(self) -> str:
        return f"{self.param.name}:{self.axis}"

    @property
    def option(self) -> str:
        """The shortest name on the command line."""
        return self.name or self.place


def open_dims(params: Sequence[Param]) -> list[OpenDim]:
    """Return the dims of `params` that are not static."""
    return [
        OpenDim(param, axis)
        for param in params
        if param.spec is not None
        for axis, dim in enumerate(param.spec.shape)
        if dim is None
    ]


def _sizes_in(params: Sequence[Param], given: Arrays) -> dict[str, int]:
    """Return the sizes of the named dims of the inputs that are `given`."""
    return {
        name: size
        for param in params
        if param.name in given
        for name, size in zip(param.dims, given[param.name].shape, strict=False)
        if name
    }


def bind_dims(
    function: str, params: Sequence[Param], given: Arrays, sizes: Mapping[str, int]
) -> list[Param]:
    """
    Return the parameters of `function` that are not `given`, with static shapes.

    `sizes` are those of the command line. Raises `UsageError` for a dim that nothing binds, and for
    one in `sizes` that does not exist.
    """
    known = {option for dim in open_dims(params) for option in (dim.name, dim.place) if option}
    for option in sizes:
        if option not in known:
            there = ", ".join(dict.fromkeys(dim.option for dim in open_dims(params))) or "none"
            raise UsageError(
                f"--dim {option}: {function} has no dynamic dim '{option}'; it has: {there}"
            )
    for dim in open_dims([param for param in params if param.name in given]):
        size = given[dim.param.name].shape[dim.axis]
        for option in (dim.place, dim.name):
            if sizes.get(option, size) != size:
                raise UsageError(
                    f"--dim {option}={sizes[option]}: dim {dim.axis} of input '{dim.param.name}' "
                    f"is {size}"
                )
    found = _sizes_in(params, given) | dict(sizes)
    missing = [param for param in params if param.name not in given]
    unbound = [
        dim for dim in open_dims(missing) if dim.place not in found and dim.name not in found
    ]
    if unbound:
        names = dict.fromkeys(dim.option for dim in unbound)
        options = " ".join(f"--dim {name}=SIZE" for name in names)
        raise UsageError(f"cannot draw inputs of dynamic shape: {_listed(unbound)}; give {options}")
    return [_bound(param, found) for param in missing]


def _listed(dims: Sequence[OpenDim]) -> str:
    shown = [f"dim {d.axis}{d.name and f' ({d.name})'} of '{d.param.name}'" for d in dims]
    return f"the size of {', '.join(shown)} is unknown"


def _bound(param: Param, sizes: Mapping[str, int]) -> Param:
    if param.spec is None:
        return param
    shape = list(param.spec.shape)
    for dim in open_dims([param]):
        shape[dim.axis] = sizes.get(dim.place, sizes.get(dim.name))
    return replace(param, spec=TensorSpec(param.spec.dtype, tuple(shape)))
