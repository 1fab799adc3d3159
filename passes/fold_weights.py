"""
Compute operators on weights when the weights are read, not when the program runs.

    %w = relay.param "w" : tensor<8x3x3x3xf32>
    %t = relay.transpose %w {axes = array<i64: 2, 3, 1, 0>}
      ->
    %t = relay.param "=relay.transpose('w', axes=(2, 3, 1, 0))" : tensor<3x3x3x8xf32>

The name is a formula, which is evaluated where weights are read
(`runtime.weights.derived_weights`): by the machine when it loads a program, by a target when it
writes weights. So no pass reads or copies data, and a chain of operators becomes one formula.

Operators of linear work (elementwise or injective: reshapes, slices, casts, arithmetic …) and
products with small constants are folded if their operands are weights, at least one, and constants
in the text; each result of a split is a slice. An operator stays if its result is much larger than
the weights and constants in its formula (more than four times and 1 MiB: i8 may become f32), if all
derived weights would be more than eight times as large as those in the file, or if its formula
would have more than 4,096 characters. Weights that this leaves unused are removed. After
`fold-constants`, before device planning. Level: `relay`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.utils.exceptions import VerifyException

from ..dialects import relay
from ..dialects.attributes import plain_values
from ..dialects.interfaces import Fusible, FusionKind, has_effects, kernel_attributes, kernel_name
from ..dialects.relay import matmul, rearrange
from ..dialects.tensors import Tensor, as_tensor, is_static
from ..dialects.type_rules import data_operands
from ..dialects.xdsl_extras.walking import ops_of, walk
from ..runtime.errors import MachineError
from ..runtime.program.program import AttrValue, TensorSpec
from ..runtime.weights.derived_weights import (
    MAX_EXTRA,
    Derived,
    constant_of,
    derived_by,
    total_limit,
    weight_of,
)
from ..runtime.weights.weight_formulas import MARK, MAX_FORMULA, formula_of
from .analysis.arrays import Array, array_of, numpy_dtype
from .support.changes import ReportingPass
from .support.rewriting import apply_patterns, erase_unused

ORIGIN = "relay.origin"
"""
The attribute of a large derived weight: the bytes of what its formula reads, which this pass, if it
runs again, does not find in the module any more.
"""

Applied = tuple[str, Mapping[str, AttrValue]]
"""An operator by its name, and its attributes."""


def spec_of(type: Tensor) -> TensorSpec | None:
    """Return a type as the machine has it; None unless it is static, and NumPy's."""
    dtype = numpy_dtype(type)
    if dtype is None or not is_static(type):
        return None
    return TensorSpec(dtype.name, (*type.get_shape(),))


def inline_array(op: relay.ConstantOp) -> Array | None:
    """Return the value of a constant that may be part of a formula."""
    type = as_tensor(op.result.type)
    spec = None if type is None else spec_of(type)
    return None if spec is None or spec.size > MAX_FORMULA else array_of(op.value)


def operators_of(op: Operation) -> list[Applied]:
    """Return the operators that compute the results of `op`, one each; none if there are not."""
    name = kernel_name(op)
    attributes = plain_values(kernel_attributes(op), name)
    if not isinstance(op, rearrange.SplitOp):
        return [(name, attributes)] if len(op.results) == 1 else []
    axis, end = op.axis.value.data, 0
    slices: list[Applied] = []
    for part in op.parts:
        type = as_tensor(part.type)
        if type is None or not is_static(type):
            return []
        begin, end = end, end + type.get_shape()[axis]
        bounds = {"begin": (begin,), "end": (end,), "axes": (axis,), "slice_mode": "end"}
        slices.append((rearrange.StridedSliceOp.name, bounds))
    return slices


class Budget:
    """The weights of a module: what is known of each, and the bytes of those that are derived."""

    def __init__(self, params: Sequence[relay.ParamOp]) -> None:
        self.known: dict[str, Derived] = {}
        self.ops: Counter[str] = Counter(op.param.data for op in params)
        for op in params:
            self.of(op)
        self.derived = sum(self.size(name) for name in self.ops)
        self.limit = total_limit(
            sum(self.known[name].origin for name in self.ops if name in self.known)
        )

    def of(self, op: relay.ParamOp) -> Derived | None:
        """Return what is known of a weight; None for a type or a formula that is not."""
        name = op.param.data
        if name not in self.known:
            type = as_tensor(op.result.type)
            spec = None if type is None else spec_of(type)
            try:
                if spec is not None:
                    known, origin = weight_of(spec, name), op.attributes.get(ORIGIN)
                    if isinstance(origin, IntegerAttr):
                        known = Derived(known.spec, origin.value.data, known.held, known.depth)
                    self.known[name] = known
            except MachineError:
                return None
        return self.known.get(name)

    def size(self, name: str) -> int:
        """Return the bytes that are computed for a weight."""
        return self.known[name].spec.size if name.startswith(MARK) and name in self.known else 0

    def accepts(self, made: Mapping[str, Derived]) -> bool:
        """Test whether weights may be derived, too."""
        added = sum(one.spec.size for name, one in made.items() if not self.ops[name])
        held = max((one.held for one in made.values()), default=0)
        return max(held, self.derived + added) <= self.limit

    def add(self, op: relay.ParamOp, derived: Derived) -> None:
        """Count a weight that was added to the module."""
        name = op.param.data
        self.known[name] = derived
        if not self.ops[name]:
            self.derived += self.size(name)
        self.ops[name] += 1

    def remove(self, op: relay.ParamOp) -> None:
        """Forget a weight that nothing uses any more."""
        name = op.param.data
        self.ops[name] -= 1
        if not self.ops[name]:
            self.derived -= self.size(name)


@dataclass(frozen=True)
class FoldOperator(RewritePattern):
    """Replace an operator on weights by the weights that it computes."""

    budget: Budget

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        fusible = op.get_trait(Fusible)
        if fusible is None or data_operands(op):
            return
        if fusible.kind > FusionKind.INJECTIVE and not isinstance(op, matmul.MatmulOp):
            return
        if has_effects(op):
            return
        params = [v.owner for v in op.operands if isinstance(v.owner, relay.ParamOp)]
        if not params or isinstance(op.parent_op(), relay.PrimitiveOp | relay.PrimFuncOp):
            return
        made = self.formulas(op)
        if not made or not self.budget.accepts(dict(made)):
            return
        weights: list[relay.ParamOp] = []
        for result, (formula, derived) in zip(op.results, made, strict=True):
            weight = relay.ParamOp(formula, result.type)
            if derived.spec.size > MAX_EXTRA // 2:
                weight.attributes[ORIGIN] = IntegerAttr(derived.origin, i64)
            self.budget.add(weight, derived)
            weights.append(weight)
        rewriter.replace(op, weights, [weight.result for weight in weights])
        for param in dict.fromkeys(params):
            if not param.result.uses:
                self.budget.remove(param)

    def formulas(self, op: Operation) -> list[tuple[str, Derived]]:
        """Return the formula of each result; none if one cannot be a weight."""
        operators = operators_of(op)
        if not operators:
            return []
        names: list[str | Array] = []
        given: list[Derived] = []
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, relay.ParamOp):
                name, derived = owner.param.data, self.budget.of(owner)
            elif isinstance(owner, relay.ConstantOp):
                name = inline_array(owner)
                derived = None if name is None else constant_of(name)
            else:
                return []
            if name is None or derived is None:
                return []
            names.append(name)
            given.append(derived)
        made: list[tuple[str, Derived]] = []
        try:
            for (kernel, attributes), result in zip(operators, op.results, strict=True):
                formula = formula_of(kernel, names, attributes)
                derived = derived_by(kernel, given, attributes, formula)
                type = as_tensor(result.type)
                if len(formula) > MAX_FORMULA or type is None or spec_of(type) != derived.spec:
                    return []
                made.append((formula, derived))
        except (MachineError, VerifyException):
            return []
        return made


class FoldWeightsPass(ReportingPass):
    """Compute operators on weights when the weights are read."""

    name = "fold-weights"
    accepts = "relay"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        params = ops_of(walk(op), relay.ParamOp)
        if not params or not apply_patterns(op, FoldOperator(Budget(params))):
            return False
        erase_unused(o for o in walk(op) if isinstance(o, relay.ParamOp | relay.ConstantOp))
        return True
