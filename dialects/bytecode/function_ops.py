"""Functions of the virtual machine: parameters, registers and a flat list of instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    prop_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..dim_bounds import bounds_by_name
from ..tensors import as_tensor
from .instruction import Instruction
from .program_definitions import Definition, parse_body


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
        bounds {n = [1, 2048]} registers 3 {
      …
    }
    bytecode.func @named ("x" : tensor<4xf32, #relay.device<cpu:0>>)
        -> ("y" : tensor<4xf32, #relay.device<cpu:0>>) registers 2 {
      …
    }
    ```

    The optional results are those that a caller from outside gets, one or a tuple. Their names
    differ; their types are for readers: the machine does not check them.
    Dims of one name are equal in every call, and within their bounds, if they have some.
    """

    name = "bytecode.func"

    param_names = prop_def(ArrayAttr[StringAttr])
    param_types = prop_def(ArrayAttr[Attribute])
    param_dims = opt_prop_def(ArrayAttr[ArrayAttr[StringAttr]])
    output_names = opt_prop_def(ArrayAttr[StringAttr])
    output_types = opt_prop_def(ArrayAttr[Attribute])
    dim_bounds = opt_prop_def(DictionaryAttr)
    """The least and the greatest size of named dims, or the least one alone."""
    register_count = prop_def(IntegerAttr[I64])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        def string() -> StringAttr:
            return StringAttr(parser.parse_str_literal())

        def param() -> tuple[StringAttr, Attribute, ArrayAttr[StringAttr]]:
            name = string()
            parser.parse_punctuation(":")
            type, dims = parser.parse_type(), None
            if parser.parse_optional_keyword("dims") is not None:
                dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, string)
            return name, type, ArrayAttr(dims or [])

        def result() -> tuple[StringAttr, Attribute]:
            name = string()
            parser.parse_punctuation(":")
            return name, parser.parse_type()

        name = parser.parse_symbol_name()
        params = parser.parse_comma_separated_list(parser.Delimiter.PAREN, param)
        results = None
        if parser.parse_optional_punctuation("->") is not None:
            results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, result)
        bounds = None
        if parser.parse_optional_keyword("bounds") is not None:
            bounds = parser.parse_attribute()
        parser.parse_keyword("registers")
        properties: dict[str, Attribute] = {
            "register_count": IntegerAttr(parser.parse_integer(allow_boolean=False), i64),
            "sym_name": name,
            "param_names": ArrayAttr([name for name, _, _ in params]),
            "param_types": ArrayAttr([type for _, type, _ in params]),
        }
        if results is not None:
            properties["output_names"] = ArrayAttr([name for name, _ in results])
            properties["output_types"] = ArrayAttr([type for _, type in results])
        if bounds is not None:
            properties["dim_bounds"] = bounds
        if any(dims for _, _, dims in params):
            properties["param_dims"] = ArrayAttr([dims for _, _, dims in params])
        return cls.create(properties=properties, regions=[parse_body(parser)])

    def print(self, printer: Printer) -> None:
        def typed(name: StringAttr, type: Attribute) -> None:
            printer.print_attribute(name)
            printer.print_string(" : ")
            printer.print_attribute(type)

        def param(entry: tuple[StringAttr, Attribute, ArrayAttr[StringAttr]]) -> None:
            typed(entry[0], entry[1])
            if entry[2]:
                printer.print_string(" dims ")
                printer.print_attribute(entry[2])

        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(
                zip(self.param_names, self.param_types, self.dims, strict=True), param
            )
        if self.outputs is not None:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.outputs, lambda entry: typed(*entry))
        if self.dim_bounds is not None:
            printer.print_string(" bounds ")
            printer.print_attribute(self.dim_bounds)
        printer.print_string(f" registers {self.register_count.value.data} ")
        printer.print_region(self.body)

    @property
    def dims(self) -> Sequence[ArrayAttr[StringAttr]]:
        """The names of each parameter's dims, "" for one without, or nothing."""
        if self.param_dims is None:
            return [ArrayAttr[StringAttr]([])] * len(self.param_types)
        return self.param_dims.data

    @property
    def outputs(self) -> Sequence[tuple[StringAttr, Attribute]] | None:
        """The name and type of each result; None if the function does not state them."""
        if self.output_names is None or self.output_types is None:
            return None
        return list(zip(self.output_names, self.output_types, strict=True))

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
        for name, type, dims in zip(self.param_names, self.param_types, self.dims, strict=True):
            tensor = as_tensor(type)
            rank = 0 if tensor is None else tensor.get_num_dims()
            if dims and len(dims) != rank:
                raise VerifyException(
                    f"{len(dims)} dims of parameter {name} are named, but there are {rank}"
                )
        self._verify_results()
        named = {name.data for names in self.dims for name in names}
        bounds = bounds_by_name(self.dim_bounds)
        for name in () if self.dim_bounds is None else self.dim_bounds.data:
            if name not in named or name not in bounds or not bounds[name].are_in_order:
                raise VerifyException(
                    "bounds must be one or two numbers for a named dim, at least 0 and in order, "
                    f"but those of '{name}' are not"
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

    def _verify_results(self) -> None:
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
