"""Random size arithmetic computes the same before and after, and a second run changes nothing."""

import random
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import pytest
from helpers.programs.programs import assert_same, context, parse
from helpers.programs.random_settings import rounds
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects import relay, vm
from xrelay.dialects.relay.language.control import yielded
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.operators.measures import MEASURES
from xrelay.operators.sizes import Check
from xrelay.passes.simplify_shapes import SimplifyShapesPass

Value: TypeAlias = Any


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


ARITHMETIC: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.FloorDivSIOp: lambda a, b: a // b,
    arith.DivSIOp: truncated,
    arith.RemSIOp: lambda a, b: a - b * truncated(a, b),
    arith.MaxSIOp: max,
    arith.MinSIOp: min,
}


class Interpreter:
    """Runs size arithmetic; a tensor that is not a shape is represented by its dims."""

    def __init__(self, module: ModuleOp):
        self.functions = {
            op.sym_name.data: op for op in module.ops if isinstance(op, relay.ShapeFuncOp)
        }
        self.seen: list[tuple[int, ...]] = []
        """The operands of each `test.op`."""
        self.failed: str | None = None

    def run(self, block: Block, args: Iterable[Value]) -> "Interpreter":
        self.block(block, dict(zip(block.args, args, strict=True)))
        return self

    def block(self, block: Block, values: dict[SSAValue, Value]) -> list[Value]:
        for op in block.ops:
            if self.failed is not None:
                return []
            self.op(op, values)
        last = block.last_op
        assert last is not None
        return [values.get(value) for value in last.operands]

    def op(self, op: Operation, values: dict[SSAValue, Value]) -> None:
        args: list[Value] = [values.get(operand) for operand in op.operands]
        if type(op) in ARITHMETIC:
            values[op.results[0]] = ARITHMETIC[type(op)](*args)
        elif isinstance(op, arith.ConstantOp):
            assert isinstance(op.value, IntegerAttr)
            values[op.result] = op.value.value.data
        elif isinstance(op, arith.CmpiOp):
            assert op.predicate.value.data == 0
            values[op.result] = args[0] == args[1]
        elif isinstance(op, arith.SelectOp):
            values[op.result] = args[1] if args[0] else args[2]
        elif isinstance(op, tensor.FromElementsOp):
            values[op.result] = tuple(args)
        elif isinstance(op, tensor.ExtractOp):
            found, index = args
            assert isinstance(found, tuple)
            values[op.result] = found[index]
        elif isinstance(op, vm.ShapeOfOp):
            values[op.result] = args[0]
        elif isinstance(op, relay.MeasureOp):
            values[op.size] = MEASURES[op.measure.data](*args)
        elif isinstance(op, vm.ShapeFuncOp):
            function = self.functions[op.callee.string_value()]
            body = function.body.block
            results = self.block(body, dict(zip(body.args, args, strict=False)))
            values.update(zip(op.results, results, strict=False))
        elif isinstance(op, relay.RequireOp):
            if not Check(op.check.data).holds(*args[:2]):
                self.failed = op.message.data
        elif isinstance(op, relay.IfOp):
            region = op.regions[0 if args[0] else 1]
            self.block(region.block, values)
            results = [values.get(value) for value in yielded(region)]
            values.update(zip(op.results, results, strict=True))
        elif op.name == "builtin.unregistered" or op.name == "test.op":
            self.seen.append(tuple(args))


class Generator:
    """Writes a function of random size arithmetic."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.count = 0
        self.functions: list[str] = []

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def body(self, sizes: list[str], tensors: list[str], length: int, depth: int) -> list[str]:
        """Write ops on copies of `sizes` and, if there are any, `tensors`."""
        return self.extended(list(sizes), list(tensors), length, depth)

    def extended(self, sizes: list[str], tensors: list[str], length: int, depth: int) -> list[str]:
        """Write ops; append the sizes and tensors that they make to the lists."""
        rng = self.rng
        lines: list[str] = []
        for _ in range(length):
            made, a, b = self.name(), rng.choice(sizes), rng.choice(sizes)
            match rng.randrange(12 if tensors else 6):
                case 0 | 1 | 2:
                    kind = rng.choice(["addi", "subi", "muli", "maxsi", "minsi"])
                    lines.append(f"{made} = arith.{kind} {a}, {b} : i64")
                case 3:
                    kind = rng.choice(["floordivsi", "divsi", "remsi"])
                    divisor = self.name()
                    lines.append(f"{divisor} = arith.constant {rng.randrange(1, 5)} : i64")
                    lines.append(f"{made} = arith.{kind} {a}, {divisor} : i64")
                case 4:
                    lines.append(f"{made} = arith.constant {rng.randrange(-2, 4)} : i64")
                case 6 | 8:
                    axis = rng.randrange(2)
                    shape, index, x = self.name(), self.name(), rng.choice(tensors)
                    lines.append(f"{shape} = vm.shape_of {x} : (tensor<?x?xf32>) -> tensor<2xi64>")
                    lines.append(f"{index} = arith.constant {axis} : index")
                    lines.append(f"{made} = tensor.extract {shape}[{index}] : tensor<2xi64>")
                case 5:
                    one, test = self.name(), self.name()
                    lines.append(f"{one} = arith.constant 1 : i64")
                    lines.append(f"{test} = arith.cmpi eq, {a}, {one} : i64")
                    lines.append(f"{made} = arith.select {test}, {b}, {a} : i64")
                case 7:
                    shape, index, storage, out = (self.name() for _ in range(4))
                    given, function = self.name(), f"@f{len(self.functions)}"
                    if depth == 0 and rng.random() < 0.5:
                        self.functions.append(self.function(function))
                    if not self.functions:
                        continue
                    function = f"@f{rng.randrange(len(self.functions))}"
                    lines += [
                        f"{given} = tensor.from_elements {a}, {b} : tensor<2xi64>",
                        f"{storage} = memory.alloc_storage 16 align 64 : !memory.storage",
                        f"{out} = memory.alloc_tensor {storage}[0] : tensor<2xi64>",
                        f"{shape} = vm.shape_func {function} ins({given} : tensor<2xi64>) "
                        f"outs({out} : tensor<2xi64>) {{is_input = array<i64: 0>}} "
                        "-> tensor<2xi64>",
                        f"{index} = arith.constant {rng.randrange(2)} : index",
                        f"{made} = tensor.extract {shape}[{index}] : tensor<2xi64>",
                    ]
                case 9:
                    check = rng.choice(["eq", "at_least", "one_or_eq", "broadcast"])
                    message = f'"{self.count}"'
                    if rng.random() < 0.3:
                        lines.append(f"relay.require {check} {a}, {b}, {message}")
                    continue
                case 10 if depth < 2:
                    then, orelse = (
                        "\n".join(self.body(sizes, tensors, length // 2, depth + 1))
                        for _ in range(2)
                    )
                    x, y = rng.choice(tensors), rng.choice(tensors)
                    lines.append(
                        f"{made} = relay.if %c : tensor<i1> -> (tensor<?x?xf32>) {{\n{then}\n"
                        f"relay.yield {x} : tensor<?x?xf32>\n}} else {{\n{orelse}\n"
                        f"relay.yield {y} : tensor<?x?xf32>\n}}"
                    )
                    tensors.append(made)
                    continue
                case _:
                    lines.append(f'"test.op"({a}, {b}) : (i64, i64) -> ()')
                    continue
            sizes.append(made)
        return lines

    def function(self, name: str) -> str:
        """Write a shape function of two sizes."""
        sizes = ["%a", "%b"]
        text = "\n".join(self.extended(sizes, [], 6, 3))
        first, second = self.rng.choice(sizes), self.rng.choice(sizes)
        return f"""relay.shape_func {name}(%s: tensor<2xi64>) -> tensor<2xi64> {{
        %i = arith.constant 0 : index
        %j = arith.constant 1 : index
        %a = tensor.extract %s[%i] : tensor<2xi64>
        %b = tensor.extract %s[%j] : tensor<2xi64>
        {text}
        %r = tensor.from_elements {first}, {second} : tensor<2xi64>
        relay.yield %r : tensor<2xi64>
        }}"""

    def module(self) -> str:
        body = "\n".join(self.body(["%n"], ["%x", "%y"], 40, 0))
        params = "%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %c: tensor<i1>, %n: i64"
        functions = "\n".join(self.functions)
        return f"func.func @main({params}) {{\n{body}\nfunc.return\n}}\n{functions}"


def run(module: ModuleOp, args: Iterable[Value]) -> Interpreter:
    main = next(op for op in module.ops if op.name == "func.func")
    return Interpreter(module).run(main.regions[0].block, args)


@pytest.mark.ci
@pytest.mark.parametrize("seed", range(rounds(16)))
def test_sizes_stay_what_they_are(seed: int):
    generator = Generator(seed)
    text = generator.module()
    before, after = parse(text), parse(text)
    SimplifyShapesPass().apply(context(), after)
    after.verify()
    assert not any(isinstance(op, relay.ShapeFuncOp | vm.ShapeFuncOp) for op in walk(after))
    rng = random.Random(seed)
    for condition in (True, False):
        for _ in range(8):
            x, y = ((rng.randrange(5), rng.randrange(5)) for _ in range(2))
            args = x, y, condition, rng.randrange(5)
            expected, found = run(before, args), run(after, args)
            assert found.failed == expected.failed
            assert found.seen == expected.seen


@pytest.mark.ci
@pytest.mark.parametrize("seed", range(rounds(25)))
def test_a_second_run_changes_nothing(seed: int):
    module = parse(Generator(seed).module())
    SimplifyShapesPass().apply(context(), module)
    once = module.clone()
    SimplifyShapesPass().apply(context(), module)
    assert_same(module, once)


def chain(length: int) -> str:
    """A chain of kernels on `tensor<?x10xf32>`, as `manifest-alloc` leaves it."""
    lines = [
        f"""
        %in{i} = vm.shape_of %v{i} : (tensor<?x10xf32>) -> tensor<2xi64>
        %so{i} = memory.alloc_storage 16 align 64 : !memory.storage
        %to{i} = memory.alloc_tensor %so{i}[0] : tensor<2xi64>
        %d{i} = vm.shape_func @f ins(%in{i} : tensor<2xi64>) outs(%to{i} : tensor<2xi64>)
          {{is_input = array<i64: 0>}} -> tensor<2xi64>
        %i{i} = arith.constant 0 : index
        %n{i} = tensor.extract %d{i}[%i{i}] : tensor<2xi64>
        %c{i} = arith.constant 40 : i64
        %b{i} = arith.muli %n{i}, %c{i} : i64
        %s{i} = memory.alloc_storage %b{i} align 64 : !memory.storage
        %t{i} = memory.alloc_tensor %s{i}[0] shape %d{i} : tensor<2xi64> -> tensor<?x10xf32>
        %v{i + 1} = vm.invoke_tvm_op @k ins(%v{i} : tensor<?x10xf32>) outs(%t{i} : tensor<?x10xf32>)
          -> tensor<?x10xf32>"""
        for i in range(length)
    ]
    return f"""func.func @main(%v0: tensor<?x10xf32>) -> tensor<?x10xf32> {{
    {"".join(lines)}
    func.return %v{length} : tensor<?x10xf32>
    }}
    relay.prim_func @k(%a: tensor<?x10xf32>) -> tensor<?x10xf32>
      attributes {{shape_func = @f, shape_inputs = array<i64: 2>}} {{
      %0 = relay.nn.relu %a : (tensor<?x10xf32>) -> tensor<?x10xf32>
      relay.yield %0 : tensor<?x10xf32>
    }}
    relay.shape_func @f(%a: tensor<2xi64>) -> tensor<2xi64> {{
      relay.yield %a : tensor<2xi64>
    }}"""


@pytest.mark.ci
def test_an_operator_of_a_chain_keeps_its_storage_its_tensor_and_its_kernel():
    module = parse(chain(50))
    SimplifyShapesPass().apply(context(), module)
    names = [op.name for op in walk(module)]
    assert names.count("vm.invoke_tvm_op") == 50
    assert names.count("memory.alloc_storage") == 50
    assert names.count("arith.muli") == names.count("tensor.extract") == 1
    assert names.count("tensor.from_elements") == names.count("vm.shape_of") == 1
    assert len(names) == 3 * 50 + 13
