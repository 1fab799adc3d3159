"""
An ONNX graph becomes a function of `relay` operators.

    model.onnx                    func.func @main(%data: tensor<1x3xf32> {relay.name = "data"})
      data --+                        -> (tensor<1x2xf32> {relay.name = "y"}) {
      w -----+-- Gemm -- y   ->     %w = relay.param "w" : tensor<2x3xf32>
                                    %y = relay.nn.dense %data, %w : …
                                    func.return %y : tensor<1x2xf32>

Nodes are converted in their order, each once, by the rule of its operator. Initializers are
constants, those that are graph inputs too (as old models have it) not excepted: arguments are
only what has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onnx import ModelProto, NodeProto
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
from xdsl.ir import Block, Region, SSAValue

from ...dialects.relay.annotations import NAME
from ...dialects.relay.constants import INLINE_LIMIT
from .builder import Builder
from .errors import OnnxError
from .model import DEFAULT_DOMAINS, initializers_of, input_type, opset_of
from .node import Node
from .operators import RULES, Rule
from .schema import require_signature
from .values import Array, Value, value_name


@dataclass(frozen=True)
class Conversion:
    """A converted model: the module, and the arrays that its `relay.param`s name."""

    module: ModuleOp
    params: dict[str, Array]


def convert_model(model: ModelProto, name: str, *, inline_limit: int = INLINE_LIMIT) -> Conversion:
    """
    Convert `model`, which stands in the file `name`.

    The module has one public function `@main`, whose arguments and results are those of the
    graph, in order. Initializers of more than `inline_limit` bytes are `relay.param`s. Raises
    `OnnxError` for what is not supported.
    """
    return _Importer(model, name, inline_limit).convert()


class _Importer:
    """One conversion; `values` is what each ONNX name stands for so far."""

    def __init__(self, model: ModelProto, name: str, inline_limit: int):
        self.graph = model.graph
        self.file = StringAttr(name)
        self.opset = opset_of(model)
        self.values: dict[str, Value] = {}
        for constant in initializers_of(model):
            self.values[constant.name] = constant
        self.block = Block()
        self.builder = Builder(self.block, inline_limit)

    def convert(self) -> Conversion:
        arguments = self._add_arguments()
        used = {o.name for o in self.graph.output}
        for proto in self.graph.node:
            used.update(proto.input)
        frozen = frozenset(used)
        for index, proto in enumerate(self.graph.node):
            self._convert_node(proto, index, frozen)
        results = self._results()
        return Conversion(self._module(arguments, results), self.builder.params)

    # ------------------------------------------------------------ signature

    def _add_arguments(self) -> list[str]:
        names: list[str] = []
        infos = [i for i in self.graph.input if i.name not in self.values]
        self.block = Block(arg_types=[input_type(i) for i in infos])
        self.builder.block = self.block
        for info, argument in zip(infos, self.block.args, strict=True):
            if info.name in self.values:
                raise OnnxError(f'two inputs are called "{info.name}"')
            argument.name_hint = value_name(info.name)
            argument.location = NameLoc(StringAttr(info.name), self._place(0))
            self.values[info.name] = argument
            names.append(info.name)
        return names

    def _results(self) -> list[SSAValue]:
        results: list[SSAValue] = []
        for info in self.graph.output:
            value = self.values.get(info.name)
            if value is None:
                raise OnnxError(f'output "{info.name}" of the graph is computed by no node')
            results.append(self.builder.tensor(value))
        return results

    def _module(self, arguments: Sequence[str], results: Sequence[SSAValue]) -> ModuleOp:
        place = NameLoc(StringAttr(self.graph.name or "main"), self._place(0))
        self.block.add_op(ReturnOp.create(operands=results, location=place))
        main = FuncOp(
            "main",
            (self.block.arg_types, [r.type for r in results]),
            Region(self.block),
            arg_attrs=_named(arguments),
            res_attrs=_named([o.name for o in self.graph.output]),
        )
        module = ModuleOp([main])
        main.location = module.location = place
        return module

    # ---------------------------------------------------------------- nodes

    def _place(self, number: int) -> FileLineColLoc:
        """Node `number`, from 1, as a line; the graph itself is line 1 too."""
        return FileLineColLoc(self.file, IntAttr(max(1, number)), IntAttr(1))

    def _convert_node(self, proto: NodeProto, index: int, used: frozenset[str]) -> None:
        node = Node(proto, self.opset, self._place(index + 1), used=used)
        rule = _rule_for(node)
        node.inputs = [self._input(node, name) for name in proto.input]
        require_signature(node)
        self.builder.node = node
        try:
            made = rule.convert(node, self.builder)
        except (MemoryError, OverflowError) as error:
            raise node.error(f"its numbers are too large: {error}") from None
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
                raise node.error(f'"{name}" has a value already')
            value = results[i]
            self.values[name] = value
            if isinstance(value, SSAValue) and value.name_hint is None:
                value.name_hint = value_name(name)

    def _input(self, node: Node, name: str) -> Value | None:
        if not name:
            return None
        value = self.values.get(name)
        if value is None:
            raise node.error(f'input "{name}" is computed by no node before this one')
        return value


def _rule_for(node: Node) -> Rule:
    """How to convert `node`; raises `OnnxError` when nothing here knows."""
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


def _named(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({NAME: StringAttr(n)}) for n in names])
