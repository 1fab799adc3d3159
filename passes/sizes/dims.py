"""
The dims of every tensor of a `relay` program, as polynomials of the dims of parameters.

    func.func @main(%x: tensor<?x768xf32> {relay.dims = ["n", 768]}, …)
    %y = relay.concatenate %x, %x {axis = 0}          dims(%y) = (2*n, 768)
    %s = relay.shape_of %y {dtype = i64}              elements(%s) = (2*n, 768)

An operator's rule is read with sizes that are polynomials. A dim that depends on data, or on what a
call returns, is a symbol of its own. A check that fails whatever the symbols are is an error at the
operator. Facts are about programs that run without an error: a dim is what the rule says if the
operator was run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from ...dialects import relay
from ...dialects.relay.creation import ShapeOfOp
from ...dialects.tensors import as_tensor, is_static
from ...dialects.type_rules import call_of, constant_elements, operand_of, rule_of
from ...operators.signature import Data, Elements, Tensor
from ...operators.sizes import UNKNOWN, Check, Dim, SignatureError, Size, SizeOp, fill
from ...operators.sizes.holds import holds
from ...operators.sizes.size_expressions import Expr
from ..support.diagnostics import PassError
from ..support.walk import outside_primitives
from .program_sizes import Dims, Sizes, element_count
from .shape_tensors import ShapeTensors, is_exact


class SymbolicDim(Dim):
    """A size that is a polynomial; of a `ProgramSizes`, equal ones are one object."""

    __slots__ = ("polynomial", "sizes")

    def __init__(self, sizes: ProgramSizes, polynomial: Expr):
        self.sizes = sizes
        self.polynomial = polynomial

    def binary(self, op: SizeOp, left: Size, right: Size) -> Size:
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        algebra = self.sizes.algebra
        return self.sizes.as_size(algebra.binary(op, as_polynomial(left), as_polynomial(right)))

    def require(self, check: Check, left: Size, right: Size, message: str) -> None:
        if left is UNKNOWN or right is UNKNOWN:
            return
        sides = as_polynomial(left), as_polynomial(right)
        if holds(check, *sides) is False:
            raise SignatureError(fill(message, sides))

    def measure(self, name: str, args: Sequence[Size | float]) -> Size:
        return self.sizes.measured(name, args)

    def __repr__(self) -> str:
        return str(self.polynomial)


def as_polynomial(size: Size) -> Expr:
    if isinstance(size, SymbolicDim):
        return size.polynomial
    assert isinstance(size, int), "a size of another reader"
    return Expr.of(size)


@dataclass(frozen=True)
class SymbolicElements(Elements):
    """Elements of a small integer tensor, in row-major order."""

    program: ProgramSizes
    known: Dims

    def sizes(self, count: int) -> Sequence[Size]:
        return [self.program.as_size(size) for size in self.known]

    def measure(self, name: str, args: Sequence[Data]) -> Size:
        """Return the measure of scalars; that of larger tensors is not computed."""
        sizes: list[Size] = []
        for arg in args:
            if not isinstance(arg.elements, SymbolicElements) or arg.rank:
                return UNKNOWN
            sizes += arg.elements.sizes(1)
        return self.program.measured(name, sizes)


def has_dynamic_dim(value: SSAValue) -> bool:
    tensor = as_tensor(value.type)
    return tensor is not None and not is_static(tensor)


@dataclass
class ProgramSizes(Sizes):
    """The dims of tensors, and elements of shape tensors, by the rules of operators."""

    tensors: ShapeTensors = field(init=False)
    _sizes_of: dict[Expr, SymbolicDim] = field(default_factory=dict[Expr, SymbolicDim])
    _results: dict[Operation, list[Dims | None] | None] = field(
        default_factory=dict[Operation, "list[Dims | None] | None"]
    )

    def __post_init__(self) -> None:
        self.tensors = ShapeTensors(self.algebra)

    def read(self, module: ModuleOp) -> None:
        """Read all tensors outside kernels, each after its operands, and check all operators."""
        for op in outside_primitives(module, region_first=True):
            if rule_of(op) is not None and any(map(has_dynamic_dim, op.operands)):
                self._inferred(op)
            for result in op.results:
                if as_tensor(result.type) is not None:
                    self.dims(result)
                    self.elements(result)

    def replace(self, old: SSAValue, new: SSAValue) -> None:
        """Let `new`, which replaces `old`, have its dims and elements."""
        self._dims[new] = self.dims(old)
        self._elements[new] = self.elements(old)

    def as_size(self, polynomial: Expr) -> Size:
        """Return a polynomial as a size of rules: an integer if it is constant."""
        constant = polynomial.constant
        if constant is not None:
            return constant
        found = self._sizes_of.get(polynomial)
        if found is None:
            found = self._sizes_of[polynomial] = SymbolicDim(self, polynomial)
        return found

    def measured(self, name: str, args: Sequence[Size | float]) -> Size:
        """Return the measure `name`, a symbol unless all `args` are numbers."""
        if UNKNOWN in args:
            return UNKNOWN
        given = [as_polynomial(arg) if isinstance(arg, int | Dim) else arg for arg in args]
        try:
            return self.as_size(self.algebra.apply(name, *given))
        except ValueError as error:
            raise SignatureError(str(error)) from error

    def _defined_dims(self, value: SSAValue) -> Dims | None:
        if not isinstance(value, OpResult):
            return None
        op = value.op
        if isinstance(op, relay.OnDeviceOp | relay.DeviceCopyOp) and as_tensor(op.value.type):
            return self.dims(op.value)
        if rule_of(op) is None:
            return super()._defined_dims(value)
        results = self._inferred(op)
        return None if results is None else results[value.index]

    def _inferred(self, op: Operation) -> list[Dims | None] | None:
        """Return the dims of the results of `op` by its rule; None for those with unknown dims."""
        if op not in self._results:
            self._results[op] = self._infer(op)
        return self._results[op]

    def _infer(self, op: Operation) -> list[Dims | None] | None:
        rule = rule_of(op)
        operands = [self._operand(operand) for operand in op.operands]
        if rule is None or any(isinstance(operand, str) for operand in operands):
            return None
        elements = constant_elements(op.operands, rule.data_operands)
        for i in rule.data_operands:
            known = self.elements(op.operands[i]) if i < len(operands) else None
            if known is not None:
                elements[i] = SymbolicElements(self, known)
        call = call_of(op.name, op.properties, ())
        try:
            found = rule(call._replace(operands=operands, elements=elements))
        except SignatureError as error:
            raise PassError(str(error), op) from error
        return [
            self._known(tensor, result) for tensor, result in zip(found, op.results, strict=True)
        ]

    def _operand(self, value: SSAValue) -> Tensor | str:
        tensor = operand_of(value.type)
        if isinstance(tensor, str):
            return tensor
        return Tensor(tensor.element, tuple(map(self.as_size, self.dims(value))))

    def _known(self, tensor: Tensor, result: OpResult) -> Dims:
        """Return the dims of a result, symbols where the rule does not know them."""
        return tuple(
            self._dim_symbol(result, axis) if dim is UNKNOWN else as_polynomial(dim)
            for axis, dim in enumerate(tensor.dims)
        )

    def _elements_of(self, value: SSAValue) -> Dims | None:
        found = self._made_of(value)
        if found is not None or not isinstance(value, OpResult):
            return found
        op, type = value.op, as_tensor(value.type)
        if element_count(value.type) is None or type is None:
            return None
        if isinstance(op, relay.DeviceCopyOp | relay.OnDeviceOp):
            return self.elements(op.value)
        if isinstance(op, ShapeOfOp):
            dims = self.dims(op.data)
            return dims if all(is_exact(dim, type.element_type) for dim in dims) else None
        if rule_of(op) is None:
            return None
        operands = [self.elements(operand) for operand in op.operands]
        return self.tensors.elements(op, value.index, operands)
