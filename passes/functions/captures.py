"""
The closures of a module: what each one uses from above, and which of them are equal.

    %f = relay.fn (%a: T) -> T {                  free       %y
      %c = relay.constant dense<1.0> : T          constants  none (%c is its own)
      %0 = relay.add %a, %c : …                   structure  a number; equal closures share it
      %1 = relay.add %0, %y : …
      relay.yield %1 : T
    }

Two closures have one structure if they have the same ops, attributes, types and wiring, whatever
the names, and use corresponding values from above in the same order. Linear in ops, operands and
free values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, ParametrizedAttribute, Region, SSAValue
from xdsl.traits import ConstantLike

from ...dialects import relay
from ...dialects.device import DEVICE, UNCONSTRAINED, VirtualDeviceAttr
from ...dialects.interfaces import Rematerializable
from ...dialects.relay.language.annotations import ATTRS, TYPE_PARAMS
from ...dialects.relay.language.globals import generic_closure
from ..support.diagnostics import PassError

MAX_CAPTURED = 1_000_000
"""The maximum number of values that the closures of a module use from above, in total."""


@dataclass(frozen=True, eq=False)
class Closure:
    """A closure and what it uses from above."""

    op: relay.FnOp
    parent: relay.FnOp | None
    """The innermost closure around it."""
    top: Operation
    """The op of the module that it is in, or that it is."""
    free: tuple[SSAValue, ...]
    """The values from above that are used in it, without constants, in order of first use."""
    constants: tuple[OpResult, ...]
    """The constants from above that are used in it, but not in closures in it."""
    type_params: tuple[str, ...]
    """Its type parameters, and those of the enclosing functions that its types name."""
    structure: int
    """The same number for equal closures."""


def is_constant(value: SSAValue) -> bool:
    """Test whether `value` can be rematerialized: a constant, or a function of the module."""
    if not isinstance(value, OpResult) or value.op.operands:
        return False
    op = value.op
    return (
        isinstance(op, relay.GlobalOp | relay.ClosureOp)
        or op.has_trait(Rematerializable, value_if_unregistered=False)
        or op.has_trait(ConstantLike, value_if_unregistered=False)
    )


def itself(value: SSAValue) -> relay.FnOp | None:
    """Return the recursive closure that `value` is inside of that closure, if it is one."""
    block = value.owner
    if not isinstance(block, Block):
        return None
    op = block.parent_op()
    if not isinstance(op, relay.FnOp) or op.recursive is None:
        return None
    return op if block.args[0] is value else None


def type_variables(attribute: Attribute) -> Iterator[str]:
    """Yield the type variables in a type, or in an attribute that has types."""
    pending = [attribute]
    while pending:
        part = pending.pop()
        if isinstance(part, relay.TypeVarType):
            yield part.parameter.data
        elif isinstance(part, ArrayAttr):
            pending += reversed(cast("ArrayAttr[Attribute]", part).data)
        elif isinstance(part, DictionaryAttr):
            pending += reversed(tuple(part.data.values()))
        elif isinstance(part, ParametrizedAttribute):
            pending += reversed(part.parameters)


@dataclass(eq=False)
class _Frame:
    """A closure whose body is being visited."""

    op: relay.FnOp
    parent: relay.FnOp | None
    top: Operation
    is_generic: bool
    numbers: dict[SSAValue, int] = field(default_factory=lambda: {})
    free: dict[SSAValue, None] = field(default_factory=lambda: {})
    constants: dict[OpResult, None] = field(default_factory=lambda: {})
    type_params: dict[str, None] = field(default_factory=lambda: {})
    words: list[object] = field(default_factory=lambda: [])
    """The ops and types in the closure, in order."""
    structure: int = -1

    def define(self, values: Sequence[SSAValue]) -> None:
        for value in values:
            self.numbers[value] = len(self.numbers)
            if self.is_generic:
                closure = generic_closure(value)
                own = closure.own_type_params if closure else ()
                self.mention_names(n for n in type_variables(value.type) if n not in own)

    def number(self, value: SSAValue) -> int:
        """Return the number of `value`, which is from above if it has none yet."""
        number = self.numbers.get(value)
        if number is not None:
            return number
        if is_constant(value):
            assert isinstance(value, OpResult)
            self.constants[value] = None
            self.word(value.op, ())
        else:
            self.free[value] = None
            self.words.append(value.type)
        self.define((value,))
        return self.numbers[value]

    def word(self, op: Operation, operands: tuple[int, ...], inner: int | None = None) -> None:
        """Add `op`; of a closure, the structure is its `inner` one."""
        types = tuple(result.type for result in op.results)
        self.words.append((op.name, operands, *_attributes(op), types, inner, len(op.regions)))
        if self.is_generic:
            for attribute in op.properties.values():
                self.mention(attribute)

    def mention(self, attribute: Attribute) -> None:
        if self.is_generic:
            self.mention_names(type_variables(attribute))

    def mention_names(self, names: Iterable[str]) -> None:
        self.type_params.update(dict.fromkeys(names))


def _attributes(op: Operation) -> tuple[object, ...]:
    return tuple(sorted(op.properties.items())), tuple(sorted(op.attributes.items()))


_END = "end"
"""The word after the regions of an op."""


def closures_in(module: ModuleOp) -> list[Closure]:
    """Return the closures of `module`, each before those in it; an error if they use too much."""
    closures: list[_Frame] = []
    structures: dict[object, int] = {}
    total = 0
    for top in module.ops:
        frames: list[_Frame] = []
        pending: list[Operation | Block | _Frame | None] = [top]
        while pending:
            here = pending.pop()
            if here is None:
                frames[-1].words.append(_END)
                continue
            if isinstance(here, _Frame):
                frames.pop()
                key = (here.op.result.type, *_attributes(here.op), *here.words)
                here.structure = structures.setdefault(key, len(structures))
                total += len(here.free)
                if total > MAX_CAPTURED:
                    raise too_many(here.op)
                if frames:
                    outer = frames[-1]
                    operands = tuple(outer.number(value) for value in here.free)
                    outer.word(here.op, operands, here.structure)
                    outer.define(here.op.results)
                    own = here.op.own_type_params
                    outer.mention_names(name for name in here.type_params if name not in own)
                continue
            if isinstance(here, Block):
                if frames:
                    frames[-1].words.append(tuple(a.type for a in here.args))
                    frames[-1].define(here.args)
                pending += reversed(tuple(here.ops))
                continue
            if isinstance(here, relay.FnOp):
                parent = frames[-1] if frames else None
                is_generic = parent.is_generic if parent else TYPE_PARAMS in top.attributes
                own = here.own_type_params
                frame = _Frame(here, parent and parent.op, top, is_generic or bool(own))
                frame.mention_names(own)
                closures.append(frame)
                frames.append(frame)
                frame.mention(here.result.type)
                pending += (frame, here.body.block)
                continue
            if frames:
                frame = frames[-1]
                frame.word(here, tuple(frame.number(value) for value in here.operands))
                frame.define(here.results)
                if here.regions:
                    pending.append(None)
            pending += reversed([block for region in here.regions for block in region.blocks])
    return [
        Closure(f.op, f.parent, f.top, (*f.free,), (*f.constants,), (*f.type_params,), f.structure)
        for f in closures
    ]


def too_many(op: relay.FnOp) -> PassError:
    """Return the error about more than `MAX_CAPTURED` values."""
    return PassError(
        f"closures capture more than {MAX_CAPTURED} values in total; pass some of them in a tuple",
        op,
    )


def function_with(block: Block, name: str, closure: relay.FnOp, captured: int = 0) -> FuncOp:
    """Return the function with the body of a closure, `captured` parameters before its own."""
    last = block.last_op
    assert isinstance(last, relay.YieldOp), "verified: the region of a closure ends in relay.yield"
    results = last.operands
    block.erase_op(last)
    block.add_op(ReturnOp.create(operands=results, location=last.location))
    type = FunctionType.from_lists(block.arg_types, [value.type for value in results])
    function = FuncOp(name, type, Region(block))
    function.location = closure.location
    function.attributes |= closure.attributes
    if closure.attrs is not None:
        function.attributes[ATTRS] = closure.attrs
    if closure.param_devices is not None:
        devices = (*(UNCONSTRAINED,) * captured, *closure.param_devices)
        function.arg_attrs = _annotations(devices)
    if closure.result_device is not None:
        function.res_attrs = _annotations((closure.result_device,))
    return function


def _annotations(devices: Sequence[VirtualDeviceAttr]) -> ArrayAttr[DictionaryAttr] | None:
    """Return the annotations of parameters or results; None if there are none."""
    if all(device.is_unconstrained for device in devices):
        return None
    return ArrayAttr([DictionaryAttr({} if d.is_unconstrained else {DEVICE: d}) for d in devices])
