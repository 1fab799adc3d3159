"""The facts of op classes and types that decide which values may share bytes, cached."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    IndexType,
    IntegerType,
    NoneType,
    TupleType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import MemoryEffect, NoMemoryEffect, Pure

from ...dialects import memory
from ...dialects.interfaces import (
    Aliasing,
    AllocatesResults,
    CallsFunction,
    ChoosesRegion,
    DestinationPassing,
    EndsLoop,
    FreesOperand,
    HoldsNoTensors,
    JoinsOperands,
    KernelEffects,
    Part,
    ReadsOnlySizes,
    Rematerializable,
    ShapedByOperand,
    StartsLoop,
    ViewsOperand,
)
from ...dialects.memory.destination_ops import ResultIsOuts
from ...dialects.tensors import as_tensor
from ..support.walk import is_kernel


class OpFacts:
    """The traits of an op class that matter here."""

    def __init__(self, kind: type[Operation]) -> None:
        effects = kind.get_traits_of_type(MemoryEffect)
        stores = not all(
            isinstance(effect, NoMemoryEffect | AllocatesResults) for effect in effects
        )
        self.chooses = kind.get_trait(ChoosesRegion)
        self.aliasing = kind.get_trait(Aliasing)
        self.calls = kind.get_trait(CallsFunction)
        self.views = kind.get_trait(ViewsOperand)
        self.cuts = self.views is not None and type(self.views).part is not ViewsOperand.part
        """True if the result is a part of a storage, which `part_of` returns."""
        self.joins = kind.get_trait(JoinsOperands)
        self.shaped = kind.get_trait(ShapedByOperand)
        self.only_sizes = kind.get_trait(ReadsOnlySizes) is not None
        self.constant = kind.get_trait(Rematerializable) is not None
        self.pure = kind.get_trait(Pure) is not None
        self.writes = kind.get_trait(DestinationPassing) is not None
        self.calls_kernel = kind.get_trait(KernelEffects) is not None
        self.frees = kind.get_trait(FreesOperand) is not None
        self.starts_loop = kind.get_trait(StartsLoop) is not None
        self.ends_loop = kind.get_trait(EndsLoop) is not None
        self.carries = self.starts_loop or self.ends_loop
        """True if each result has all bytes of the operand of its number."""
        self.unknown = not effects
        """True if the effects of the op are not known."""
        self.may_store = stores and not (self.writes or self.frees or self.chooses)
        """True if the op may write operands into other operands, such as a cell."""
        is_outs = self.writes and type(self.aliasing) is ResultIsOuts
        links = self.chooses or (self.aliasing and not is_outs) or self.calls
        self.links = bool(links or self.may_store or self.unknown)
        """True if values of the op may share bytes, other than results with their `outs`."""


facts_of_class = cache(OpFacts)
"""The facts of an op class."""


def facts_of(op: Operation) -> OpFacts:
    """Return the facts of the class of `op`."""
    return facts_of_class(type(op))


def part_of(op: Operation) -> Part | None:
    """Return what the result of `op` has of the storage that it views; None if that is all."""
    views = facts_of(op).views
    return None if views is None else views.part(op)


def viewed(value: SSAValue) -> SSAValue | None:
    """Return the value that `value` is a view of; None if it is not a view."""
    op = value.owner
    if not isinstance(op, Operation):
        return None
    if facts_of(op).carries:
        return op.operands[op.results.index(value)]
    views = facts_of(op).views
    return None if views is None else views.viewed(op)


def viewed_whole(value: SSAValue) -> SSAValue | None:
    """Return the tensor of which `value` is a view of all bytes; None if it is not one."""
    op = value.owner
    views = facts_of(op).views if isinstance(op, Operation) else None
    return viewed(value) if views is None or views.is_whole else None


def root_of(value: SSAValue) -> SSAValue:
    """Return the value that `value` is a view of, through views of views, or `value` itself."""
    while (source := viewed(value)) is not None:
        value = source
    return value


def destination(value: SSAValue) -> SSAValue | None:
    """Return the tensor that an op wrote `value` into; None if it did not."""
    op = value.owner
    if not isinstance(op, Operation) or not facts_of(op).writes:
        return None
    return op.operands[len(op.operands) - len(op.results) + op.results.index(value)]


def is_part(tensor: Operation) -> bool:
    """Test whether what is written into a tensor, or a view of all of it, is a part of a join."""
    pending = [
        user.results[use.index - len(user.operands)]
        for use in tensor.results[0].uses
        if facts_of(user := use.operation).writes
    ]
    while pending:
        for use in pending.pop().uses:
            facts = facts_of(use.operation)
            if facts.joins is not None:
                return True
            if facts.views is not None and facts.views.is_whole:
                pending.append(use.operation.results[0])
    return False


def shape_of(value: SSAValue) -> SSAValue | None:
    """Return the operand that holds the shape of `value`, if its op has one."""
    op = value.owner
    if not isinstance(op, Operation) or (shaped := facts_of(op).shaped) is None:
        return None
    return shaped.shape(op)


def is_choice(op: Operation) -> bool:
    """Test whether `op` executes one of its regions, once."""
    return facts_of(op).chooses is not None


def holds_code(op: Operation) -> bool:
    """Test whether the regions of `op`, such as a closure, may run later, never or repeatedly."""
    return bool(op.regions) and not is_choice(op) and not is_kernel(op)


_HAS_BYTES: dict[type[Attribute], bool] = {}
"""For each class of types seen but tuples, true if its values may have bytes."""


def has_bytes(type: Attribute) -> bool:
    """Test whether values of `type` may hold tensors; storage is freed with its tensors."""
    kind = type.__class__
    may_have = _HAS_BYTES.get(kind)
    if may_have is None:
        if isinstance(type, TupleType):
            return bool(type.types.data)
        may_have = _HAS_BYTES[kind] = not issubclass(
            kind,
            IntegerType
            | IndexType
            | AnyFloat
            | ComplexType
            | VectorType
            | NoneType
            | HoldsNoTensors,
        )
    return may_have


def is_storage(value: SSAValue) -> bool:
    return isinstance(value.type, memory.StorageType)


def may_hold_cells(type: Attribute) -> bool:
    """Test whether values of `type` may hold cells, into which others may be written."""
    pending = [type]
    while pending:
        part = pending.pop()
        if isinstance(part, TupleType):
            pending += part.types.data
        elif as_tensor(part) is None and has_bytes(part):
            return True
    return False
