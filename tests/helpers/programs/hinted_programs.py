"""Random programs with random device hints, as text."""

from random import Random

import numpy as np

T = "tensor<3x4xf32>"
DEVICES = ("cpu:0", "cuda:0", "cuda:1")


class Program:
    """A random function body, line by line; all values except tuples and closures have type `T`."""

    def __init__(self, rng: Random, size: int, closures: bool = True):
        self.rng = rng
        self.closures = closures
        self.lines: list[str] = []
        self.count = 0
        values = ["%x", "%y"]
        for _ in range(size):
            self.step(values, depth=0)
        self.lines.append(f"func.return {rng.choice(values)} : {T}")

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}x"

    def step(self, values: list[str], depth: int) -> None:
        kinds = [self.binary, self.unary, self.hint, self.hint, self.constant, self.pair]
        if depth < 2:
            kinds.append(self.branch)
            if self.closures:
                kinds.append(self.closure)
        self.rng.choice(kinds)(values, depth)

    def emit(self, values: list[str], text: str) -> None:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        values.append(name)

    def binary(self, values: list[str], depth: int) -> None:
        a, b = self.rng.choice(values), self.rng.choice(values)
        name = self.rng.choice(["add", "multiply", "maximum"])
        self.emit(values, f"relay.{name} {a}, {b} : ({T}, {T}) -> {T}")

    def unary(self, values: list[str], depth: int) -> None:
        self.emit(values, f"relay.negative {self.rng.choice(values)} : ({T}) -> {T}")

    def hint(self, values: list[str], depth: int) -> None:
        body, result = self.rng.choice([(True, False), (True, True), (False, True), (False, False)])
        device = self.rng.choice(DEVICES) if body or result else "?"
        flags = f"constrain_body = {str(body).lower()}, constrain_result = {str(result).lower()}"
        self.emit(
            values,
            f"relay.on_device {self.rng.choice(values)}, #relay.device<{device}> {{{flags}}} "
            f": ({T}) -> {T}",
        )

    def constant(self, values: list[str], depth: int) -> None:
        name, value = self.fresh(), self.rng.choice(values)
        self.lines.append(f"{name} = relay.constant dense<2.0> : tensor<f32>")
        self.emit(values, f"relay.add {value}, {name} : ({T}, tensor<f32>) -> {T}")

    def pair(self, values: list[str], depth: int) -> None:
        name, a, b = self.fresh(), self.rng.choice(values), self.rng.choice(values)
        self.lines.append(f"{name} = relay.tuple {a}, {b} : ({T}, {T}) -> tuple<{T}, {T}>")
        item = f"relay.tuple_get_item {name}[{self.rng.randrange(2)}] : (tuple<{T}, {T}>) -> {T}"
        self.emit(values, item)

    def region(self, values: list[str], depth: int) -> None:
        inner = list(values)
        for _ in range(self.rng.randrange(3)):
            self.step(inner, depth + 1)
        self.lines.append(f"relay.yield {self.rng.choice(inner)} : {T}")

    def branch(self, values: list[str], depth: int) -> None:
        name = self.fresh()
        self.lines.append(f"{name} = relay.if %c : tensor<i1> -> ({T}) {{")
        self.region(values, depth)
        self.lines.append("} else {")
        self.region(values, depth)
        self.lines.append("}")
        values.append(name)

    def closure(self, values: list[str], depth: int) -> None:
        name, argument = self.fresh(), self.fresh()
        self.lines.append(f"{name} = relay.fn ({argument}: {T}) -> {T} {{")
        self.region([*values, argument], depth)
        self.lines.append("}")
        self.emit(values, f"relay.call {name}({self.rng.choice(values)}) : ({T}) -> {T}")

    def text(self) -> str:
        body = "\n".join(self.lines)
        return f"func.func @main(%x: {T}, %y: {T}, %c: tensor<i1>) -> {T} {{\n{body}\n}}"


def inputs() -> list[np.ndarray]:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    return [x - 5, 7 - 2 * x, np.array(True)]
