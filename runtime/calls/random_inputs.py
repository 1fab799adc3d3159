"""
Draw inputs and parameters at random, reproducibly.

A value depends on its name, element type, shape and the seed, not on the order in which values
are drawn or on other values of the program.
"""

from collections.abc import Iterable, Sequence
from math import prod, sqrt
from zlib import crc32

import numpy as np

from ..errors import MachineError
from ..memory.limits import MAX_EXTENT, Memory, OutOfMemory
from ..program.dtypes import element_type
from ..program.program import Array, Late, Param, TensorSpec


def _shape(name: str, spec: TensorSpec) -> tuple[int, ...]:
    if not spec.is_static:
        raise MachineError(
            f"cannot draw a random value for '{name}', whose shape is dynamic: {spec}"
        )
    shape = spec.dims
    if 0 in shape and 8 * prod(dim for dim in shape if dim) > MAX_EXTENT:
        raise MachineError(f"'{name}', {spec}, exceeds NumPy's array size limit")
    return shape


def _generator(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, crc32(name.encode())])


def random_input(name: str, spec: TensorSpec, seed: int) -> Array:
    """
    Draw floats from the standard normal distribution, integers from 0 to 9, or bools.

    Raises `MachineError` if the shape is not static.
    """
    shape, random, kind = _shape(name, spec), _generator(name, seed), element_type(spec.dtype)
    if kind.kind in "fV":
        return np.asarray(random.standard_normal(shape)).astype(kind)
    return np.asarray(random.integers(0, 2 if kind.kind == "b" else 10, shape)).astype(kind)


def random_parameter(name: str, spec: TensorSpec, seed: int) -> Array:
    """
    Draw a weight such that activations neither vanish nor explode through a network.

    Floats of rank 2 or more are normal with variance 2 / fan-in, where all axes but the first
    are the fan-in (He et al. 2015). Vectors and scalars, which may be scales or variances, are
    uniform from 0.5 to 1.5. Other element types are drawn as by `random_input`.
    """
    shape, random, kind = _shape(name, spec), _generator(name, seed), element_type(spec.dtype)
    if kind.kind not in "fV":
        return random_input(name, spec, seed)
    if len(shape) < 2:
        return np.asarray(random.uniform(0.5, 1.5, shape)).astype(kind)
    scale = sqrt(2 / max(1, prod(shape[1:])))
    return (random.standard_normal(shape, np.float32) * np.float32(scale)).astype(kind)


def _reserve(name: str, spec: TensorSpec, memory: Memory | None) -> None:
    """Reserve memory for a value, after checking that there is also enough to draw it."""
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
    Draw a value for each parameter of a function; all must be tensors.

    Raises `MachineError` before drawing a value that does not fit into `memory`.
    """
    values: dict[str, Array] = {}
    for param in params:
        if param.spec is None:
            raise MachineError(f"cannot draw a random value for '{param.name}': it is not a tensor")
        _reserve(param.name, param.spec, memory)
        values[param.name] = random_input(param.name, param.spec, seed)
    return values


def random_weights_text(names: Sequence[str], seed: int) -> str:
    """Return a sentence that says which weights are random."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"the weight '{names[0]}'{more} {'are' if more else 'is'} random, with seed {seed}"


def random_parameters(
    constants: Iterable[Late], seed: int, memory: Memory | None = None
) -> dict[str, Array]:
    """Draw a value for each late-bound constant; raise errors like `random_inputs`."""
    values: dict[str, Array] = {}
    for late in constants:
        _reserve(late.name, late.spec, memory)
        values[late.name] = random_parameter(late.name, late.spec, seed)
    return values
