"""
Read sizes from IR: the one place that does, in `relay` programs and in those of lower levels.

    sizes = Sizes()
    sizes.size(%bytes)        4*n*m             of an i64
    sizes.dims(%y)            (n, 4)            of a tensor, by the operator's rule or its shape
    sizes.elements(%shape)    (n, 4)            of a tensor of few integers

The symbols are dims of tensors whose shape nothing in the function computes (parameters, results
of calls), elements of tensors, other i64 values, and operations. Ops are asked by interface: a
result of an op that chooses a region has the dims that all regions yield, one that is written into
a destination has those of the destination. A check of a rule that fails whatever the symbols are is
an error at the operator. Facts are about programs that run without an error. They are read on
demand and kept: read those of an op after those of its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import cast

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IndexType, IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ...dialects import memory, relay
from ...dialects.dense import constant_tensor, integer, integers
from ...dialects.interfaces import ChoosesRegion
from ...dialects.memrefs import as_memref
from ...dialects.relay.language.dims_attributes import dim_bounds, dim_names
from ...dialects.relay.loops import same_bytes_as
from ...dialects.tensors import as_tensor, has_dynamic, tensor_of
from ...dialects.type_rules import constant_elements, operand_of, rule_of
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from ...operators.orders import PoolTotal, Row
from ...operators.signature import Elements, ReadElements, Tensor
from ...operators.sizes import UNKNOWN, Check, SignatureError, SizeOp, fill
from ...operators.sizes.algebra import Algebra
from ...operators.sizes.holds import holds
from ...operators.sizes.size_expressions import DIM, ELEMENT, Dims, Expr, Symbol
from ...operators.sizes.size_table import CHOOSE, PREDICATES, TOTAL
from ..bytes.op_facts import destination, facts_of
from ..support.walk import outside_primitives
from .memref_dims import MeasuredDim, source_of_dim
from .rule_reader import RuleReader, as_expr
from .shape_tensors import ShapeTensors, element_count, is_exact
from .size_code import arith_ops

VALUE = "value"
"""The kind of a symbol that is a value."""

PACK = "pack"
"""The kind of a symbol that is a result of a `memory.pack`; its operand is `Packed`."""

MAX_CALLS = 50
"""The maximum depth of calls through which the size of a workspace is followed."""


def projected(value: SSAValue) -> SSAValue:
    """Return the value that `value` is, through projections of tuples."""
    while isinstance(op := value.owner, relay.TupleGetItemOp):
        made = op.tuple.owner
        if not isinstance(made, relay.TupleOp):
            break
        value = made.fields[op.index.value.data]
    return value


_PLAIN = Row()


@dataclass(eq=False)
class Packed:
    """The results of a pack."""

    packing: memory.Packing
    sizes: Sequence[Expr]
    """Of the slices; 0 of one over others."""
    values: list[Expr] = field(default_factory=lambda: [])
    """The offset of each slice; operands of their symbols are a number, from 1, and this."""
    totals: dict[int, Expr] = field(default_factory=lambda: {})
    """The total of each pool that is computed."""

    def divisor(self, i: int) -> int:
        """Return a number that divides the offset of slice `i`, by that of its piece."""
        row = self.packing.rows[i] if self.packing.rows else _PLAIN
        if row.at is not None or not row.below:
            return self.packing.alignment if row.at is None else row.at
        before = self.values[row.below[0]].divisor
        return before if row.beside is None else gcd(before, self.size_of(row.beside).divisor)

    def size_of(self, i: int) -> Expr:
        """Return the size of slice `i`; that of one over others is the sum of theirs."""
        over = self.packing.rows[i].over if self.packing.rows else None
        if over is None:
            return self.sizes[i]
        (first, at), total = over, Expr.of(0)
        while True:
            total += self.size_of(at)
            before = self.packing.rows[at].beside
            if at == first or before is None:
                return total
            at = before


class Sizes(RuleReader):
    """The expressions of sizes, dims and elements, each computed once."""

    def __init__(self, algebra: Algebra | None = None, stops: bool = False):
        """`stops`: a measure that has no value stops the program, and is not replaced."""
        super().__init__(algebra)
        self._measure = self.algebra.valid_measure if stops else self.algebra.apply
        self.tensors = ShapeTensors(self.algebra)
        self._sizes: dict[SSAValue, Expr] = {}
        self._dims: dict[SSAValue, Dims] = {}
        self._elements: dict[SSAValue, Dims | None] = {}
        self._named: dict[func.FuncOp, dict[tuple[SSAValue, int], Expr]] = {}
        self._results: dict[Operation, list[Dims] | None] = {}
        self._functions: dict[ModuleOp, dict[str, func.FuncOp]] = {}
        self._entered: list[Operation] = []
        """The packs whose totals are being read."""

    # ---------------------------------------------------------- sizes of rules

    def binary(self, op: SizeOp, left: Expr, right: Expr) -> Expr:
        return self.algebra.apply(op, left, right)

    def measure(self, name: str, args: Sequence[Expr | float]) -> Expr:
        try:
            return self.algebra.valid_measure(name, *args)
        except ValueError as error:
            raise SignatureError(str(error)) from error

    def operand(self, value: SSAValue) -> Tensor | str:
        known = operand_of(value.type)
        if isinstance(known, str):
            return known
        return Tensor(known.element, tuple(map(self.as_size, self.dims(value))))

    def elements_of(self, op: Operation, index: int) -> Elements | None:
        """Return the elements of an operand; of those that are followed, only scalars are read."""
        value = op.operands[index]
        known, type = self.elements(value), as_tensor(value.type)
        if known is None or type is None:
            return constant_elements(op.operands, [index]).get(index)
        sizes = list(map(self.as_size, known))
        return ReadElements(lambda count: sizes, lambda: None if type.get_num_dims() else sizes[0])

    def require(self, check: Check, left: Expr, right: Expr, message: str) -> None:
        if holds(check, left, right) is False:
            raise SignatureError(fill(message, (left, right)))

    # ------------------------------------------------------------------- sizes

    def size(self, value: SSAValue) -> Expr:
        """Return the polynomial of an i64 or an index."""
        size = self._sizes.get(value)
        if size is None:
            size = self._sizes[value] = self._computed(value)
        return size

    def know(self, value: SSAValue, size: Expr) -> None:
        """Record the size of a new value."""
        self._sizes[value] = size

    def know_dims(self, value: SSAValue, dims: Dims) -> None:
        """Record the dims of the result of a call."""
        self._dims[value] = dims

    def _computed(self, value: SSAValue) -> Expr:
        op, size = value.owner, None
        if isinstance(op, Operation) and (value.type == i64 or isinstance(value.type, IndexType)):
            name = arith_ops().get(type(op))
            if name is not None:
                return self.algebra.apply(name, *map(self.size, operands_of(op)))
            match op:
                case arith.SelectOp():
                    sides = self.size(op.lhs), self.size(op.rhs)
                    return self.algebra.apply(CHOOSE, self.condition(op.cond), *sides)
                case tensor.ExtractOp():
                    size = self._extracted(op)
                case relay.MeasureOp():
                    return self._measured(op)
                case arith.IndexCastOp() if op.input.type == i64 or value.type == i64:
                    return self.size(op.input)
                case _ if op.name == "memref.dim":
                    size = self._dim_of(op)
                case memory.SliceOp() | memory.TotalOp():
                    pack = op.pack.owner
                    assert isinstance(pack, memory.PackOp), "only this op makes packs"
                    return self._packed(pack)[value]
                case memory.WorkspaceSizeOp():
                    size = self._size_of_workspace(op)
                case _:
                    pass
        constant, natural = integer(value), isinstance(op, memory.WorkspaceSizeOp)
        if constant is not None:
            return Expr.of(constant)
        return size or self.algebra.symbol(_shown(value), VALUE, (value,), natural=natural)

    def _dim_of(self, op: Operation) -> Expr | None:
        """Return a dim of a memref."""
        source, index = op.operands
        axis, type = integer(index), as_memref(source.type)
        if axis is None or type is None or axis >= type.get_num_dims():
            return None
        dim = self.dims(source)[axis]
        return dim if dim.is_natural else self._dim_symbol(source, axis)

    def _packed(self, op: memory.PackOp) -> Mapping[SSAValue, Expr]:
        """Return the totals and the offsets of a pack."""
        packing = memory.Packing(op)
        packed = Packed(packing, self._slice_sizes(packing))
        for i, slice in enumerate(packing.slices):
            name, divisor = _shown(slice.offset), packed.divisor(i)
            offset = self.algebra.symbol(name, PACK, (i + 1, packed), divisor=divisor)
            self._sizes[slice.offset] = offset
            packed.values.append(offset)
        for total in packing.totals:
            pool = total.pool_number
            size = self.total_of(packing, pool)
            if size is None:
                size = self.algebra.symbol(_shown(total.total), PACK, (-pool, packed))
            packed.totals[pool] = self._sizes[total.total] = size
        return self._sizes

    def _slice_sizes(self, packing: memory.Packing) -> list[Expr]:
        return [self.size_or(size) for size in packing.sizes]

    def total_of(self, packing: memory.Packing, pool: int = 0) -> Expr | None:
        """Return the total of an ordered pack, or of one slice; None of another pack."""
        if packing.orders is not None:
            layout = PoolTotal(packing.orders, pool)
            return self.algebra.apply(TOTAL, layout, *self._slice_sizes(packing))
        if len(packing.slices) == 1 and not packing.rows:
            return self.algebra.apply("max", *self._slice_sizes(packing), 0)
        return None

    def size_or(self, size: int | SSAValue) -> Expr:
        """Return a size that is a number or an i64."""
        return Expr.of(size) if isinstance(size, int) else self.size(size)

    def _size_of_workspace(self, op: memory.WorkspaceSizeOp) -> Expr | None:
        """Return the size that a callee needs for the dims of a call; None if it is not known."""
        function, index = self._function_of(op), op.param.value.data
        if function is None or not function.body.blocks:
            return None
        param = function.body.blocks[0].args[index]
        known = memory.parameter_attributes(function, index).get(memory.SIZE)
        if isinstance(known, IntegerAttr):
            return Expr.of(known.value.data)
        users = (use.operation for use in param.uses)
        packs = [user for user in users if isinstance(user, memory.PackOp)]
        if len(packs) != 1 or packs[0] in self._entered or len(self._entered) > MAX_CALLS:
            return None
        self._entered.append(packs[0])
        total = self.total_of(memory.Packing(packs[0]))
        self._entered.pop()
        shapes = dict(op.shapes_by_parameter(function))
        if total is None:
            return None

        def dims_of(i: int) -> Dims | None:
            return self.dims_from(param.block.args[i], shapes[i]) if i in shapes else None

        return self._at_call(total, param.block, {DIM: dims_of})

    def dims_from(self, param: SSAValue, shape: Sequence[SSAValue]) -> Dims | None:
        """Return the dims of an argument from operands of `memory.workspace_size`."""
        if (type := as_memref(param.type)) is None:
            return self.shape(shape[0])
        given = iter(shape)
        return tuple(
            self.size(next(given)) if dim == DYNAMIC_INDEX else Expr.of(dim)
            for dim in type.get_shape()
        )

    def _function_of(self, op: memory.WorkspaceSizeOp) -> func.FuncOp | None:
        """Return the function that `op` names."""
        module: Operation | None = op
        while module is not None and not isinstance(module, ModuleOp):
            module = module.parent_op()
        if module is None:
            return None
        if module not in self._functions:
            functions = (f for f in module.ops if isinstance(f, func.FuncOp))
            self._functions[module] = {f.sym_name.data: f for f in functions}
        return self._functions[module].get(op.function.string_value())

    def translated(self, size: Expr, body: Block, operands: Sequence[SSAValue]) -> Expr | None:
        """Return a size of the function of `body` as one of its caller; None if it has none."""
        of_kind: Mapping[str, Callable[[int], Dims | None]] = {
            DIM: lambda i: self.dims(operands[i]),
            ELEMENT: lambda i: self.shape(operands[i]),
            VALUE: lambda i: (self.size(operands[i]),) if operands[i].type == i64 else None,
        }
        return self._at_call(size, body, of_kind)

    def _at_call(
        self, size: Expr, body: Block, of_kind: Mapping[str, Callable[[int], Dims | None]]
    ) -> Expr | None:
        """
        Return `size` with what parameters of `body` have in a call; None if it has none.

        `of_kind` has what the symbols of a kind are for a parameter.
        """

        def at_call(symbol: Symbol) -> Expr | None:
            value, at = (*symbol.args, 0, 0)[:2]
            if not isinstance(value, BlockArgument) or value.block is not body:
                return None
            parts = of_kind[symbol.kind](value.index) if symbol.kind in of_kind else None
            return None if parts is None else parts[cast(int, at)]

        return self.algebra.substitute(size, at_call)

    def _extracted(self, op: tensor.ExtractOp) -> Expr:
        elements = self.shape(op.tensor) if len(op.indices) < 2 else None
        index = integer(op.indices[0]) if op.indices else 0
        if elements is not None and index is not None and 0 <= index < len(elements):
            return elements[index]
        return self.algebra.symbol("element", VALUE, (op.result,), natural=False)

    def _measured(self, op: relay.MeasureOp) -> Expr:
        args = [self._number(arg) for arg in operands_of(op)]
        if not any(isinstance(arg, SSAValue) for arg in args):
            try:
                return self._measure(op.measure.data, *args)
            except ValueError:  # it fails when the program runs
                pass
        return self.algebra.opaque(op.measure.data, args)

    def _number(self, value: SSAValue) -> Expr | float | SSAValue:
        """Return the size or number that `value` is, if it is known."""
        if value.type == i64:
            return self.size(value)
        constant = value.owner
        if isinstance(constant, arith.ConstantOp) and isinstance(constant.value, FloatAttr):
            return constant.value.value.data
        return value

    def condition(self, value: SSAValue) -> Expr:
        """Return an i1: 1 if it is true, else 0."""
        constant, op = integer(value), value.owner
        if constant is not None:
            return Expr.of(int(constant != 0))
        if isinstance(op, arith.CmpiOp) and op.lhs.type == i64:
            for name in PREDICATES[op.predicate.value.data :][:1]:
                return self.algebra.apply(name, self.size(op.lhs), self.size(op.rhs))
        return self.algebra.symbol(_shown(value), VALUE, (value,), range=(0, 1))

    # -------------------------------------------------------------------- dims

    def read(self, root: Operation | Block) -> None:
        """Read all sizes in `root`, outside kernels, in order, and check all operators."""
        for op in outside_primitives(root, region_first=True):
            if rule_of(op) is not None and any(has_dynamic(value.type) for value in op.operands):
                self._inferred(op)
            for result in op.results:
                if result.type == i64:
                    self.size(result)
                elif as_tensor(result.type) is not None:
                    self.dims(result)
                    if element_count(result.type) is not None:
                        self.elements(result)

    def replace(self, old: SSAValue, new: SSAValue) -> None:
        """Let `new`, which replaces `old`, have its dims and elements."""
        self._dims[new] = self.dims(old)
        self._elements[new] = self.elements(old)

    def dims(self, value: SSAValue) -> Dims:
        """Return the dims of a tensor, or of a memref with those that it is allocated with."""
        dims = self._dims.get(value)
        if dims is None:
            dims = self._dims[value] = self._dims_of(value)
        return dims

    def _dims_of(self, value: SSAValue) -> Dims:
        if (buffer := as_memref(value.type)) is not None:
            axes = range(buffer.get_num_dims())
            return tuple(self._source(source_of_dim(value, axis)) for axis in axes)
        shape = tensor_of(value).get_shape()
        known = self._defined_dims(value) if DYNAMIC_INDEX in shape else None
        return tuple(
            Expr.of(dim)
            if dim != DYNAMIC_INDEX
            else self._dim_symbol(value, axis)
            if known is None
            else known[axis]
            for axis, dim in enumerate(shape)
        )

    def _source(self, dim: int | SSAValue | MeasuredDim) -> Expr:
        return self._dim_symbol(*dim) if isinstance(dim, MeasuredDim) else self.size_or(dim)

    def _defined_dims(self, value: SSAValue) -> Dims | None:
        """Return the dims that the op of `value` gives it."""
        if not isinstance(value, OpResult):
            return None
        op = value.op
        if (shaped := facts_of(op).shaped) is not None:
            shape = shaped.shape(op)
            return None if shape is None else self.shape(shape)
        if isinstance(op, relay.TupleGetItemOp):
            source = projected(value)
            return None if source is value else self.dims(source)
        if (into := destination(value)) is not None:
            return self.dims(into)
        if op.has_trait(ChoosesRegion):
            return self._joined(op, value)
        if isinstance(op, relay.OnDeviceOp | relay.DeviceCopyOp) and as_tensor(op.value.type):
            return self.dims(op.value)
        if (source := same_bytes_as(value)) is not value:
            return self.dims(source)
        results = self._inferred(op)
        return None if results is None else results[value.index]

    def _joined(self, op: Operation, result: OpResult) -> Dims | None:
        """Return the dims that all regions yield; a symbol for one that they do not agree on."""
        lasts = [region.block.last_op for region in op.regions if len(region.blocks) == 1]
        yields = [last.operands for last in lasts if last and len(last.operands) == len(op.results)]
        if not yields or len(yields) < len(op.regions):
            return None
        first, *others = (self.dims(operands[result.index]) for operands in yields)
        return tuple(
            dim if all(other[axis] == dim for other in others) else self._dim_symbol(result, axis)
            for axis, dim in enumerate(first)
        )

    def _inferred(self, op: Operation) -> list[Dims] | None:
        """Return the dims of the results of `op` by its rule; None for those with unknown dims."""
        if op not in self._results:
            self._results[op] = self._infer(op)
        return self._results[op]

    def _infer(self, op: Operation) -> list[Dims] | None:
        if any(as_tensor(value.type) is None for value in op.operands):
            return None
        types = self.results(op)
        if types is None:
            return None
        return [
            tuple(
                self._dim_symbol(result, axis) if dim is UNKNOWN else as_expr(dim)
                for axis, dim in enumerate(tensor.dims)
            )
            for tensor, result in zip(types, op.results, strict=True)
        ]

    def _dim_symbol(self, value: SSAValue, axis: int) -> Expr:
        if isinstance(value, BlockArgument):
            function = value.block.parent_op()
            if isinstance(function, func.FuncOp) and value.block is function.body.blocks[0]:
                named = self._named_dims(function).get((value, axis))
                if named is not None:
                    return named
        name = f"{value.name_hint}_dim{axis}" if value.name_hint else f"dim{axis}"
        return self.algebra.symbol(name, DIM, (value, axis))

    def _named_dims(self, function: func.FuncOp) -> dict[tuple[SSAValue, int], Expr]:
        """Return the symbols of the function's named dims: equal names are one symbol."""
        if function in self._named:
            return self._named[function]
        named = self._named[function] = {}
        first: dict[str, Expr] = {}
        bounds = dim_bounds(function)
        for argument, names in zip(function.args, dim_names(function), strict=False):
            for axis, name in enumerate(names):
                if isinstance(name, str):
                    range = bounds[name].range if name in bounds else None
                    named[argument, axis] = first[name] = first.get(name) or self.algebra.symbol(
                        name, DIM, (argument, axis), range=range
                    )
        return named

    # ---------------------------------------------------------------- elements

    def elements(self, value: SSAValue) -> Dims | None:
        """
        Return the elements of a tensor of few integers in row-major order, as far as something
        known computes them.
        """
        if value not in self._elements:
            self._elements[value] = self._elements_of(value)
        return self._elements[value]

    def shape(self, value: SSAValue) -> Dims | None:
        """Return `elements`; of an i64 tensor of rank 0 or 1 that are not followed, symbols."""
        elements, type = self.elements(value), as_tensor(value.type)
        count = element_count(value.type)
        if elements is not None or count is None or type is None:
            return elements
        if type.element_type != i64 or type.get_num_dims() > 1:
            return None
        return tuple(
            self.algebra.symbol(f"{_shown(value)}[{i}]", ELEMENT, (value, i), natural=False)
            for i in range(count)
        )

    def _elements_of(self, value: SSAValue) -> Dims | None:
        elements = self._made_of(value)
        if elements is not None or not isinstance(value, OpResult):
            return elements
        op = value.op
        if element_count(value.type) is None:
            return None
        if isinstance(op, relay.DeviceCopyOp | relay.OnDeviceOp):
            return self.elements(op.value)
        if facts_of(op).only_sizes or rule_of(op) is None:
            return None
        return self.tensors.elements(op, value.index, list(map(self.elements, op.operands)))

    def _made_of(self, value: SSAValue) -> Dims | None:
        """Return the elements of a tensor that something known computes."""
        while isinstance(value.owner, memory.CopyOp):
            value = value.owner.ins
        count = element_count(value.type)
        if count is None:
            return None
        constant = constant_tensor(value)
        if constant is not None:
            return tuple(map(Expr.of, integers(constant, count)))
        op, type = value.owner, as_tensor(value.type)
        if isinstance(op, Operation) and facts_of(op).only_sizes and type is not None:
            dims = self.dims(op.operands[0])
            return dims if all(is_exact(dim, type.element_type) for dim in dims) else None
        if isinstance(op, tensor.FromElementsOp) and all(e.type == i64 for e in op.elements):
            return tuple(map(self.size, op.elements))
        return None


def _shown(value: SSAValue) -> str:
    return value.name_hint or "value"
