"""Check run-time values: what kernels, functions and instructions accept."""

from ...operators.named_dims import dims_fault
from ..errors import MachineError
from ..program.objects import Object, Tensor
from ..program.program import Array, Function, Program, TensorSpec, spec_of


def fits(spec: TensorSpec, array: Array) -> bool:
    """Test whether `array` matches `spec`; a dimension None matches any."""
    return spec.accepts(spec_of(array))


def scalar(array: Array) -> Array:
    """Return `array` if it is a single integer or bool; raise `MachineError` otherwise."""
    if array.size != 1 or array.dtype.kind not in "biu":
        raise MachineError(f"expected an integer or bool scalar, but got {spec_of(array)}")
    return array


def dimensions(array: Array) -> tuple[int, ...]:
    """Return the shape in `array`: a vector of integers, or a scalar for rank 0."""
    if array.ndim > 1 or array.dtype.kind not in "iu":
        raise MachineError(f"a shape must be a vector of integers, but is {spec_of(array)}")
    return tuple(array.tolist()) if array.ndim else ()


def check_arguments(program: Program, function: Function, args: tuple[Object, ...]) -> None:
    """Raise `MachineError`, naming the parameter, if `args` do not fit `function`."""
    if len(args) != len(function.params):
        counts = f"expects {len(function.params)} arguments, but got {len(args)}"
        raise MachineError(f"{function.name} {counts}")
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
    given = zip(function.params, args, strict=True)
    fault = dims_fault(
        (
            (param.name, param.dims, arg.array.shape)
            for param, arg in given
            if isinstance(arg, Tensor)
        ),
        function.dim_bounds,
    )
    if fault is not None:
        raise MachineError(f"{function.name}: {fault}")
