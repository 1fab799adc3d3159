"""Whether tensors are what a kernel, a function or an instruction needs."""

from .dtypes import type_name
from .errors import MachineError
from .objects import Object, Tensor
from .program import Array, Function, Program, TensorSpec, spec_of


def fits(spec: TensorSpec, array: Array) -> bool:
    """Whether `array` is of `spec`; a dimension None is any."""
    return spec.accepts(TensorSpec(type_name(array.dtype), array.shape))


def scalar(array: Array) -> Array:
    """`array`, if it is one integer or truth value; `MachineError` otherwise."""
    if array.size != 1 or array.dtype.kind not in "biu":
        raise MachineError(f"an integer scalar is needed, but is {spec_of(array)}")
    return array


def dimensions(array: Array) -> tuple[int, ...]:
    """The shape that `array` says: a vector of integers, or a scalar for rank 0."""
    if array.ndim > 1 or array.dtype.kind not in "iu":
        raise MachineError(f"a shape must be a vector of integers, but is {spec_of(array)}")
    return tuple(int(dim) for dim in array) if array.ndim else ()


def check_arguments(program: Program, function: Function, args: tuple[Object, ...]) -> None:
    """Raise `MachineError`, naming the parameter, when `args` do not fit `function`."""
    if len(args) != len(function.params):
        wanted = f"takes {len(function.params)} arguments, but is given {len(args)}"
        raise MachineError(f"{function.name} {wanted}")
    for param, arg in zip(function.params, args, strict=True):
        name = f"parameter '{param.name}' of {function.name}"
        if param.spec is None:
            continue
        if not isinstance(arg, Tensor):
            raise MachineError(f"{name} must be {param.spec}, but is {arg.kind}")
        if not fits(param.spec, arg.array):
            raise MachineError(f"{name} must be {param.spec}, but is {spec_of(arg.array)}")
        if arg.device != param.device:
            here, there = program.devices[param.device], program.devices[arg.device]
            raise MachineError(f"{name} must be on {here}, but is on {there}")
