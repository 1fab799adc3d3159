"""
Inputs and parameters drawn at random, the same ones for the same seed and name.

A value depends on its name, element type and shape and on the seed, not on the order in which
values are drawn or on what else a program has.
"""

from collections.abc import Iterable
from math import prod, sqrt
from zlib import crc32

import numpy as np

from .dtypes import element_type
from .errors import MachineError
from .kernels.memory import MAX_EXTENT, Memory, OutOfMemory
from .program import Array, Late, Param, TensorSpec


def _shape(name: str, spec: TensorSpec) -> tuple[int, ...]:
    if not spec.is_static:
        raise MachineError(f"no random value can be drawn for '{name}', of unknown shape: {spec}")
    shape = tuple(dim for dim in spec.shape if dim is not None)
    if 0 in shape and 8 * prod(dim for dim in shape if dim) > MAX_EXTENT:
        raise MachineError(f"'{name}', {spec}, is beyond NumPy's arrays")
    return shape


def _generator(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, crc32(name.encode())])


def random_input(name: str, spec: TensorSpec, seed: int) -> Array:
    """
    Floats from the standard normal distribution, integers from 0 to 9, truth values.

    Raises `MachineError` when the shape is not static.
    """
    shape, random, kind = _shape(name, spec), _generator(name, seed), element_type(spec.dtype)
    if kind.kind == "f":
        return np.asarray(random.standard_normal(shape)).astype(kind)
    return np.asarray(random.integers(0, 2 if kind.kind == "b" else 10, shape)).astype(kind)


def random_parameter(name: str, spec: TensorSpec, seed: int) -> Array:
    """
    A weight such that numbers neither vanish nor explode on their way through a network.

    Floats of rank 2 and more: normal with variance 2 / fan-in, all axes but the first taken as
    the fan-in (He et al. 2015). Vectors and scalars, which may be scales or variances: uniform
    from 0.5 to 1.5. Other element types as `random_input`.
    """
    shape, random, kind = _shape(name, spec), _generator(name, seed), element_type(spec.dtype)
    if kind.kind != "f":
        return random_input(name, spec, seed)
    if len(shape) < 2:
        return np.asarray(random.uniform(0.5, 1.5, shape)).astype(kind)
    scale = sqrt(2 / max(1, prod(shape[1:])))
    return (random.standard_normal(shape, np.float32) * np.float32(scale)).astype(kind)


def _reserve(name: str, spec: TensorSpec, memory: Memory | None) -> None:
    """Count a value as taken from `memory`, and make sure of what it takes to draw it."""
    if memory is None:
        return
    count = prod(_shape(name, spec))
    size, drawn = count * element_type(spec.dtype).itemsize, count * np.dtype(np.float64).itemsize
    try:
        memory.reserve(size + drawn, f"drawing '{name}', {spec},")
    except OutOfMemory as error:
        raise MachineError(str(error)) from error
    memory.give_back(drawn)


def random_inputs(
    params: Iterable[Param], seed: int, memory: Memory | None = None
) -> dict[str, Array]:
    """
    A random value for each parameter of a function; all must be tensors.

    Raises `MachineError` before a value is drawn that `memory` has no room for.
    """
    values: dict[str, Array] = {}
    for param in params:
        if param.spec is None:
            raise MachineError(f"no random value can be drawn for '{param.name}': it is no tensor")
        _reserve(param.name, param.spec, memory)
        values[param.name] = random_input(param.name, param.spec, seed)
    return values


def random_parameters(
    constants: Iterable[Late], seed: int, memory: Memory | None = None
) -> dict[str, Array]:
    """A random value for each late-bound constant; errors as those of `random_inputs`."""
    values: dict[str, Array] = {}
    for late in constants:
        _reserve(late.name, late.spec, memory)
        values[late.name] = random_parameter(late.name, late.spec, seed)
    return values
