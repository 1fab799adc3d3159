"""From text to a module: lexer, grammar, what is defined, bodies, types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region

from ...dialects.device import DEVICE
from ...dialects.relay.adt import TypeDataOp
from ...dialects.relay.annotations import ATTRS, NAME, TYPE_PARAMS
from . import calls, functions, generics, prelude
from .captures import pass_captures
from .destinations import name_what_is_written
from .emit import Emitter
from .errors import TOO_DEEP, Places, RelayTextError
from .finish import finish
from .grammar import Grammar
from .json_module import NodePlaces, module_of
from .kernels import Kernels
from .lexer import tokenize
from .metadata import Metadata
from .node_graph import GraphError, NodeGraph
from .placement import place_bindings
from .program import DataType, Made, Signature
from .solver import TypeTooLarge
from .syntax import Definition, Local, Module, TypeData, has_lets, is_empty
from .type_grammar import STORAGE


@dataclass(frozen=True)
class Read:
    """A program that was read: the module, and the constants that its `relay.param`s name."""

    module: ModuleOp
    params: Mapping[str, DenseIntOrFPElementsAttr[Any]]


def read_text(
    ctx: Context,
    text: str,
    name: str,
    meta_table: Mapping[str, Sequence[Any]] | None = None,
    separate: bool = False,
    lines_before: int = 0,
) -> Read:
    """The program in `text`; with `separate`, large constants become `relay.param`s."""
    places = Places(name, text, lines_before)
    grammar: Grammar | None = None
    try:
        tokens = tokenize(text, places)
        graph = None
        if tokens.metadata is not None:
            try:
                graph = NodeGraph(text[tokens.metadata :])
                metadata = Metadata(graph, meta_table)
            except GraphError as error:
                raise places.error(f"the metadata: {error}", tokens.starts[-1], 11) from None
        else:
            metadata = Metadata(None, meta_table)
        grammar = Grammar(tokens, places, metadata)
        module = grammar.read_module()
    except RecursionError:
        at = 0 if grammar is None else grammar.starts[grammar.position]
        raise places.error(TOO_DEEP, at) from None
    return read_module(ctx, module, text, separate)


def read_json(ctx: Context, text: str, name: str, separate: bool = False) -> Read:
    """The program that `tvm.ir.save_json` wrote as `text`."""
    places = NodePlaces(name, "")
    try:
        module = module_of(NodeGraph(text), name)
    except GraphError as error:
        raise places.error(str(error), 1) from None
    except RecursionError:
        raise places.error(TOO_DEEP, 1) from None
    return read_module(ctx, module, "", separate)


def read_module(ctx: Context, module: Module, text: str, separate: bool) -> Read:
    """The IR of `module`, whose text is `text`."""
    emitter = Emitter(ctx, module.places, source=text, separate=separate)
    try:
        return _Reader(emitter).read(module)
    except RecursionError:
        raise emitter.places.error(TOO_DEEP, emitter.reached) from None
    except TypeTooLarge as error:
        raise emitter.places.error(str(error), emitter.reached) from None


class _Reader:
    """Goes through the definitions of a program and those of the prelude that it needs."""

    def __init__(self, emitter: Emitter):
        self.emitter = emitter
        self.program = emitter.program

    def read(self, module: Module) -> Read:
        """The module, verified for what only the reader knows."""
        parts = [*prelude.needed_by(module), module]
        for part in parts:
            self._declare_types(part)
        for part in parts:
            self._check_types(part)
            self._declare_functions(part)
        for signature in list(self.program.functions.values()):
            self._read_body(signature)
        generics.publish(self.emitter)
        finish(self.emitter)
        generics.check_scopes(self.emitter)
        pass_captures(self.emitter.generics)
        kernels = Kernels(self.emitter)
        kernels.complete()
        name_what_is_written(self.emitter.explicit, self._bodies(kernels))
        ops = [*self._type_ops(), *self._function_ops(kernels)]
        result = ModuleOp(ops)
        result.location = module.places.location(0)
        return Read(result, self.emitter.params)

    # ------------------------------------------------------------ declarations

    def _declare_types(self, module: Module) -> None:
        types, places = self.program.types, module.places
        for definition in module.types:
            before = types.get(definition.name)
            if before is not None:
                raise self._twice("type", definition.name, definition.at, module.places, before)
            data = types[definition.name] = DataType(definition, places)
            for constructor in definition.constructors:
                made = self.program.constructors.get(constructor.name)
                if made is not None:
                    raise self._twice(
                        "constructor", constructor.name, constructor.at, places, made.of
                    )
                self.program.constructors[constructor.name] = Made(data, constructor)

    def _twice(
        self, what: str, name: str, at: int, places: Places, before: DataType
    ) -> RelayTextError:
        error = places.error(f"the {what} {name} is defined twice", at, len(name))
        first = before.definition.at
        if what == "constructor":
            first = next(c.at for c in before.definition.constructors if c.name == name)
        error.notes = (("it is defined here", before.places.location(first)),)
        return error

    def _check_types(self, module: Module) -> None:
        from .errors import nearest

        for (name, count), at in module.type_uses.items():
            data = self.program.types.get(name)
            if data is None:
                hint = nearest(name, self.program.types)
                raise module.places.error(f"there is no type {name}{hint}", at, len(name))
            wanted = len(data.definition.params)
            if wanted != count:
                raise module.places.error(
                    f"{name} has {wanted} type parameters, but {count} type arguments are given",
                    at,
                    len(name),
                )

    def _declare_functions(self, module: Module) -> None:
        annotation = self.emitter.solver.annotation
        for definition in module.functions:
            before = self.program.functions.get(definition.name)
            if before is not None:
                error = module.places.error(
                    f"@{definition.name} is defined twice", definition.at, len(definition.name) + 1
                )
                here = before.places.location(before.definition.at)
                error.notes = (("it is defined here", here),)
                raise error
            if definition.name in self.program.types:
                raise self._both(definition, module.places)
            function = definition.function
            params = [annotation(p.type) for p in function.params]
            type = FunctionType.from_lists(params, [annotation(function.result)])
            signature = Signature(definition, module.places, type, Block())
            self.program.functions[definition.name] = signature

    def _both(self, definition: Definition, places: Places) -> RelayTextError:
        """The error that a function is called as a type is, which symbols of a module cannot."""
        data, name = self.program.types[definition.name], definition.name
        error = places.error(
            f"@{name} is called as the data type {name} is: symbols have one name each",
            definition.at,
            len(name) + 1,
        )
        error.notes = (("the type is defined here", data.places.location(data.definition.at)),)
        return error

    # ------------------------------------------------------------------ bodies

    def _read_body(self, signature: Signature) -> None:
        emitter = self.emitter
        function = signature.definition.function
        emitter.places = signature.places
        emitter.function, emitter.signature = function, signature
        place_bindings(function)
        types, (result,) = signature.type.inputs.data, signature.type.outputs.data
        functions.add_params(emitter, signature.block, function.params, types)
        if not has_lets(function.body):
            function.body.result = calls.fixed_hint(function.body.result)
        value = emitter.region_body(function.region, function.body, signature.block)
        at = function.body.result.at
        emitter.require(value.type, result, f"the result of @{signature.definition.name}", at)
        with emitter.writing(signature.block):
            emitter.add(ReturnOp(value), at)
        emitter.solver.run_ready()

    def _bodies(self, kernels: Kernels) -> list[Block]:
        functions = [signature.block for signature in self.program.functions.values()]
        return [*functions, *(kernel.body.block for kernel in kernels.literals.values())]

    # --------------------------------------------------------------------- ops

    def _function_ops(self, kernels: Kernels) -> list[Operation]:
        made: list[Operation] = []
        for name, signature in self.program.functions.items():
            made.append(kernels.defined.get(name) or self._function_op(signature))
        return [*made, *kernels.literals.values()]

    def _type_ops(self) -> list[Operation]:
        made: list[Operation] = []
        for data in self.program.types.values():
            definition = data.definition
            if is_storage(definition):
                continue
            constructors = [(c.name, c.fields) for c in definition.constructors]
            op = TypeDataOp(definition.name, definition.params, constructors, definition.extern)
            op.location = data.places.location(definition.at)
            made.append(op)
        return made

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
        op.location = signature.places.location(definition.at)
        if function.type_params:
            op.attributes[TYPE_PARAMS] = ArrayAttr([StringAttr(p) for p in function.type_params])
        self.emitter.places = signature.places
        attrs = functions.attributes_of(self.emitter, function.attrs, definition.at)
        if attrs is not None:
            op.attributes[ATTRS] = attrs
        return op


def is_storage(definition: TypeData) -> bool:
    """Whether this is TVM's type of storage, which is no data type here."""
    return definition.name == STORAGE and is_empty(definition)


def _arg_attrs(params: Sequence[Local], block: Block) -> ArrayAttr[DictionaryAttr] | None:
    """Names and devices of the parameters; None when there is nothing to say."""
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
