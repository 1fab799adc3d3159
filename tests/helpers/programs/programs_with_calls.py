"""
Random programs of functions that call each other, as text.

Functions call those before them, in branches too, and return a tensor or a tuple of two. Tensors
have 8 rows, or as many as the call says and concatenations make of it; some are on another device.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

UNARY = ("exp", "nn.softmax", "tanh", "nn.relu")
CUDA = "#relay.device<cuda:0>"


@dataclass
class ProgramWithCalls:
    """A program whose `main` takes two tensors and a condition, and returns two tensors."""

    rng: Random
    is_open: bool
    has_devices: bool = False
    has_tuples: bool = True
    """True if functions may return tuples."""
    count: int = 0
    lines: list[str] = field(default_factory=list[str])
    results: list[int] = field(default_factory=list[int])
    """The number of results of each function."""

    @property
    def type(self) -> str:
        return "tensor<?x4xf32>" if self.is_open else "tensor<8x4xf32>"

    def returned(self, count: int) -> str:
        return self.type if count == 1 else f"tuple<{self.type}, {self.type}>"

    @property
    def text(self) -> str:
        counts = (1, 1, 2) if self.has_tuples else (1,)
        for number in range(self.rng.randint(1, 4)):
            self.function(f"func.func private @f{number}", number, self.rng.choice(counts))
        self.function("func.func @main", len(self.results), 2)
        return "\n".join(self.lines)

    def name(self) -> str:
        self.count += 1
        return f"%{self.count}"

    def function(self, head: str, number: int, results: int) -> None:
        params = f"%x: {self.type}, %y: {self.type}, %c: tensor<i1>"
        self.lines.append(f"{head}({params}) -> {self.returned(results)} {{")
        values = self.block(["%x", "%y"], number, self.rng.randint(1, 6), depth=0)
        picked = self.rng.sample(values, results) if self.rng.random() < 0.2 else values[-results:]
        if results == 2:
            made = self.name()
            types = f"{self.type}, {self.type}"
            self.lines.append(
                f"{made} = relay.tuple {', '.join(picked)} : ({types}) -> tuple<{types}>"
            )
            picked = [made]
        self.lines += [f"func.return {picked[0]} : {self.returned(results)}", "}"]
        self.results.append(results)

    def block(self, values: list[str], number: int, ops: int, depth: int) -> list[str]:
        """Add `ops` ops in the function `number`; return the values that are known after it."""
        values = list(values)
        for _ in range(ops):
            kind = self.rng.random()
            value = self.rng.choice(values[-3:])
            if kind < 0.35 and number:
                values += self.call(value, self.rng.choice(values), self.rng.randrange(number))
            elif kind < 0.5 and depth < 2:
                values.append(self.branch(values, number, depth))
            elif kind < 0.6 and self.is_open and not depth and number % 2:
                values.append(self.concatenation(value, self.rng.choice(values)))
            elif kind < 0.65 and self.has_devices:
                made = self.name()
                self.lines.append(
                    f"{made} = relay.on_device {value}, {CUDA} : ({self.type}) -> {self.type}"
                )
                values.append(made)
            elif kind < 0.75:
                values.append(self.op("add", value, value))
            else:
                values.append(self.op(self.rng.choice(UNARY), value))
        return values

    def op(self, name: str, *operands: str, attributes: str = "") -> str:
        made = self.name()
        types = ", ".join([self.type] * len(operands))
        self.lines.append(
            f"{made} = relay.{name} {', '.join(operands)}{attributes} : ({types}) -> {self.type}"
        )
        return made

    def concatenation(self, left: str, right: str) -> str:
        return self.op("concatenate", left, right, attributes=" {axis = 0 : i64}")

    def call(self, x: str, y: str, callee: int) -> list[str]:
        made, count = self.name(), self.results[callee]
        types = f"({self.type}, {self.type}, tensor<i1>) -> {self.returned(count)}"
        self.lines.append(f"{made} = func.call @f{callee}({x}, {y}, %c) : {types}")
        if count == 1:
            return [made]
        parts = [self.name() for _ in range(count)]
        self.lines += [
            f"{part} = relay.tuple_get_item {made}[{i}] : ({self.returned(count)}) -> {self.type}"
            for i, part in enumerate(parts)
        ]
        return parts

    def branch(self, values: list[str], number: int, depth: int) -> str:
        made = self.name()
        self.lines.append(f"{made} = relay.if %c : tensor<i1> -> ({self.type}) {{")
        for end in ("} else {", "}"):
            inner = self.block(values, number, self.rng.randint(1, 3), depth + 1)
            self.lines += [f"relay.yield {inner[-1]} : {self.type}", end]
        return made
