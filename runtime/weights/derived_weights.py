"""
Weights that are computed from others, by a formula that is their name.

    =relay.transpose('conv1_w', axes=(2, 3, 1, 0))
    =relay.multiply(relay.cast('w', dtype='float32'), constant('float32', (1,), 'AACAPw=='))

A program may name such a weight wherever it may name one: nothing else knows. Its value is computed
when it is read, from the file that has the others, unless the file has it under its full name, as
one that was written for the program. A formula begins with "=" and is an operator applied to
operands and attributes: an operand is the name of a weight, a formula, or a constant (element type,
shape, bytes in base64). Formulas come from strangers: they are parsed as data, with the attributes
that the operator has and no others; the results' types follow from the operators' rules and are all
known before anything is computed. No value may be much larger than the weights and constants that
it comes from, nor all values that are held at once much larger than the file. As all operators do
linear work, this limits the time, too.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Protocol, cast

import numpy as np

from ...operators.records import record
from ...operators.rules import Rule, Work
from ...operators.signature import ELEMENTS, Call, Element, SignatureError
from ..errors import MachineError
from ..kernels.checked import tensor_of
from ..kernels.loading import kernels_of
from ..memory.scratch import Workspace
from ..program.dtypes import element_type
from ..program.kernel_shapes import signature_of
from ..program.program import Array, AttrValue, Kernel, Step, TensorSpec, WeightFunction, spec_of
from .tensor_file import TensorFile
from .weight_formulas import MARK, Applied, Operand, malformed, parsed, sources_of

CHUNK = 1 << 24
"""Bytes that are copied at a time."""
RESHAPE = "relay.reshape"
MAX_DEPTH = 64
"""Limit on the nesting depth of operators; Python's parser ends at 200 parentheses."""
MAX_FACTORS = 256
"""Limit on the numbers that weights are multiplied by: the work is linear then."""
MAX_GROWTH = 4
"""Allowed growth of a value over the weights and constants that it comes from: a factor …"""
MAX_EXTRA = 1 << 20
"""… plus this slack in bytes, however deep its formula is: bytes do not become float32 twice."""
MAX_TOTAL = 8
"""Allowed growth of all values held at once over the source: a factor …"""
MAX_TOTAL_EXTRA = 64 << 20
"""… plus this slack in bytes."""


@record
class Derived:
    """The type of a value that is not computed yet, and sizes in bytes."""

    spec: TensorSpec
    origin: int
    """The size of the weights and constants that it comes from, each as often as it is read."""
    held: int
    """The size of the values that are held at once while it is computed, itself included."""
    depth: int
    """The nesting depth of operators in its formula."""


def weight_of(spec: TensorSpec, name: str) -> Derived:
    """
    Return the type and sizes of a weight of type `spec`.

    The `origin` of a formula is the least that a value of its size can come from. Raises
    `MachineError` for a malformed formula.
    """
    if not name.startswith(MARK):
        return Derived(spec, spec.size, 0, 0)
    least = max(0, spec.size - MAX_EXTRA) // MAX_GROWTH
    return Derived(spec, least, spec.size, _depth(parsed(name)))


def constant_of(array: Array) -> Derived:
    """Return the type and sizes of a constant."""
    return Derived(spec_of(array), array.nbytes, 0, 0)


def _depth(operand: Operand) -> int:
    if not isinstance(operand, Applied):
        return 0
    return 1 + max(map(_depth, operand.operands), default=0)


def total_limit(source: int) -> int:
    """Return the limit on the bytes that are derived from a source of this size."""
    return MAX_TOTAL * source + MAX_TOTAL_EXTRA


class Source(Protocol):
    """Weights by name, such as a `TensorFile`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all weights."""
        ...

    def __contains__(self, name: str) -> bool: ...

    def spec(self, name: str) -> TensorSpec:
        """Return the type of a weight."""
        ...

    def array(self, name: str) -> Array:
        """Return the value of a weight."""
        ...


class ArraySource:
    """Weights in memory; raises `MachineError` for a value that NumPy cannot convert."""

    def __init__(self, arrays: Mapping[str, object]) -> None:
        self.arrays = arrays
        self.names = tuple(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def spec(self, name: str) -> TensorSpec:
        return spec_of(self._value(name))

    def array(self, name: str) -> Array:
        return aligned(self._value(name))

    def _value(self, name: str) -> Array:
        try:
            return np.asarray(self.arrays[name])
        except (ValueError, TypeError) as error:
            raise MachineError(f"weight '{name}' is not an array: {error}") from None


class Weights:
    """
    The weights of `source`, and all that can be derived from them.

    What a name means is said by one of the `functions`, or else by the formula that it is. Computed
    values are not kept, but their sizes are added up: `array` raises `MachineError` when the sum
    exceeds `total_limit`.
    """

    def __init__(self, source: Source, functions: Iterable[WeightFunction] = ()) -> None:
        self.source = source
        self._functions = {function.name: function for function in functions}
        self._counted: dict[str, int] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the weights of the source."""
        return self.source.names

    def __contains__(self, name: str) -> bool:
        if name in self.source:
            return True
        stored = self._functions.get(name)
        if stored is None and not name.startswith(MARK):
            return False
        names = sources_of(parsed(name)) if stored is None else stored.names
        return all(source in self.source for source in names)

    def spec(self, name: str) -> TensorSpec:
        """Return the type of a weight; raises `MachineError` for a formula that is wrong."""
        if name in self.source:
            return self.source.spec(name)
        return self._sizes(self.function(name)).spec

    def array(self, name: str) -> Array:
        """Return a weight, computed if it is not in the source. Raises `MachineError`."""
        if name in self.source:
            return self.source.array(name)
        function = self.function(name)
        derived = self._sizes(function)
        self._counted[name] = derived.spec.size
        total = max(derived.held, sum(self._counted.values()))
        if total > self._limit:
            raise malformed(name, f"values have {total} bytes together, above {self._limit}")
        return self._computed(function)

    def arrays(self, names: Iterable[str]) -> dict[str, Array]:
        """Return those of the weights `names` that are here."""
        return {name: self.array(name) for name in names if name in self}

    def function(self, name: str) -> WeightFunction:
        """Return what computes a weight: a stored function, or that of a formula."""
        return self._functions.get(name) or function_of(name, self.source)

    @cached_property
    def _limit(self) -> int:
        return total_limit(sum(self.source.spec(name).size for name in self.source.names))

    def _sizes(self, function: WeightFunction) -> Derived:
        """Return the type and sizes of the result; raises `MachineError` for a wrong function."""
        kernel, formula = function.kernel, function.name
        for name, spec in zip(function.names, kernel.ins, strict=True):
            if name not in self.source:
                raise malformed(formula, f"no weight is named '{name}'")
            if not spec.accepts(self.source.spec(name)):
                given = self.source.spec(name)
                raise malformed(formula, f"'{name}' must be {spec}, but is {given}")
        values = [Derived(spec, spec.size, 0, 0) for spec in kernel.ins]
        values += map(constant_of, kernel.constants)
        for step, spec in zip(kernel.steps, kernel.locals, strict=True):
            given = [values[number] for number in step.ins]
            values.append(derived_by(step.op, given, step.attrs, formula))
            if values[-1].spec != spec:
                raise malformed(formula, f"{step.op} has the type {values[-1].spec}, not {spec}")
        return values[-1]

    def _computed(self, function: WeightFunction) -> Array:
        kernel, formula = function.kernel, function.name
        values = [self.source.array(name) for name in function.names]
        values += kernel.constants
        bound = kernels_of([RESHAPE, *(step.op for step in kernel.steps)])
        try:
            for step, spec in zip(kernel.steps, kernel.locals, strict=True):
                given = [np.asarray(values[number], order="C") for number in step.ins]
                for number in step.ins:
                    if number >= len(function.names) + len(kernel.constants):
                        values[number] = EMPTY  # it is read once
                if bound[step.op] is bound[RESHAPE]:  # which copies: a view does, too
                    values.append(given[0].reshape(spec.dims))
                    continue
                values.append(np.empty(spec.dims, element_type(spec.dtype)))
                with np.errstate(all="ignore"), Workspace().lend():
                    bound[step.op](step.attrs, given, values[-1:])()
        except (ValueError, IndexError, TypeError) as error:
            raise malformed(formula, str(error)) from error
        return values[-1]


EMPTY = np.empty(0, np.uint8)
"""Takes the place of a value that is not needed any more."""


def function_of(formula: str, source: Source) -> WeightFunction:
    """Return the function that computes a weight by its formula. Raises `MachineError`."""
    root = parsed(formula)
    names = tuple(dict.fromkeys(sources_of(root)))
    constants: list[Array] = []
    applied: list[Applied] = []
    pending: list[Operand] = [root]
    while pending:
        operand = pending.pop()
        if isinstance(operand, Applied):
            applied.append(operand)
            pending += operand.operands
        elif not isinstance(operand, str):
            constants.append(operand)
    first = len(names) + len(constants)
    numbers = {id(array): len(names) + i for i, array in enumerate(constants)}
    numbers |= {id(one): first + i for i, one in enumerate(reversed(applied))}
    specs = [*map(source.spec, names), *map(spec_of, constants)]
    steps: list[Step] = []
    for one in reversed(applied):  # operands first
        ins = tuple(names.index(o) if isinstance(o, str) else numbers[id(o)] for o in one.operands)
        steps.append(Step(one.op, one.attributes, ins, (len(specs),)))
        specs.append(_result(one.op, [specs[i] for i in ins], one.attributes, formula))
    kernel = Kernel(
        *("weight", tuple(specs[: len(names)]), tuple(constants), tuple(specs[first:])),
        *(tuple(steps), (len(specs) - 1,)),
    )
    return WeightFunction(formula, names, kernel)


def faults_of(function: WeightFunction) -> Iterator[str]:
    """Yield why a function that was read from a file is not one."""
    kernel = function.kernel
    first = len(kernel.ins) + len(kernel.constants)
    read = [number for step in kernel.steps for number in step.ins if number >= first]
    if len(function.names) != len(kernel.ins) or len(kernel.steps) != len(kernel.locals):
        yield "it must have a name for each input, and a step for each value"
    elif not kernel.steps or kernel.results != (first + len(kernel.steps) - 1,):
        yield "its result must be the last value that it computes"
    elif any(step.outs != (first + i,) for i, step in enumerate(kernel.steps)):
        yield "each of its steps must compute the next value"
    elif len(read) != len(set(read)):
        yield "each value that it computes must be read once"
    elif not all(spec.is_static for spec in (*kernel.ins, *kernel.locals)):
        yield "its values must have static shapes"


def weights_in(
    given: str | os.PathLike[str] | Mapping[str, object], functions: Iterable[WeightFunction] = ()
) -> Weights:
    """
    Return the weights in a `.safetensors` file, or among `given` ones, and what derives others.

    Raises `MachineError`.
    """
    source = ArraySource(given) if isinstance(given, Mapping) else TensorFile(given)
    return Weights(source, functions)


def place_of(given: str | os.PathLike[str] | Mapping[str, object], otherwise: str) -> str:
    """Return the file of weights for messages, or `otherwise` for those in memory."""
    return otherwise if isinstance(given, Mapping) else f"'{os.fspath(given)}'"


def derived_by(
    op: str, given: Sequence[Derived], attributes: Mapping[str, AttrValue], formula: str
) -> Derived:
    """
    Return the type and sizes of the result of operator `op`.

    Raises `MachineError`, which names the formula, if the types are wrong or the result is larger
    than a derived weight may be.
    """
    spec = _result(op, [one.spec for one in given], attributes, formula)
    origin = sum(one.origin for one in given)
    size, limit = spec.size, MAX_GROWTH * origin + MAX_EXTRA
    if size > limit:
        raise malformed(formula, f"{op} has a result of {size} bytes, above {limit}")
    held, before = 0, 0
    for one in given:
        held = max(held, before + one.held)
        before += one.spec.size if one.held else 0
    depth = 1 + max((one.depth for one in given), default=0)
    if depth > MAX_DEPTH:
        raise malformed(formula, f"its operators are nested more than {MAX_DEPTH} deep")
    return Derived(spec, origin, max(held, before + size), depth)


def _result(
    op: str, given: Sequence[TensorSpec], attributes: Mapping[str, AttrValue], formula: str
) -> TensorSpec:
    """Return the type of the only result, of known shape; raises `MachineError` otherwise."""
    rule = signature_of(op, kernels_of([op]))
    if not isinstance(rule, Rule) or rule.data_operands:
        raise malformed(formula, f"{op} is not an operator that derives weights")
    is_short = op == "relay.nn.matmul" and bool(given) and prod(given[0].dims) <= MAX_FACTORS
    if rule.work is not Work.LINEAR and not is_short:
        raise malformed(formula, f"{op} may take long; the program must compute it")
    unknown = next((name for name in attributes if name not in rule.attributes), None)
    if unknown is not None:
        known = ", ".join(rule.attributes) or "none"
        raise malformed(formula, f"{op} has no attribute {unknown} (its attributes: {known})")
    try:
        results = rule(Call(op, attributes, [tensor_of(spec) for spec in given]))
    except SignatureError as error:
        raise malformed(formula, str(error)) from None
    dims = [dim for result in results for dim in result.dims if isinstance(dim, int)]
    if len(results) != 1 or len(dims) != len(results[0].dims):
        raise malformed(formula, f"{op} has more than one result, or one of unknown shape")
    return TensorSpec(_dtype(results[0].element), tuple(dims))


def _dtype(element: Element) -> str:
    return next(name for name, known in ELEMENTS.items() if known is element)


def aligned(array: Array) -> Array:
    """
    Return `array`, or a copy if it is not aligned for its element type or not in C order.

    The pages of a file that were read for the copy are returned to the system, so that no value is
    in memory twice.
    """
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    if not array.flags.c_contiguous:
        copy = np.array(array, order="C")
        _release(array)
        return copy
    copy = np.empty(array.shape, array.dtype)
    to, data = copy.reshape(-1).view(np.uint8), array.reshape(-1).view(np.uint8)
    for at in range(0, data.size, CHUNK):
        part = data[at : at + CHUNK]
        to[at : at + CHUNK] = part
        _release(part)
    return copy


def _release(array: Array) -> None:
    """Return the pages of `array` to the system if it is a view of a mapped file."""
    file = _file_of(array)
    if file is None or not hasattr(file, "madvise") or not array.size:
        return
    low, high = np.lib.array_utils.byte_bounds(array)
    base = np.frombuffer(file, np.uint8).ctypes.data
    start = (low - base) // mmap.PAGESIZE * mmap.PAGESIZE
    file.madvise(mmap.MADV_DONTNEED, start, high - base - start)


def _file_of(array: Array) -> mmap.mmap | None:
    """Return the read-only map that `array` is a view of."""
    base = cast(object, array)
    while isinstance(base, np.ndarray):
        base = cast(object, cast(Array, base).base)
    owner = cast(object, base.obj) if isinstance(base, memoryview) else base
    return owner if isinstance(owner, mmap.mmap) and memoryview(owner).readonly else None
