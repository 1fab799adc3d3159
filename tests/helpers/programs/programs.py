"""Parsing of modules, and random straight-line and branching `relay` programs."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    Builtin,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    TensorType,
    f32,
)
from xdsl.dialects.test import Test
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects import bytecode, memory, qnn, relay, vm
from xrelay.dialects.attributes import properties_of
from xrelay.dialects.device import DEVICE, VirtualDeviceAttr, tensor_type
from xrelay.dialects.relay.operator import Operator
from xrelay.dialects.tensors import as_tensor
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.tools.text.parser import LocatingParser

CPU, GPU = VirtualDeviceAttr("cpu", 0), VirtualDeviceAttr("cuda", 0)


def context() -> Context:
    """A context with the dialects of all levels."""
    ctx = Context()
    for dialect in (
        Builtin,
        func.Func,
        arith.Arith,
        tensor.Tensor,
        Test,
        relay.Relay,
        qnn.Qnn,
        memory.Memory,
        vm.Vm,
        bytecode.Bytecode,
    ):
        ctx.load_dialect(dialect)
    return ctx


@lru_cache(100)
def _read(text: str) -> ModuleOp:
    module = LocatingParser(context(), text, "program.mlir").parse_module()
    for op in walk(module):
        op.location = UNKNOWN_LOC
    for value in values(module):
        if isinstance(value, BlockArgument):
            value.location = UNKNOWN_LOC
    return module


def parse(text: str) -> ModuleOp:
    """Return a new module without locations; a text is read once, as tests share programs."""
    return _read(text).clone()


def printed(module: Operation, generic: bool = False) -> str:
    out = io.StringIO()
    Printer(stream=out, print_generic_format=generic).print_op(module)
    return out.getvalue()


def values(module: Operation) -> Iterator[SSAValue]:
    """Yield the values that a module defines."""
    for op in walk(module):
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


def is_same(module: ModuleOp, other: ModuleOp) -> bool:
    """Test whether two modules are equal, the types and names of their values included."""
    described = [[(v.type, v.name_hint) for v in values(each)] for each in (module, other)]
    return described[0] == described[1] and module.is_structurally_equivalent(other)


def assert_same(module: ModuleOp, other: ModuleOp) -> None:
    """Check that two modules are equal, as their texts are."""
    assert is_same(module, other), f"{printed(module)}\nis not\n{printed(other)}"


OPERATORS: dict[str, type[Operator]] = {op.name: op for op in relay.OPERATORS}

UNARY = "exp tanh sigmoid negative abs nn.relu nn.leaky_relu clip sqrt nn.softmax nn.gelu".split()
BINARY = "add subtract multiply maximum minimum divide".split()
REDUCTIONS = "sum mean max min".split()
ATTRIBUTES: dict[str, dict[str, Any]] = {"clip": {"a_min": -1.0, "a_max": 2.0}}

RANKED = st.lists(st.integers(1, 4), max_size=3)


@dataclass
class Grower:
    """
    Adds random ops to a block.

    `pools` contains the usable values by device. The operands of an op are on one device, so that
    no program has a conflict.
    """

    draw: Callable[[st.SearchStrategy[Any]], Any]
    block: Block
    pools: dict[VirtualDeviceAttr, list[SSAValue]]
    depth: int = 0
    device: VirtualDeviceAttr = CPU
    rules: list[Callable[[], None]] = field(init=False)

    def __post_init__(self) -> None:
        straight = [
            self.unary,
            self.binary,
            self.binary,
            self.reduce,
            self.rearrange,
            self.reshape,
            self.dense,
            self.join,
            self.split,
            self.choose,
            self.constant,
            self.tuple,
        ]
        self.rules = straight if self.depth else [*straight, self.branch, self.move, self.move]

    def grow(self, steps: int) -> None:
        for _ in range(steps):
            self.device = self.draw(st.sampled_from([d for d, p in self.pools.items() if p]))
            self.draw(st.sampled_from(self.rules))()

    # ----------------------------------------------------------------- helpers

    def pick(self) -> SSAValue:
        pool = self.pools[self.device]
        # recent values more often, so that chains grow long
        back: int = self.draw(st.integers(0, min(len(pool) - 1, 5)))
        return pool[-1 - back]

    def add(self, op: Operation) -> Operation:
        self.block.add_op(op)
        return op

    def keep(self, op: Operation) -> None:
        """Add `op`, and make its f32 results usable."""
        self.add(op)
        for result in op.results:
            type = as_tensor(result.type)
            if type is not None and type.element_type == f32:
                self.pools[self.device].append(result)

    def apply(self, name: str, *operands: SSAValue, **attrs: Any) -> Operation | None:
        """Create the operator without adding it; return None if the operands are invalid."""
        cls = OPERATORS[f"relay.{name}"]
        try:
            return cls.on(operands, properties_of(cls, ATTRIBUTES.get(name, {}) | attrs))
        except VerifyException:
            return None

    def try_to(self, name: str, *operands: SSAValue, **attrs: Any) -> None:
        op = self.apply(name, *operands, **attrs)
        if op is not None:
            self.keep(op)

    def shape(self, value: SSAValue) -> tuple[int, ...]:
        type = as_tensor(value.type)
        assert type is not None
        return type.get_shape()

    # ------------------------------------------------------------------- rules

    def unary(self) -> None:
        self.try_to(self.draw(st.sampled_from(UNARY)), self.pick())

    def binary(self) -> None:
        self.try_to(self.draw(st.sampled_from(BINARY)), self.pick(), self.pick())

    def reduce(self) -> None:
        x = self.pick()
        rank = len(self.shape(x))
        axis = self.draw(st.sampled_from([None, *((a,) for a in range(rank))]))
        attrs = {} if axis is None else {"axis": axis}
        name = self.draw(st.sampled_from(REDUCTIONS))
        self.try_to(name, x, keepdims=self.draw(st.booleans()), **attrs)

    def rearrange(self) -> None:
        x = self.pick()
        axes = self.draw(st.permutations(range(len(self.shape(x)))))
        self.try_to("transpose", x, axes=axes)

    def reshape(self) -> None:
        x = self.pick()
        name, attrs = self.draw(
            st.sampled_from(
                [
                    ("reshape", {"newshape": (-1,)}),
                    ("reshape", {"newshape": (1, -1)}),
                    ("expand_dims", {"axis": 0}),
                    ("squeeze", {}),
                    ("nn.batch_flatten", {}),
                ]
            )
        )
        self.try_to(name, x, **attrs)

    def dense(self) -> None:
        x = self.pick()
        shape = self.shape(x)
        if shape:
            self.try_to(
                "nn.dense", x, self.dense_constant([self.draw(st.integers(1, 3)), shape[-1]])
            )

    def join(self) -> None:
        x = self.pick()
        name = self.draw(st.sampled_from(["concatenate", "stack"]))
        others = [x, *(self.pick() for _ in range(self.draw(st.integers(0, 2))))]
        self.try_to(name, *others, axis=0)

    def split(self) -> None:
        x = self.pick()
        if self.shape(x) and self.shape(x)[0] > 1:
            at = self.draw(st.integers(1, self.shape(x)[0] - 1))
            self.try_to("split", x, indices_or_sections=(at,))

    def choose(self) -> None:
        less = self.apply("less", self.pick(), self.pick())
        if less is not None:
            self.keep(less)
            self.try_to("where", less.results[0], self.pick(), self.pick())

    def dense_constant(self, shape: list[int]) -> SSAValue:
        size = 1
        for dim in shape:
            size *= dim
        values = [self.draw(st.integers(-4, 4)) / 2 for _ in range(size)]
        type = TensorType(f32, shape)
        op = relay.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, values))
        return self.add(op).results[0]

    def constant(self) -> None:
        self.pools[self.device].append(self.dense_constant(self.draw(RANKED)))

    def tuple(self) -> None:
        fields = [self.pick(), self.pick()]
        made = self.add(relay.TupleOp(fields))
        if self.draw(st.booleans()):
            inner = made.results[0]
            made = self.add(relay.TupleOp([inner, fields[0]]))
            made = self.add(relay.TupleGetItemOp(made.results[0], 0))
        self.keep(relay.TupleGetItemOp(made.results[0], self.draw(st.integers(0, 1))))

    def branch(self) -> None:
        """An `if` on a comparison of sums, whose regions yield values of one type."""
        scalars: list[SSAValue] = []
        for value in (self.pick(), self.pick()):
            total = self.apply("sum", value)
            assert total is not None
            scalars.append(self.add(total).results[0])
        less = self.apply("less", *scalars)
        assert less is not None
        self.add(less)
        like = self.pick()
        regions: list[Region] = []
        for _ in range(2):
            block = Block()
            inner = Grower(
                self.draw, block, {self.device: list(self.pools[self.device])}, self.depth + 1
            )
            inner.grow(self.draw(st.integers(0, 3)))
            fitting = [v for v in inner.pools[self.device] if v.type == like.type]
            block.add_op(relay.YieldOp(self.draw(st.sampled_from(fitting[-3:]))))
            regions.append(Region(block))
        self.keep(relay.IfOp(less.results[0], [like.type], *regions))

    def move(self) -> None:
        """Add two hints: one for the value's device, then one for the other device."""
        here, there = self.device, GPU if self.device is CPU else CPU
        hint = self.add(relay.OnDeviceOp(self.pick(), here))
        self.device = there
        self.keep(relay.OnDeviceOp(hint.results[0], there, True, True))


@st.composite
def programs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """The text of a program: a function `main` of f32 tensors on one or two devices."""
    shapes = draw(st.lists(RANKED, min_size=1, max_size=3))
    placed = [draw(st.sampled_from([CPU, CPU, GPU])) for _ in shapes]
    types: list[Attribute] = [tensor_type(f32, shape) for shape in shapes]
    block = Block(arg_types=types)
    pools: dict[VirtualDeviceAttr, list[SSAValue]] = {CPU: [], GPU: []}
    for argument, device in zip(block.args, placed, strict=True):
        pools[device].append(argument)
    grower = Grower(draw, block, pools)
    grower.grow(draw(st.integers(5, 14)))
    results = [grower.pick() for _ in range(draw(st.integers(1, 2)))]
    block.add_op(func.ReturnOp(*results))
    main = func.FuncOp(
        "main",
        FunctionType.from_lists(types, [r.type for r in results]),
        Region(block),
        arg_attrs=ArrayAttr([DictionaryAttr({DEVICE: device}) for device in placed]),
    )
    return printed(ModuleOp([main]))


def parameter_types(module: ModuleOp) -> list[TensorType[Any]]:
    """The types of `main`'s parameters."""
    main = next(op for op in module.ops if isinstance(op, func.FuncOp))
    types = [as_tensor(type) for type in main.function_type.inputs]
    assert None not in types
    return types  # pyright: ignore[reportReturnType]
