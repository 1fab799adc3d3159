"""Programs of any size, as text: the inputs of the compile-time benchmarks."""

from collections.abc import Callable, Iterator

TENSOR = "tensor<16x16xf32>"
ROWS = "tensor<?x16xf32>"
"""A number of rows that is known only when the program runs."""
UNARY = ("nn.relu", "tanh", "negative", "abs")
BINARY = ("add", "multiply", "maximum", "subtract")


class Writer:
    """The lines of one function of `x` and a weight, and its number of operators."""

    def __init__(self, type: str) -> None:
        self.type = type
        self.lines: list[str] = []

    def op(self, name: str, *operands: str) -> str:
        """Write one operator and return the name of its result."""
        types = ", ".join(
            {"%w": TENSOR, "%b": "tensor<16xf32>"}.get(o, self.type) for o in operands
        )
        result = f"%{len(self.lines)}"
        args = ", ".join(operands)
        self.lines.append(f"  {result} = relay.{name} {args} : ({types}) -> {self.type}")
        return result

    def text(self, result: str) -> str:
        """Return the module."""
        parameters = f"%x: {self.type}, %w: {TENSOR}, %b: tensor<16xf32>"
        head = f"func.func @main({parameters}) -> {self.type} {{"
        return "\n".join((head, *self.lines, f"  func.return {result} : {self.type}", "}", ""))


def chain(size: int, type: str = TENSOR) -> str:
    """
    Chain operators, each on the result of the one before: dense, add %b, relu, and so on.

    A fusing compiler makes one kernel of every three operators.
    """
    out, value = Writer(type), "%x"
    steps = (("nn.dense", "%w"), ("add", "%b"), ("nn.relu",))
    for i in range(size):
        name, *others = steps[i % len(steps)]
        value = out.op(name, value, *others)
    return out.text(value)


def wide(size: int, type: str = TENSOR) -> str:
    """
    Stack four layers, each with a quarter of the operators.

    Unary operators on %x, binary ones on two neighbours, dense ones, and a tree of additions:
    the width and the number of uses grow with `size`.
    """
    out = Writer(type)
    quarter = max(2, (size + 1) // 4)
    first = [out.op(UNARY[i % len(UNARY)], "%x") for i in range(quarter)]
    second = [
        out.op(BINARY[i % len(BINARY)], first[i], first[(i + 1) % quarter]) for i in range(quarter)
    ]
    values = [out.op("nn.dense", value, "%w") for value in second]
    while len(values) > 1:
        pairs = list(_pairs(values))
        values = [out.op("add", *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return out.text(values[0])


def nested(size: int) -> str:
    """
    Nest `relay.if`, half of the operators, each in the first branch of the one before.

    The limit is about 2,800 of them; the printed text is quadratic because of indentation.
    """
    depth = max(1, size // 2)
    opened = [
        f"%r{i} = relay.if %c : tensor<i1> -> ({TENSOR}) {{\n"
        f"%a{i} = relay.tanh %{f'a{i - 1}' if i else 'x'} : ({TENSOR}) -> {TENSOR}"
        for i in range(depth)
    ]
    closed = [
        f"relay.yield %{name} : {TENSOR}\n}} else {{\nrelay.yield %x : {TENSOR}\n}}"
        for name in (f"a{depth - 1}", *(f"r{i}" for i in reversed(range(1, depth))))
    ]
    head = f"func.func @main(%c: tensor<i1>, %x: {TENSOR}) -> {TENSOR} {{"
    return "\n".join((head, *opened, *closed, f"func.return %r0 : {TENSOR}", "}", ""))


def _pairs(values: list[str]) -> Iterator[tuple[str, ...]]:
    for i in range(0, len(values), 2):
        yield tuple(values[i : i + 2])


PROGRAMS: dict[str, Callable[[int], str]] = {
    "chain": chain,
    "wide": wide,
    "nested": nested,
    "dynamic-chain": lambda size: chain(size, ROWS),
    "dynamic-wide": lambda size: wide(size, ROWS),
}
