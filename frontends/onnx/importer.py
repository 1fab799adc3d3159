"""
Convert an ONNX graph into a function of `relay` operators.

    model.onnx                    func.func @main(%data: tensor<1x3xf32> {relay.name = "data"})
      data --+                        -> (tensor<1x2xf32> {relay.name = "y"}) {
      w -----+-- Gemm -- y   ->     %w = relay.param "w" : tensor<2x3xf32>
                                    %y = relay.nn.dense %data, %w : …
                                    func.return %y : tensor<1x2xf32>

Nodes are converted once each, in order, by the rule of their operator. Initializers are constants,
even those that are graph inputs too (as in old models): arguments are the inputs without a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onnx import ModelProto, NodeProto, ValueInfoProto
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.relay.annotations import NAME
from ...dialects.relay.constants import INLINE_LIMIT
from ...dialects.relay.named_dims import DIMS, dims_attr
from ...operators.dim_bindings import BindingError, DimBindings
from .builder import Builder
from .errors import OnnxError
from .model import DEFAULT_DOMAINS, initializers_of, input_dims, input_type, opset_of
from .node import Node
from .operators import RULES
from .operators.rule import Rule
from .schema import require_signature
from .values import Array, DynamicShape, Value, value_name

UNBOUND = DimBindings()


@dataclass(frozen=True)
class Conversion:
    """A converted model: the module, and the arrays that its `relay.param`s name."""

    module: ModuleOp
    params: dict[str, Array]


def convert_model(
    model: ModelProto,
    name: str,
    *,
    inline_limit: int = INLINE_LIMIT,
    bindings: DimBindings = UNBOUND,
) -> Conversion:
    """
    Convert `model`, the contents of the file `name`.

    The module has one public function `@main`, whose arguments and results are those of the graph,
    in order; `bindings` are sizes of dims of arguments. Initializers of more than `inline_limit`
    bytes become `relay.param`s. Raises `OnnxError` for anything unsupported.
    """
    return _Importer(model, name, inline_limit, bindings).convert()


class _Importer:
    """State of a conversion; `values` maps each ONNX name to its value so far."""

    def __init__(self, model: ModelProto, name: str, inline_limit: int, bindings: DimBindings):
        self.bindings = bindings
        self.graph = model.graph
        self.file = StringAttr(name)
        self.opset = opset_of(model)
        self.values: dict[str, Value] = {}
        for constant in initializers_of(model):
            self.values[constant.name] = constant
        self.block = Block()
        self.builder = Builder(self.block, inline_limit)

    def convert(self) -> Conversion:
        arguments = self._arguments()
        used = {o.name for o in self.graph.output}
        for proto in self.graph.node:
            used.update(proto.input)
        frozen = frozenset(used)
        for index, proto in enumerate(self.graph.node):
            self._convert_node(proto, index, frozen)
        results = self._results()
        return Conversion(self._module(arguments, results), self.builder.params)

    # ------------------------------------------------------------ signature

    def _arguments(self) -> list[DictionaryAttr]:
        """Add the arguments; return their attributes."""
        attributes: list[DictionaryAttr] = []
        infos = [i for i in self.graph.input if i.name not in self.values]
        bound = _bound(infos, self.bindings)
        self.block = Block(
            arg_types=[input_type(i, dims) for i, dims in zip(infos, bound, strict=True)]
        )
        self.builder.block = self.block
        for info, dims, argument in zip(infos, bound, self.block.args, strict=True):
            if info.name in self.values:
                raise OnnxError(f'two inputs are called "{info.name}"')
            argument.name_hint = value_name(info.name)
            argument.location = NameLoc(StringAttr(info.name), self._location(0))
            self.values[info.name] = argument
            attributes.append(_described(info.name, dims))
        return attributes

    def _results(self) -> list[SSAValue]:
        results: list[SSAValue] = []
        for info in self.graph.output:
            value = self.values.get(info.name)
            if value is None:
                raise OnnxError(f'no node computes the output "{info.name}" of the graph')
            results.append(self.builder.tensor(value))
        return results

    def _module(self, arguments: Sequence[DictionaryAttr], results: Sequence[SSAValue]) -> ModuleOp:
        place = NameLoc(StringAttr(self.graph.name or "main"), self._location(0))
        self.block.add_op(ReturnOp.create(operands=results, location=place))
        main = FuncOp(
            "main",
            (self.block.arg_types, [r.type for r in results]),
            Region(self.block),
            arg_attrs=ArrayAttr(arguments),
            res_attrs=ArrayAttr(
                DictionaryAttr({NAME: StringAttr(o.name)}) for o in self.graph.output
            ),
        )
        module = ModuleOp([main])
        main.location = module.location = place
        return module

    # ---------------------------------------------------------------- nodes

    def _location(self, number: int) -> FileLineColLoc:
        """Return node `number`, from 1, as a line; the graph itself is line 1 too."""
        return FileLineColLoc(self.file, IntAttr(max(1, number)), IntAttr(1))

    def _convert_node(self, proto: NodeProto, index: int, used: frozenset[str]) -> None:
        node = Node(proto, self.opset, self._location(index + 1), used=used)
        rule = _rule_for(node)
        node.inputs = [self._input(node, name) for name in proto.input]
        require_signature(node)
        self.builder.node = node
        try:
            made = rule.convert(node, self.builder)
        except (MemoryError, OverflowError) as error:
            raise node.error(f"a number is too large: {error}") from None
        except DynamicShape as error:
            raise node.error(str(error)) from None
        node.require_all_read()
        results = made if isinstance(made, Sequence) else [made]
        for i, name in enumerate(node.outputs):
            if not name:
                continue
            if i >= len(results):
                if name in used:
                    raise node.error(
                        f"output {i} is used; supported: outputs 0 to {len(results) - 1}"
                    )
                continue
            if name in self.values:
                raise node.error(f'redefinition of "{name}"')
            value = results[i]
            self.values[name] = value
            if isinstance(value, SSAValue) and value.name_hint is None:
                value.name_hint = value_name(name)

    def _input(self, node: Node, name: str) -> Value | None:
        if not name:
            return None
        value = self.values.get(name)
        if value is None:
            raise node.error(f'no earlier node computes the input "{name}"')
        return value


def _rule_for(node: Node) -> Rule:
    """Return the rule that converts `node`; raises `OnnxError` if there is none."""
    domain = node.proto.domain
    if domain not in DEFAULT_DOMAINS:
        raise node.error(f"the operator is of domain {domain}; supported: ai.onnx")
    rules = RULES.get(node.op_type)
    if rules is None:
        raise node.error(
            f"the operator is not supported; supported operators: {', '.join(sorted(RULES))}"
        )
    for rule in rules:
        if rule.covers(node.opset):
            return rule
    raise node.error(
        f"the operator is not supported in opset {node.opset}; supported: "
        f"{', '.join(str(r) for r in rules)}"
    )


def _bound(infos: Sequence[ValueInfoProto], bindings: DimBindings) -> list[list[int | str]]:
    """Return the dims of the inputs, with the sizes that the user gives."""
    try:
        return bindings.bind([(info.name, input_dims(info)) for info in infos])
    except BindingError as error:
        raise OnnxError(str(error)) from None


def _described(name: str, dims: Sequence[int | str]) -> DictionaryAttr:
    """Return the attributes of an argument: its name, and its dims if some are dynamic."""
    attributes: dict[str, Attribute] = {NAME: StringAttr(name)}
    if any(isinstance(dim, str) for dim in dims):
        attributes[DIMS] = dims_attr(dims)
    return DictionaryAttr(attributes)
