"""Random programs with dynamic dims: those of `programs`, with dims of parameters hidden."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from helpers.programs.agreement import Array, quiet
from helpers.programs.programs import parameter_types, parse, programs
from hypothesis import assume
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    f32,
)
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter
from xdsl.transforms.dead_code_elimination import dce
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects import relay
from xrelay.dialects.device import tensor_type
from xrelay.dialects.relay.incomplete import IncompleteType
from xrelay.dialects.relay.language.dims_attributes import DIMS
from xrelay.dialects.tensors import as_tensor
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify

Shape = tuple[int, ...]


@dataclass(frozen=True)
class DynamicProgram:
    """The text of a program whose parameters have the dims of `shapes`, None where dynamic."""

    text: str
    shapes: tuple[tuple[int | None, ...], ...]
    calls: tuple[tuple[Shape, ...], ...]
    """Shapes of arguments: the original ones first."""
    is_named: bool = False
    """True if dims that are equal in all calls have the same name."""

    def at(self, shapes: Sequence[Shape]) -> ModuleOp:
        """Return the program with parameters of these shapes and no other types."""
        return with_parameters(self.text, shapes)

    def at_open(self) -> ModuleOp:
        """Return the program with its dynamic dims."""
        module = with_parameters(self.text, self.shapes)
        if self.is_named:
            (main,) = [op for op in module.ops if isinstance(op, func.FuncOp)]
            name_dims(main, [[f"n{dim}" for dim in shape] for shape in self.calls[0]])
        return module


def name_dims(main: func.FuncOp, names: Sequence[Sequence[str] | None]) -> None:
    """Name the dynamic dims of the last parameters; None leaves those of a parameter unnamed."""
    given = list(main.arg_attrs or [DictionaryAttr({})] * len(main.args))
    first = len(given) - len(names)
    for i, dims in enumerate(names, first):
        type = as_tensor(main.args[i].type)
        if dims is None or type is None:
            continue
        entries = [
            StringAttr(name) if dim == DYNAMIC_INDEX else IntegerAttr(dim, 64)
            for name, dim in zip(dims, type.get_shape(), strict=True)
        ]
        given[i] = DictionaryAttr({**given[i].data, DIMS: ArrayAttr(entries)})
    main.arg_attrs = ArrayAttr(given)


def with_parameters(text: str, shapes: Sequence[Sequence[int | None]]) -> ModuleOp:
    """Return the program with parameters of `shapes`; the types of all results are unknown."""
    module = parse(text)
    (main,) = [op for op in module.ops if isinstance(op, func.FuncOp)]
    types: list[Attribute] = []
    for argument, shape in zip(main.args, shapes, strict=True):
        dims = [DYNAMIC_INDEX if dim is None else dim for dim in shape]
        type = tensor_type(f32, dims)
        types.append(type)
        Rewriter.replace_value_with_new_type(argument, type)
    for op in walk(main):
        if not isinstance(op, relay.ConstantOp):
            for result in op.results:
                Rewriter.replace_value_with_new_type(result, IncompleteType())
    dce(module)  # a dead op that fails at some shapes is removed by passes, but evaluated before
    outputs = [IncompleteType() for _ in main.function_type.outputs]
    main.function_type = FunctionType.from_lists(types, outputs)
    return module


@st.composite
def dynamic_programs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> DynamicProgram:
    """A random program, some dims of its parameters dynamic, and the shapes of a few calls."""
    text = draw(programs())
    module = parse(text)
    original: list[Shape] = [type.get_shape() for type in parameter_types(module)]
    sizes = sorted({dim for shape in original for dim in shape})
    hidden: set[int] = draw(st.sets(st.sampled_from(sizes), min_size=1)) if sizes else set()
    # a size is dynamic everywhere, and changes everywhere: operands still fit
    renamed = [
        {size: draw(st.integers(0, 5)) for size in sizes if size in hidden} for _ in range(2)
    ]
    shapes = tuple(tuple(None if dim in hidden else dim for dim in shape) for shape in original)
    calls = [tuple(original)]
    for sizes_now in renamed:
        calls.append(tuple(tuple(sizes_now.get(dim, dim) for dim in shape) for shape in original))
    return DynamicProgram(text, shapes, tuple(calls), draw(st.booleans()))


def inferred(program: DynamicProgram) -> ModuleOp:
    """Return a program of dynamic dims with its types; discard one whose shapes do not fit."""
    module = program.at_open()
    try:
        InferTypesPass().apply(quiet(), module)
        verify(module)
    except (PassError, VerifyException):
        assume(False)
    return module


def arguments(shapes: Sequence[Shape]) -> list[Array]:
    """Return random arguments of `shapes`."""
    rng = np.random.default_rng(len(shapes))
    return [rng.uniform(-2, 2, shape).astype(np.float32) for shape in shapes]
