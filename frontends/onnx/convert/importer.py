"""
Convert an ONNX graph into a function of `relay` operators.

    model.onnx                    func.func @main(%data: tensor<1x3xf32> {relay.name = "data"})
      data --+                        -> (tensor<1x2xf32> {relay.name = "y"}) {
      w -----+-- Gemm -- y   ->     %w = relay.param "w" : tensor<2x3xf32>
                                    %y = relay.nn.dense %data, %w : …
                                    func.return %y : tensor<1x2xf32>

Nodes are converted once each, in order, by the rule of their operator; a node without one is
replaced by the nodes of its body, if it is a function. Initializers are constants, even those that
are graph inputs too (as in old models): arguments are the inputs without a value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from google.protobuf.message import Error
from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto, shape_inference
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ....dialects.relay.constants import INLINE_LIMIT
from ....dialects.relay.incomplete import is_incomplete, refine
from ....dialects.relay.language.annotations import NAME
from ....dialects.relay.language.dims_attributes import DIMS, dims_attr
from ....dialects.tensors import as_tensor, dtype_name
from ....dialects.xdsl_extras.xdsl_internals import set_type
from ....runtime.calls.input_bindings import BindingError, InputBindings
from ....runtime.calls.input_bindings import Value as BoundValue
from ....runtime.calls.input_values import fitted
from ...conversion import Conversion, ssa_name
from ..errors import OnnxError, Refused
from ..model.external import ExternalData
from ..model.function_bodies import (
    Body,
    Key,
    bound,
    functions_by_key,
    has_body,
    model_body,
    require_signature,
    schema_body,
)
from ..model.onnx_model import (
    declared_type,
    initializers_of,
    input_dims,
    input_type,
    opsets_of,
    value_type,
)
from ..operators import RULES, plugin_rules
from ..operators.rule import Rule, Rules
from .node import Node, NodeError
from .onnx_builder import Builder
from .onnx_data import Datum, MixedTypes, common, constructors_in, is_tensor, type_of
from .onnx_values import Constant, DynamicShape
from .refusals import MAX_NOTES, Refusals
from .scope import Scope, declared_in, graphs_of, names_in, names_read, with_inner

UNBOUND = InputBindings()
NO_FILES = ExternalData()

_FIRST_COLUMN = IntAttr(1)
_NONE = IntAttr(0)

BODY = "its body"
"""The place of nodes of a function, in messages."""

MAX_DEPTH = 64
"""Limit on the nesting of graphs and function bodies."""

MAX_INLINED = 100_000
"""
Limit on what function bodies and graphs in nodes may add to a model: nodes, also those in branches
that are not taken, and operators.
"""
MAX_INFERRED = 1 << 25
"""Limit on the bytes of a model, without its large tensors, whose types ONNX may infer."""


def convert_model(
    model: ModelProto,
    name: str,
    *,
    inline_limit: int = INLINE_LIMIT,
    bindings: InputBindings = UNBOUND,
    external: ExternalData = NO_FILES,
) -> Conversion:
    """
    Convert `model`, the contents of the file `name`.

    The module has one public function `@main`, whose arguments and results are those of the graph,
    in order; `bindings` are sizes of dims of inputs, and values of inputs, which then are
    constants.
    Initializers of more than `inline_limit` bytes become `relay.param`s. Raises `OnnxError` for
    anything unsupported.
    """
    return _Importer(model, name, inline_limit, bindings, external).convert()


class _Importer:
    """State of a conversion."""

    def __init__(
        self,
        model: ModelProto,
        name: str,
        inline_limit: int,
        bindings: InputBindings,
        external: ExternalData,
    ):
        self.bindings = bindings
        self.external = external
        self.model = model
        self.graph = model.graph
        self.file = StringAttr(name)
        self.functions = functions_by_key(model.functions)
        self.inlined = 0
        self.scope = Scope(
            opsets_of(model.opset_import), names_in(model.graph), declared=declared_in(model.graph)
        )
        self.path: list[tuple[Node, str]] = []
        """The nodes whose graphs or bodies are being converted, and what these are."""
        self.refusals = Refusals()
        self.checked: set[Key] = set()
        """The functions whose operators are checked although no call of them is converted."""
        self._read_initializers(self.graph, self.scope)
        self.builder = Builder(Block(), inline_limit, self._convert_graph)
        self.scalars: dict[SSAValue, tuple[str, Attribute]] = {}
        """The inputs of data of scalars, with their types unless other ranks are inferred."""

    def convert(self) -> Conversion:
        arguments = self._arguments()
        for index, proto in enumerate(self.graph.node):
            self._convert_or_refuse(proto, self._place(proto, index + 1))
        results = self._results()
        if self.refusals.errors:
            block = self.builder.block
            raise self.refusals.error(dict(zip(block.args, arguments, strict=True)))
        attributes = [_described(name, dims) for name, dims in arguments]
        return Conversion(self._module(attributes, results), self.builder.params)

    def _read_initializers(
        self, graph: GraphProto, scope: Scope, path: Sequence[tuple[Node, str]] = ()
    ) -> None:
        for name, constant in initializers_of(graph, self.external):
            if isinstance(constant, OnnxError):
                self.refusals.add(constant, path)
                scope.unknown.add(name)
            else:
                scope.values[name] = constant

    # ------------------------------------------------------------ signature

    def _arguments(self) -> list[tuple[str, list[int | str]]]:
        """Add the arguments; return their names and dims."""
        values, unknown = self.scope.values, self.scope.unknown
        arguments: list[tuple[str, list[int | str]]] = []
        infos = [i for i in self.graph.input if i.name not in values and i.name not in unknown]
        shapes = _shapes(infos, self.bindings)
        block = self.builder.block = Block()
        for info, dims in zip(infos, shapes, strict=True):
            if info.name in values:
                raise OnnxError(f'two inputs are called "{info.name}"')
            try:
                type = input_type(info, dims)
            except OnnxError as error:
                self.refusals.add(error)
                unknown.add(info.name)
                continue
            if info.name in self.bindings.values:
                values[info.name] = _constant(info.name, type, self.bindings.values[info.name])
                continue
            self.builder.prelude.update(dict.fromkeys(constructors_in(type)))
            argument = block.insert_arg(type, len(block.args))
            if is_incomplete(type):
                scalars = value_type(info.name, info.type, of_scalars=True)
                self.scalars[argument] = info.name, scalars
            argument.name_hint = ssa_name(info.name)
            argument.location = NameLoc(StringAttr(info.name), self._location(0))
            values[info.name] = argument
            arguments.append((info.name, dims or []))
        return arguments

    def _results(self) -> list[SSAValue]:
        """Return the results, without those that cannot be converted."""
        results: list[SSAValue] = []
        for info in self.graph.output:
            if info.name in self.scope.unknown:
                continue
            value = self.scope.find(info.name)
            try:
                if value is None:
                    raise OnnxError(f'no node computes the output "{info.name}" of the graph')
                results.append(self._result(info, value))
            except OnnxError as error:
                self.refusals.add(error)
        for argument, (name, type) in self.scalars.items():
            completed = refine(argument.type, type) or argument.type
            if is_incomplete(completed):
                reason = f'input "{name}" has tensors of no rank; supported: declared ranks'
                self.refusals.add(OnnxError(reason))
            set_type(argument, completed)
        return results

    def _result(self, info: ValueInfoProto, value: Datum) -> SSAValue:
        """Return an output; what is there becomes an optional value if it is declared as one."""
        if is_tensor(value) and info.type.WhichOneof("value") != "optional_type":
            return self.builder.tensor(value)
        what = f'output "{info.name}"'
        try:
            type = common(value_type(what, info.type), type_of(value))
        except MixedTypes as error:
            raise OnnxError(f"{what}: {error}") from None
        return self.builder.as_type(value, type)

    def _module(self, arguments: Sequence[DictionaryAttr], results: Sequence[SSAValue]) -> ModuleOp:
        place = NameLoc(StringAttr(self.graph.name or "main"), self._location(0))
        block = self.builder.block
        block.add_op(ReturnOp.create(operands=results, location=place))
        main = FuncOp(
            "main",
            (block.arg_types, [r.type for r in results]),
            Region(block),
            arg_attrs=ArrayAttr(arguments),
            res_attrs=ArrayAttr(
                DictionaryAttr({NAME: StringAttr(o.name)}) for o in self.graph.output
            ),
        )
        module = ModuleOp([*_definitions(self.builder.prelude), main, *self.builder.functions])
        main.location = module.location = place
        return module

    # ---------------------------------------------------------------- nodes

    def _location(self, number: int) -> FileLineColLoc:
        """Return node `number`, from 1, as a line; the graph itself is line 1 too."""
        return FileLineColLoc(self.file, IntAttr(max(1, number)), _FIRST_COLUMN)

    def _place(self, proto: NodeProto, number: int, path: str = "") -> FileLineColLoc:
        """
        Return the place of node `number`, from 1, of the model's graph or of one at `path` in it.

        A node with a name is at that, in the file: `model.onnx:if_0/then_branch/conv_3`. Another
        one of the model's graph is at its number, as a line.
        """
        if not proto.name and not path:
            return self._location(number)
        name = "".join(c if c.isprintable() else "?" for c in proto.name) or f"#{number}"
        return FileLineColLoc(StringAttr(f"{path or self.file.data + ':'}{name}"), _NONE, _NONE)

    def _convert_or_refuse(self, proto: NodeProto, place: FileLineColLoc) -> bool:
        """Convert a node; after an error, record it, and return False."""
        refusals = self.refusals
        before = len(refusals.errors)
        inner = [proto]
        if not before or not self.scope.misses(names_read([proto], ())):
            try:
                self._convert_node(proto, place)
                return True
            except Refused:
                pass
            except OnnxError as error:
                refusals.add(error, self.path)
            inner = [node for graph in graphs_of(proto) for node in graph.node]
        self._assume(proto.output)
        self._refuse_operators(inner, self.scope.opsets, place, refusals.errors[before:])
        return False

    def _assume(self, names: Iterable[str]) -> None:
        """Go on with the types that missing results must have, if these can be known."""
        for name in names:
            if not name or name in self.scope.values:
                continue
            info = self.scope.declared.get(name)
            if info is None and not self.path:
                info = self._inferred.get(name)
            try:
                type = None if info is None else declared_type(info, self.bindings)
            except OnnxError:
                type = None
            if type is None:
                self.scope.unknown.add(name)
            else:
                self.scope.values[name] = self.refusals.assume(type)

    @cached_property
    def _inferred(self) -> Mapping[str, ValueInfoProto]:
        """The types that ONNX infers for the results of nodes, if that cannot take much memory."""
        if self.model.functions or self.model.ByteSize() > MAX_INFERRED:
            return {}  # each call of a function is a copy: they may be as many as 2^40
        try:
            graph = shape_inference.infer_shapes(self.model).graph
        except (Error, shape_inference.InferenceError, ValueError):  # damaged, or more than 2 GB
            return {}
        return {info.name: info for info in graph.value_info}

    def _refuse_operators(
        self,
        protos: Iterable[NodeProto],
        opsets: Mapping[str, int],
        place: FileLineColLoc,
        known: Sequence[OnnxError],
    ) -> None:
        """
        Refuse the nodes, and those of their graphs and functions, of operators not supported.

        The reasons in the messages of `known` are not listed again.
        """
        for proto in with_inner(protos):
            node = Node(proto, opsets, place)
            key = node.function
            if key in self.functions:
                if key not in self.checked and (called := model_body(node, self.functions)):
                    self.checked.add(key)
                    self._refuse_operators(called.nodes, called.opsets, place, known)
            elif _rule_for(node) is None and not has_body(node):
                error = _unsupported(node)
                if not any(error.message in e.message for e in known):
                    self.refusals.add(error, self.path)

    def _convert_node(self, proto: NodeProto, place: FileLineColLoc) -> None:
        scope = self.scope
        node = Node(
            *(bound(proto, scope.attributes), scope.opsets, place),
            used=scope.used,
            declared=scope.declared,
            external=self.external,
        )
        called = model_body(node, self.functions)
        rule = None if called is not None else _rule_for(node)
        node.inputs = [self._input(node, name) for name in proto.input]
        if called is None:
            require_signature(node)
        body = called if called is not None or rule is not None else schema_body(node)
        self.builder.node = node
        if body is not None:
            results = self._convert_body(node, body, called is not None)
        elif rule is not None:
            results = self._apply(rule, node)
        else:
            raise _unsupported(node)
        self._define(node, results)

    def _apply(self, rule: Rule, node: Node) -> Sequence[Datum | None]:
        before = self.builder.built
        try:
            results = rule.convert(node, self.builder)
        except (MemoryError, OverflowError) as error:
            raise node.error(f"a number is too large: {error}") from None
        except DynamicShape as error:
            raise node.error(str(error), error.value, needs_shape=True) from None
        except MixedTypes as error:
            raise node.error(str(error)) from None
        node.require_all_read()
        if self.path:
            self.inlined += self.builder.built - before
        return results if isinstance(results, Sequence) else [results]

    def _define(self, node: Node, results: Sequence[Datum | None]) -> None:
        """Let the names of the outputs of `node` be `results`."""
        scope = self.scope
        for i, name in enumerate(node.outputs):
            if not name:
                continue
            value = results[i] if i < len(results) else None
            if value is None:
                if name in scope.used:
                    known = [str(n) for n, result in enumerate(results) if result is not None]
                    raise node.error(f"output {i} is used; supported: {', '.join(known)}")
                continue
            if name in scope.values:
                raise node.error(f'redefinition of "{name}"')
            scope.values[name] = value
            if isinstance(value, SSAValue) and value.name_hint is None:
                value.name_hint = ssa_name(name)

    def _input(self, node: Node, name: str) -> Datum | None:
        if not name:
            return None
        value = self.scope.find(name)
        if value in self.refusals.assumed:
            self.refusals.read[name] = None
        if value is None and name not in self.scope.omitted:
            raise node.error(f'no earlier node computes the input "{name}"')
        return value

    # ------------------------------------------------------- bodies and graphs

    def _convert_body(self, node: Node, body: Body, is_of_model: bool) -> Sequence[Datum | None]:
        """
        Convert the nodes of `body` in place of `node`; return its results.

        The nodes of a body that ONNX defines, not the model, have no names that users know.
        """
        if any(outer.function == node.function for outer, where in self.path if where == BODY):
            raise node.error("the function calls itself, which ONNX does not allow")
        inputs = [*node.inputs, *[None] * (len(body.inputs) - len(node.inputs))]
        if len(inputs) != len(body.inputs):
            raise node.error(f"there are {len(inputs)} inputs; the function has {len(body.inputs)}")
        scope = Scope(body.opsets, names_read(body.nodes, body.outputs), body.attributes)
        pairs = zip(body.outputs, node.outputs, strict=False)
        known = node.declared
        scope.declared = {inner: known[name] for inner, name in pairs if name in known}
        for name, value in zip(body.inputs, inputs, strict=True):
            if value is None:
                scope.omitted.add(name)
            else:
                scope.values[name] = value
        path = f"{_path(node.place)}/" if is_of_model else None
        return self._convert_nodes(node, scope, body.nodes, body.outputs, BODY, path)

    def _convert_graph(
        self, node: Node, graph: GraphProto, arguments: Sequence[Datum]
    ) -> Sequence[Datum]:
        """
        Convert `graph`, an attribute of `node`, on `arguments` at the end of the current block.

        Its nodes may read what the graph around it defines before `node`.
        """
        if len(arguments) != len(graph.input):
            raise node.error(
                f'graph "{graph.name}" has {len(graph.input)} inputs; supported: {len(arguments)}'
            )
        outer = self.scope
        scope = Scope(outer.opsets, names_in(graph), outer.attributes, outer, declared_in(graph))
        where = f'graph "{graph.name}"'
        self._read_initializers(graph, scope, [*self.path, (node, where)])
        for info, argument in zip(graph.input, arguments, strict=True):
            scope.values[info.name] = argument
        outputs = [info.name for info in graph.output]
        path = f"{_path(node.place)}/{graph.name}/" if graph.name else f"{_path(node.place)}/"
        results = self._convert_nodes(node, scope, graph.node, outputs, where, path)
        for name, value in zip(outputs, results, strict=True):
            if value is None:
                raise node.error(f'no node computes the output "{name}" of graph "{graph.name}"')
        return [value for value in results if value is not None]

    def _convert_nodes(
        self,
        node: Node,
        scope: Scope,
        nodes: Iterable[NodeProto],
        outputs: Sequence[str],
        where: str,
        path: str | None,
    ) -> list[Datum | None]:
        """
        Convert `nodes` in `scope`, in place of `node`; return the values of `outputs`.

        The nodes are at `path`, or at the place of `node`.
        """
        outer, refusals = self.scope, self.refusals
        self.inlined += 1
        if len(self.path) >= MAX_DEPTH:
            raise node.error(f"functions and graphs are nested more than {MAX_DEPTH} deep")
        self.scope = scope
        self.path.append((node, where))
        is_whole = not scope.unknown
        try:
            for number, proto in enumerate(nodes, 1):
                self.inlined += sum(1 for _ in with_inner([proto]))
                if self.inlined > MAX_INLINED and refusals.inner < MAX_NOTES:
                    refusals.add(
                        node.error(
                            f"functions and graphs in nodes add more than {MAX_INLINED} nodes and "
                            "operators"
                        ),
                        self.path[:-1],
                    )
                    refusals.inner = MAX_NOTES
                if refusals.inner >= MAX_NOTES:
                    raise Refused
                place = node.place if path is None else self._place(proto, number, path)
                is_whole &= self._convert_or_refuse(proto, place)
        finally:
            self.path.pop()
            self.scope = outer
            self.builder.node = node
        if not is_whole:
            raise Refused
        return [scope.find(name) for name in outputs]


def _definitions(names: Collection[str]) -> Iterable[Operation]:
    """Yield what the prelude of Relay text defines as `names`; its functions are private."""
    if not names:
        return
    from ...relay_text import prelude_module

    for op in prelude_module(names).body.block.ops:
        op.detach()
        if isinstance(op, FuncOp):
            op.properties["sym_visibility"] = StringAttr("private")
        yield op


def _path(place: FileLineColLoc) -> str:
    """Return the path of what is at `place`, in the file."""
    number = place.line.data
    return f"{place.filename.data}:#{number}" if number else place.filename.data


def _rule_for(node: Node) -> Rule | None:
    """Return the rule that converts `node`, if there is one for its opset."""
    rules = _rules(node).get(node.op_type, ())
    return next((rule for rule in rules if rule.covers(node.opset)), None)


def _rules(node: Node) -> Rules:
    """Return the rules for the domain of `node`, of plug-ins if they are not ours."""
    return RULES.get(node.domain) or plugin_rules().get(node.domain, {})


def _unsupported(node: Node) -> NodeError:
    """Return the error about a node that has neither a rule nor a body."""
    domains = [domain or "ai.onnx" for domain in (*RULES, *plugin_rules())]
    rules = _rules(node)
    if not rules:
        return node.error(
            f"the operator is of domain {node.domain}; supported: {', '.join(domains)}, and "
            "functions in the model"
        )
    ranges = rules.get(node.op_type)
    if ranges is None:
        return node.error(
            "the operator is not supported (docs/reference/onnx.md lists those that are)"
        )
    return node.error(
        f"the operator is not supported in opset {node.opset}; supported: "
        f"{', '.join(str(r) for r in ranges)}"
    )


def _shapes(
    infos: Sequence[ValueInfoProto], bindings: InputBindings
) -> list[list[int | str] | None]:
    """Return the dims of the inputs, with the sizes that the user gives; None if not even these."""
    known = [(info.name, input_dims(info, bindings)) for info in infos]
    try:
        bound = bindings.bind(known)
        return [
            None if dims is None else sizes for (_, dims), sizes in zip(known, bound, strict=True)
        ]
    except BindingError as error:
        raise OnnxError(str(error)) from None


def _constant(name: str, type: Attribute, value: BoundValue) -> Constant:
    """Return the constant that an input of `type` is, by a value that the user gives."""
    tensor = as_tensor(type)
    if tensor is None:
        raise OnnxError(f'the input "{name}" is a sequence or optional; supported: tensors')
    dtype = np.dtype(dtype_name(tensor.element_type))
    shape = [None if dim == DYNAMIC_INDEX else dim for dim in tensor.get_shape()]
    try:
        return Constant(name, fitted(value, dtype, shape))
    except ValueError as error:
        raise OnnxError(f'the value of input "{name}": {error}') from None


def _described(name: str, dims: Sequence[int | str]) -> DictionaryAttr:
    """Return the attributes of an argument: its name, and its dims if some are dynamic."""
    attributes: dict[str, Attribute] = {NAME: StringAttr(name)}
    if any(isinstance(dim, str) for dim in dims):
        attributes[DIMS] = dims_attr(dims)
    return DictionaryAttr(attributes)
