"""
Functions of the virtual machine: parameters, registers and a flat list of instructions.

Constants, and named lists of ops, are definitions of a program.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..attributes import bounds_by_name
from ..tensors import as_tensor
from ..xdsl_extras.formats import OneBlock
from .instruction import Instruction


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """
    Define the constant `sym_name`.

    ```mlir
    bytecode.constant @const_0 dense<[1.0, 2.0]> : tensor<2xf32>
    ```
    """

    name = "bytecode.constant"
    sym_name = prop_def(SymbolNameConstraint())
    value = prop_def(DenseIntOrFPElementsAttr)

    assembly_format = "$sym_name $value attr-dict"

    traits = traits_def(SymbolOpInterface())


@irdl_op_definition
class LateConstantOp(IRDLOperation):
    """
    Define the constant `sym_name`, bound to the tensor `param` when the program is loaded.

    ```mlir
    bytecode.late_constant @const_1 "conv1_w" : tensor<64x3x7x7xf32>
    ```
    """

    name = "bytecode.late_constant"
    sym_name = prop_def(SymbolNameConstraint())
    param = prop_def(StringAttr)
    type = prop_def(TensorType)

    assembly_format = "$sym_name $param `:` $type attr-dict"

    traits = traits_def(SymbolOpInterface())


Dims: TypeAlias = ArrayAttr[ArrayAttr[StringAttr]]
"""The names of each value's dims, "" for an unnamed one; empty if all are unnamed."""


def dims_of(dims: Dims | None, count: int) -> Sequence[ArrayAttr[StringAttr]]:
    """Return the names of the dims of each of `count` values, which may have none."""
    return [ArrayAttr[StringAttr]([])] * count if dims is None else dims.data


@irdl_custom_directive
class Values(CustomDirective):
    """Names, types and names of dims of values, `("x" : tensor<4x?xf32> dims ["", "n"])`."""

    names: AttributeVariable
    types: AttributeVariable
    dims: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        names, types, dims = list[Attribute](), list[Attribute](), list[ArrayAttr[StringAttr]]()

        def parse_string() -> StringAttr:
            return StringAttr(parser.parse_str_literal())

        def parse_value() -> None:
            names.append(parse_string())
            parser.parse_punctuation(":")
            types.append(parser.parse_type())
            listed: list[StringAttr] = []
            if parser.parse_optional_keyword("dims") is not None:
                listed = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_string)
            dims.append(ArrayAttr(listed))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_value)
        self.names.set(state, ArrayAttr(names))
        self.types.set(state, ArrayAttr(types))
        if any(dims):
            self.dims.set(state, ArrayAttr(dims))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        def print_value(value: tuple[Attribute, Attribute, ArrayAttr[StringAttr]]) -> None:
            name, type, dims = value
            printer.print_attribute(name)
            printer.print_string(" : ")
            printer.print_attribute(type)
            if dims:
                printer.print_string(" dims ")
                printer.print_attribute(dims)

        names, types = (
            cast("ArrayAttr[Attribute]", each.get(op)) for each in (self.names, self.types)
        )
        dims = dims_of(cast("Dims | None", self.dims.get(op)), len(types))
        state.print_whitespace(printer)
        with printer.in_parens():
            printer.print_list(zip(names, types, dims, strict=True), print_value)

    def is_anchorable(self) -> bool:
        return True

    def is_present(self, op: IRDLOperation) -> bool:
        return self.names.is_present(op)


class Definition(IRDLOperation):
    """A kernel or a function: a named list of ops."""

    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), SymbolOpInterface())


@irdl_op_definition
class FuncOp(Definition):
    """
    Define a function of the program. Its parameters are in registers 0, 1, …

    ```mlir
    bytecode.func @main ("x" : tensor<4x?xf32, #relay.device<cpu:0>> dims ["", "n"]) registers 3 {
      …
      bytecode.ret r2
    }
    bytecode.func @bounded ("x" : tensor<?xf32, #relay.device<cpu:0>> dims ["n"])
        -> ("y" : tensor<?xf32, #relay.device<cpu:0>> dims ["n"])
        bounds {n = [1, 2048]} registers 3 {
      …
    }
    bytecode.func @named ("x" : tensor<4xf32, #relay.device<cpu:0>>)
        -> ("y" : tensor<4xf32, #relay.device<cpu:0>>) registers 2 {
      …
    }
    ```

    The optional results are what a caller from outside gets: one value, or the fields of a tuple.
    Their names differ; their types and dims are for readers: the machine does not check them.
    Dims of one name are equal in every call, and within their bounds, if they have some.
    `caches [[1, 2, 1024]]` says that result 1 is parameter 2 with more rows, of which its buffer
    has at most 1024.
    """

    name = "bytecode.func"

    param_names = prop_def(ArrayAttr[StringAttr])
    param_types = prop_def(ArrayAttr[Attribute])
    param_dims = opt_prop_def(Dims)
    output_names = opt_prop_def(ArrayAttr[StringAttr])
    output_types = opt_prop_def(ArrayAttr[Attribute])
    output_dims = opt_prop_def(Dims)
    dim_bounds = opt_prop_def(DictionaryAttr)
    """The least and greatest size of each named dim, or the least alone."""
    caches = opt_prop_def(ArrayAttr[ArrayAttr[IntegerAttr[I64]]])
    """The results in buffers of parameters: result, parameter, and rows at most."""
    register_count = prop_def(IntegerAttr[I64])

    custom_directives = (Values, OneBlock)
    assembly_format = (
        "$sym_name custom<Values>($param_names, $param_types, $param_dims) "
        "(`->` custom<Values>($output_names, $output_types, $output_dims)^)? "
        "(`bounds` $dim_bounds^)? (`caches` $caches^)? `registers` $register_count "
        "custom<OneBlock>($body) attr-dict"
    )

    @property
    def cache_numbers(self) -> Sequence[Sequence[int]]:
        """The numbers of `caches`."""
        return [[number.value.data for number in cache] for cache in self.caches or ()]

    @property
    def dims(self) -> Sequence[ArrayAttr[StringAttr]]:
        """The names of each parameter's dims, as in `Dims`."""
        return dims_of(self.param_dims, len(self.param_types))

    @property
    def outputs(self) -> Sequence[tuple[StringAttr, Attribute, ArrayAttr[StringAttr]]] | None:
        """
        The name, type and names of dims of each result; None if the function does not state them.
        """
        if self.output_names is None or self.output_types is None:
            return None
        dims = dims_of(self.output_dims, len(self.output_types))
        return list(zip(self.output_names, self.output_types, dims, strict=True))

    def verify_(self) -> None:
        if len(self.param_names) != len(self.param_types):
            raise VerifyException(
                f"{len(self.param_names)} parameters are named, "
                f"but {len(self.param_types)} have types"
            )
        if len(self.dims) != len(self.param_types):
            raise VerifyException(
                f"dims of {len(self.dims)} parameters are named, "
                f"but there are {len(self.param_types)}"
            )
        params = zip(self.param_names, self.param_types, self.dims, strict=True)
        self._verify_dims("parameter", params)
        named = {name.data for names in self.dims for name in names}
        self._verify_results(named)
        bounds = bounds_by_name(self.dim_bounds)
        for name in () if self.dim_bounds is None else self.dim_bounds.data:
            if name not in named or name not in bounds or not bounds[name].are_in_order:
                raise VerifyException(
                    "bounds must be one or two numbers for a named dim, at least 0 and in order, "
                    f"but those of '{name}' are not"
                )
        for cache in self.cache_numbers:
            if len(cache) != 3 or min(cache) < 0 or cache[1] >= len(self.param_names):
                raise VerifyException(
                    f"caches must be numbers of a result, a parameter, and rows, but one is {cache}"
                )
        count = self.register_count.value.data
        if count < len(self.param_names):
            raise VerifyException(
                f"{len(self.param_names)} parameters do not fit in {count} registers"
            )
        self._verify_instructions(count)

    def _verify_instructions(self, count: int) -> None:
        """Check the jumps of the instructions, and that they use fewer than `count` registers."""
        ops = list(self.body.block.ops)
        for i, op in enumerate(ops):
            if not isinstance(op, Instruction):
                continue
            for offset in op.jumps:
                if not 0 <= i + offset < len(ops):
                    raise VerifyException(
                        f"{op.name} jumps from instruction {i} to {i + offset}, "
                        f"but @{self.sym_name.data} has {len(ops)} instructions"
                    )
            if op.uses_register_from(count):
                register = next(r for r in (*op.reads, *op.writes) if r >= count)
                raise VerifyException(
                    f"{op.name} uses register r{register}, "
                    f"but @{self.sym_name.data} has {count} registers"
                )

    @staticmethod
    def _verify_dims(
        what: str, entries: Iterable[tuple[StringAttr, Attribute, ArrayAttr[StringAttr]]]
    ) -> None:
        for name, type, dims in entries:
            tensor = as_tensor(type)
            rank = 0 if tensor is None else tensor.get_num_dims()
            if dims and len(dims) != rank:
                raise VerifyException(
                    f"{len(dims)} dims of {what} {name} are named, but there are {rank}"
                )

    def _verify_results(self, named: Container[str]) -> None:
        """Check the names of results and of their dims, which are those `named` in parameters."""
        names = list(self.output_names or ())
        types = list(self.output_types or ())
        if len(names) != len(types):
            raise VerifyException(f"{len(names)} results are named, but {len(types)} have types")
        seen: set[StringAttr] = set()
        for name in names:
            if not name.data:
                raise VerifyException("a result needs a name that is not empty")
            if name in seen:
                raise VerifyException(f"two results are named {name}")
            seen.add(name)
        if self.output_dims is not None and len(self.output_dims) != len(types):
            raise VerifyException(
                f"dims of {len(self.output_dims)} results are named, but there are {len(types)}"
            )
        self._verify_dims("result", self.outputs or ())
        for dim in (dim for dims in self.output_dims or () for dim in dims):
            if dim.data and dim.data not in named:
                raise VerifyException(f"a dim of a result is named {dim}, but none of a parameter")
