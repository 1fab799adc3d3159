"""
The reasons why a model cannot be converted, all in one error.

    model.onnx:3:1: error: the model cannot be converted, for 2 reasons
    model.onnx:3:1: note: Unfold, opset 13: the operator is not supported (…): 2 nodes: "a", "b"
    model.onnx:9:1: note: node "c" (Split, opset 13): split (input 1) is computed at run time; …
    note: it depends on dims or values that are open; give them: --dim n=SIZE --constant s=VALUE

The result of a node that cannot be converted has the type that the model declares, or ONNX infers,
for it. Nodes that read others are skipped, unless their operators are not supported. So are those
of graphs in nodes and of function bodies; a node with reasons inside has no result itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DYNAMIC_INDEX, FileLineColLoc
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ....dialects.relay.creation import ShapeOfOp
from ....dialects.tensors import as_tensor, dtype_name
from ....runtime.calls.input_bindings import dim_option, listed, option
from ..errors import OnnxError
from .node import Node, NodeError
from .onnx_values import Constant, Value

MAX_NOTES = 100
"""The maximum number of reasons that are listed."""


@dataclass
class Refusals:
    """The errors so far, and the values that are missing because of them."""

    errors: list[OnnxError] = field(default_factory=list[OnnxError])
    inner: int = 0
    """The number of errors in graphs and bodies."""
    assumed: set[SSAValue] = field(default_factory=set[SSAValue])
    """Values of declared types."""
    read: dict[str, None] = field(default_factory=dict[str, None])
    """The names of those that nodes read."""

    def add(self, error: OnnxError, path: Sequence[tuple[Node, str]] = ()) -> None:
        """
        Record an error, in a graph or body of each node in `path`.

        An error that is only due to a value being assumed is not recorded.
        """
        if self._is_due_to_assumption(error):
            return
        for node, where in reversed(path):
            unknown, needs_shape = None, False
            if isinstance(error, NodeError):
                unknown, needs_shape = error.unknown, error.needs_shape
            outer = node.error(f"in {where}: {error.message}", unknown, needs_shape)
            outer.location = error.location or outer.location
            error = outer
        self.inner += bool(path)
        self.errors.append(error)

    def assume(self, type: Attribute) -> SSAValue:
        """Return a value of `type` in place of one that is missing."""
        value = Block(arg_types=[type]).args[0]
        self.assumed.add(value)
        return value

    def _is_due_to_assumption(self, error: OnnxError) -> bool:
        if not self.assumed or not isinstance(error, NodeError) or error.unknown is None:
            return False
        sources = origins(error.unknown, error.needs_shape)
        return any(argument in self.assumed for argument, _ in sources)

    def error(self, arguments: Mapping[SSAValue, tuple[str, Sequence[int | str]]]) -> OnnxError:
        """Return all errors as one; `arguments` are name and dims of the inputs of the graph."""
        groups: dict[tuple[str, str], list[NodeError]] = {}
        lines: list[tuple[str, FileLineColLoc | None]] = []
        for error in self.errors:
            if isinstance(error, NodeError):
                groups.setdefault((error.operator, error.reason), []).append(error)
            else:
                lines.append((error.message, error.location))
        lines += (_line(group) for group in groups.values())
        cure = _cure(self.errors, arguments)
        notes = [(cure, None)] if cure else []
        if self.read and len(lines) > 1:
            names = listed(f'"{name}"' for name in self.read)
            notes.append(
                (f"types assumed as the model declares or ONNX infers them: {names}", None)
            )
        if len(lines) == 1:
            (message, location), *_ = lines
            return OnnxError(message, location, notes)
        more = len(lines) - MAX_NOTES
        if more > 0:
            notes.insert(0, (f"and {more} more reasons", None))
        location = next((where for _, where in lines if where is not None), None)
        message = f"the model cannot be converted, for {len(lines)} reasons"
        return OnnxError(message, location, [*lines[:MAX_NOTES], *notes])


def _line(group: Sequence[NodeError]) -> tuple[str, FileLineColLoc | None]:
    """Return the message and the place for nodes of one operator, refused for one reason."""
    first = group[0]
    if len(group) == 1:
        return first.message, first.location
    titles = listed(f'"{error.title}"' for error in group)
    return f"{first.operator}: {first.reason}: {len(group)} nodes: {titles}", first.location


def _cure(
    errors: Sequence[OnnxError], arguments: Mapping[SSAValue, tuple[str, Sequence[int | str]]]
) -> str:
    """Return the options that give sizes and values to what the errors depend on; "" if none."""
    options: dict[str, None] = {}
    for error in errors:
        if not isinstance(error, NodeError) or error.unknown is None:
            continue
        for argument, is_shape in origins(error.unknown, error.needs_shape):
            if argument not in arguments:
                continue
            name, dims = arguments[argument]
            if not is_shape and _is_small(argument):
                options[option("--constant", f"{name}=VALUE")] = None
                continue
            for axis, dim in enumerate(dims):
                if isinstance(dim, str):
                    options[dim_option(dim or f"{name}:{axis}")] = None
    if not options:
        return ""
    shown = " ".join(options) if len(options) <= 30 else f"{' '.join([*options][:30])} …"
    return f"it depends on dims or values that are open; give them: {shown}"


def _is_small(argument: SSAValue) -> bool:
    """Test whether a parameter may be a size, an axis or a flag, rather than data."""
    tensor = as_tensor(argument.type)
    if tensor is None:
        return False
    name, shape = dtype_name(tensor.element_type) or "", tensor.get_shape()
    is_long = any(dim == DYNAMIC_INDEX or dim > 16 for dim in shape)
    return len(shape) <= 1 and not (is_long and name.startswith("float"))


def origins(value: Value, is_shape: bool) -> list[tuple[BlockArgument, bool]]:
    """Return the block arguments that `value`, or its shape, depends on, and if by their shapes."""
    sources: dict[tuple[BlockArgument, bool], None] = {}
    seen: set[tuple[SSAValue, bool]] = set()
    pending: list[tuple[SSAValue, bool]] = []
    if not isinstance(value, Constant):
        pending.append((value, is_shape))
    while pending:
        item = pending.pop()
        if item in seen:
            continue
        seen.add(item)
        here, by_shape = item
        if isinstance(here, BlockArgument):
            sources[here, by_shape] = None
        elif isinstance(here.owner, Operation):
            by_shape = by_shape or isinstance(here.owner, ShapeOfOp)
            pending += ((operand, by_shape) for operand in reversed(here.owner.operands))
        else:
            assert isinstance(here.owner, Block)
    return list(sources)
