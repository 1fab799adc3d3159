"""Read a program into a module: text or JSON to syntax, definitions, bodies, types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context as XdslContext
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from ...dialects import relay
from ...dialects.device import DEVICE
from ...dialects.errors import TOO_DEEP
from ...dialects.relay.language.annotations import ATTRS, NAME, TYPE_PARAMS
from ...dialects.relay.unification import TypeTooLarge
from ...dialects.vm import DestinationCall
from ...dialects.xdsl_extras.walking import walk
from ...passes.infer_types import refine_types
from ...passes.lambda_lift import lift_generic_closures
from ...passes.make_kernels import make_kernels
from ...passes.rename_written_tensors import rename_written_tensors
from ...passes.support.diagnostics import PassError
from . import prelude
from .build import (
    call_rules,
    expression_rules,
    function_rules,
    generic_rules,
    match_rules,
    tuple_rules,
)
from .build.build_context import Context, Rule, Signature
from .build.complete_types import complete_types
from .build.deferred import deferred_of
from .build.operators.calls_of_kernels import name_literals
from .errors import RelayTextError, SourceMap, location_of, nearest
from .json.json_module import NodeMap, module_of
from .json.node_graph import GraphError, Metadata, NodeGraph
from .text import syntax as ast
from .text.grammar import Grammar
from .text.lexer import tokenize
from .text.syntax import Constructor, Definition, Local, Module, TypeData
from .tvm_operators import BY_NAME
from .type_texts import is_storage


@dataclass(frozen=True)
class Read:
    """The module of a program, and the constants that its `relay.param`s name."""

    module: ModuleOp
    params: Mapping[str, DenseIntOrFPElementsAttr[Any]]


def read_text(
    ctx: XdslContext,
    text: str,
    name: str,
    meta_table: Mapping[str, Sequence[Any]] | None = None,
    separate: bool = False,
    lines_before: int = 0,
) -> Read:
    """Read the program in `text`; with `separate`, large constants become `relay.param`s."""
    source_map = SourceMap(name, text, lines_before)
    grammar: Grammar | None = None
    try:
        tokens = tokenize(text, source_map)
        graph = None
        try:
            if tokens.metadata is not None:
                graph = NodeGraph(text[tokens.metadata :])
            metadata = Metadata(graph, meta_table)
        except GraphError as error:
            place = tokens.starts[-1], 11
            if tokens.metadata is not None and error.offset is not None:
                place = tokens.metadata + error.offset, 1
            raise source_map.error(f"invalid metadata: {error}", *place) from None
        grammar = Grammar(tokens, source_map, metadata, text)
        module = grammar.read_module()
    except RecursionError:
        at = 0 if grammar is None else grammar.tokens.starts[grammar.tokens.position]
        raise source_map.error(TOO_DEEP, at) from None
    return read_module(ctx, module, separate)


def read_json(ctx: XdslContext, text: str, name: str, separate: bool = False) -> Read:
    """Read a program saved by `tvm.ir.save_json`."""
    source_map = NodeMap(name, "")
    try:
        module = module_of(NodeGraph(text), name)
    except GraphError as error:
        if error.offset is not None:
            raise SourceMap(name, text).error(str(error), error.offset) from None
        raise source_map.error(str(error), error.at) from None
    except RecursionError:
        raise source_map.error(TOO_DEEP, 1) from None
    return read_module(ctx, module, separate)


def read_module(ctx: XdslContext, module: Module, separate: bool) -> Read:
    """Build the IR of `module`."""
    context = Context(ctx, module.source_map, RULES, module.noted_type, separate=separate)
    try:
        return _Reader(context).read(module)
    except RecursionError:
        at = max(context.reached, context.scopes.reached)
        raise context.source_map.error(TOO_DEEP, at) from None
    except TypeTooLarge as error:
        raise context.source_map.error(str(error), context.reached) from None


RULES: Mapping[type, Rule] = {
    ast.Use: expression_rules.use,
    ast.Node: expression_rules.node,
    ast.Scalar: expression_rules.scalar,
    ast.Dense: expression_rules.dense,
    ast.Tuple: tuple_rules.tuple_,
    ast.Projection: tuple_rules.projection,
    ast.Global: function_rules.global_value,
    ast.Function: function_rules.closure,
    ast.Name: call_rules.name_value,
    ast.Call: call_rules.call,
    ast.If: expression_rules.if_,
    ast.Match: match_rules.match,
    ast.Cell: expression_rules.cell,
    ast.Body: function_rules.body_value,
    ast.Statement: expression_rules.statement,
    ast.Binding: generic_rules.binding,
}
"""The rule that builds each class of nodes: how one expression becomes IR."""


class _Reader:
    """Builds the definitions of a program and those of the prelude that it needs."""

    def __init__(self, context: Context):
        self.context = context
        self.program = context.program

    def read(self, module: Module) -> Read:
        """Build the module, and verify what only the reader knows."""
        if module.operator is not None and module.operator.name in BY_NAME:
            result = ModuleOp([call_rules.operator_program(self.context, module.operator)])
            result.location = module.source_map.location(0)
            return Read(result, {})
        modules = [*prelude.needed_by(module), module]
        for part in modules:
            self._declare_types(part)
        for part in modules:
            self._check_types(part)
            self._declare_functions(part)
        self.context.names.taken |= {*self.program.functions, *self.program.types}
        for signature in list(self.program.functions.values()):
            self._read_body(signature)
        types = (op for op in self.program.types.values() if not is_storage(op))
        functions = map(self._function_op, self.program.functions.values())
        result = ModuleOp([*types, *functions])
        result.location = module.source_map.location(0)
        try:
            for step in OPENING.values():
                step(self.context, result)
        except PassError as error:
            here = module.source_map.location(0)
            notes = [(note.message, note.location or here) for note in error.notes]
            raise RelayTextError(error.message, error.location or here, notes=notes) from None
        return Read(result, self.context.params)

    # ------------------------------------------------------------ declarations

    def _declare_types(self, module: Module) -> None:
        types, constructors = self.program.types, self.program.constructors
        for definition in module.types:
            name = definition.name
            if name in types:
                before = location_of(types[name])
                raise _redefined(f"the type {name}", module, definition, len(name), before)
            fields = [(c.name, c.fields) for c in definition.constructors]
            op = types[name] = relay.TypeDataOp(name, definition.params, fields, definition.extern)
            op.location = module.source_map.location(definition.offset)
            for constructor in definition.constructors:
                made = constructor.name
                if made in constructors:
                    what, (_, before) = f"the constructor {made}", constructors[made]
                    raise _redefined(what, module, constructor, len(made), before)
                constructors[made] = op, module.source_map.location(constructor.offset)

    def _check_types(self, module: Module) -> None:
        for (name, count), at in module.names.types.items():
            data = self.program.types.get(name)
            if data is None:
                hint = nearest(name, self.program.types)
                raise module.source_map.error(f"unknown type {name}{hint}", at, len(name))
            wanted = len(data.params)
            if wanted != count:
                raise module.source_map.error(
                    f"{name} has {wanted} type parameters, but {count} type arguments are given",
                    at,
                    len(name),
                )

    def _declare_functions(self, module: Module) -> None:
        annotation = self.context.types.annotation
        for definition in module.functions:
            name, width = definition.name, len(definition.name) + 1
            if name in self.program.functions:
                first = self.program.functions[name]
                before = first.source_map.location(first.definition.offset)
                raise _redefined(f"@{name}", module, definition, width, before)
            if name in self.program.types:  # symbols cannot share a name
                what, note = f"{name}: it already names a data type", "the type is defined here"
                before = location_of(self.program.types[name])
                raise _redefined(what, module, definition, width, before, note)
            function = definition.function
            params = [annotation(p.type) for p in function.params]
            type = FunctionType.from_lists(params, [annotation(function.result)])
            signature = Signature(
                *(definition, module.source_map, type, Block()), function.type_params
            )
            self.program.functions[definition.name] = signature

    # ------------------------------------------------------------------ bodies

    def _read_body(self, signature: Signature) -> None:
        context, function = self.context, signature.definition.function
        context.enter(signature)
        types, (result,) = signature.type.inputs.data, signature.type.outputs.data
        function_rules.add_params(context, signature.block, function.params, types)
        value = function_rules.region_body(
            context, function.body, signature.block, is_function=True
        )
        at = context.hints.result(function.body).offset
        context.require(value.type, result, f"the result of @{signature.definition.name}", at)
        with context.writing(signature.block):
            context.add(ReturnOp(value), at)

    # --------------------------------------------------------------------- ops

    def _function_op(self, signature: Signature) -> Operation:
        definition = signature.definition
        function = definition.function
        op = FuncOp(
            definition.name,
            signature.type,
            Region(signature.block),
            arg_attrs=_arg_attrs(function.params, signature.block),
            res_attrs=None
            if function.device is None
            else ArrayAttr([DictionaryAttr({DEVICE: function.device})]),
        )
        op.location = signature.source_map.location(definition.offset)
        if signature.type_params:
            op.attributes[TYPE_PARAMS] = ArrayAttr([StringAttr(p) for p in signature.type_params])
        self.context.source_map = signature.source_map
        attrs = self.context.attributes(function.attrs, definition.offset)
        if attrs is not None:
            op.attributes[ATTRS] = attrs
        return op


def _redefined(
    what: str,
    module: Module,
    definition: TypeData | Constructor | Definition,
    width: int,
    before: FileLineColLoc,
    note: str = "first defined here",
) -> RelayTextError:
    error = module.source_map.error(f"redefinition of {what}", definition.offset, width)
    error.notes = ((note, before),)
    return error


def _arg_attrs(params: Sequence[Local], block: Block) -> ArrayAttr[DictionaryAttr] | None:
    """Return the names and devices of the parameters; None if there are none."""
    entries: list[dict[str, Attribute]] = []
    for param, argument in zip(params, block.args, strict=True):
        entry: dict[str, Attribute] = {}
        if argument.name_hint != param.name:
            entry[NAME] = StringAttr(param.name)
        if param.device is not None:
            entry[DEVICE] = param.device
        entries.append(entry)
    if not any(entries):
        return None
    return ArrayAttr([DictionaryAttr(entry) for entry in entries])


# ---------------------------------------------------------------------- passes


def _make_kernels(context: Context, module: ModuleOp) -> None:
    if context.explicit.has_calls:
        make_kernels(module, context.text)


def _rename_written_tensors(context: Context, module: ModuleOp) -> None:
    """Rename tensors, and verify explicit memory, which is complete then."""
    if not context.explicit.has_calls and not context.explicit.ops:
        return
    rename_written_tensors(module)
    ops = [op for op in context.explicit.ops if op.parent is not None]
    calls = (op for op in walk(module) if isinstance(op, DestinationCall | relay.CallLoweredOp))
    for op in (*ops, *calls):
        try:
            op.verify_()
        except VerifyException as error:
            raise RelayTextError(f"{op.name}: {error}", location_of(op)) from None


def _infer_types(context: Context, module: ModuleOp) -> None:
    """
    Infer the types that were unknown when they were asked for, then dims that depend on these.

    A declared result stays: a function returns what its signature says.
    """
    complete_types(context)
    generic_rules.check_scopes(context)
    module.body.block.add_ops(name_literals(context))
    only: list[Operation] = []
    for signature in dict.fromkeys(each.signature for each in deferred_of(context)):
        assert signature is not None, "a placeholder is in a function"
        function, last = signature.block.parent_op(), signature.block.last_op
        assert function is not None
        assert last is not None
        only += walk(signature.block, region_first=True)
        if signature.definition.function.result is None:
            only.append(function)
        else:
            owners = {value.owner for value in last.operands}
            only = [op for op in only if op not in owners]
    if only:
        refine_types(module, only)


def _lambda_lift(context: Context, module: ModuleOp) -> None:
    if context.has_generics:
        lift_generic_closures(module)


OPENING: Mapping[str, Callable[[Context, ModuleOp], None]] = {
    "infer-types": _infer_types,
    "lambda-lift": _lambda_lift,
    "make-kernels": _make_kernels,
    "rename-written-tensors": _rename_written_tensors,
}
"""The passes that complete a program once it is built, in order; each runs where it has work."""
