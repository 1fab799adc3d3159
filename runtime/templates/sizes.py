"""
Sizes that are traced through ordinary code, which then is known for all sizes alike.

    trace = Trace()
    n = trace.dim("a0.shape[1]", 5)
    bytes = n * 4              s1 = s0 * 4
    if bytes > 64: ...         a guard: what was decided for 5 must be decided so again

A `Traced` size has the value of the call that is traced, and code that computes it in other
calls. It computes like an integer. A comparison that its bounds do not decide is decided by the
value, and the decision becomes a guard. A use as a real integer (an index, a loop) fixes its value.
So code that knows nothing of this, such as the planner of kernels or the rules of operators, can
run with such sizes; what it decides is right whenever the guards hold.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from ...operators.measures import MEASURES
from ...operators.sizes import UNKNOWN, Check, Dim, SizeOp

LOW, HIGH = -(1 << 63), (1 << 63) - 1
MAX_DIM = 1 << 31
"""Dims of arguments are below this; calls with greater ones are recorded."""

Number: TypeAlias = "int | Traced"


class NoTemplate(Exception):
    """A path has no template; the message says why."""


class Trace:
    """The sizes of a path, and the guards under which it is taken, as lines of code."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        """Each a name and its expression, or an empty name and a condition that must hold."""
        self.environment: dict[str, object] = {}
        self._known: dict[str, Traced] = {}
        self._linear: dict[Linear, Traced] = {}
        self._names: dict[int, str] = {}
        self._guards: dict[str, None] = {}
        self._fixed: list[Traced] = []
        self._count = 0

    def dim(self, code: str, value: int) -> Number:
        """Return a dim of an argument. Dims 0 and 1 stay these, as much depends on them."""
        if value < 2:
            self.guard(f"{code} == {value}")
            return value
        size = self._add(code, value, 2, MAX_DIM)
        self.guard(f"2 <= {size.name} < {MAX_DIM}")
        return size

    def read(self, code: str, value: int) -> Traced:
        """Return a size that the template reads from memory, now."""
        return self._new(code, value, LOW, HIGH)

    def unpacked(self, code: str, values: Sequence[int]) -> list[Traced]:
        """Return the elements of the tuple that `code` computes, which are at least 0."""
        names = [f"e{self._count}_{number}" for number in range(len(values))]
        self.lines.append((f"{', '.join(names)},", code))
        pairs = zip(names, values, strict=True)
        return [self._new(name, value, 0, HIGH) for name, value in pairs]

    def guard(self, condition: str) -> None:
        """Require `condition` of calls."""
        if condition not in self._guards:
            self._guards[condition] = None
            self.lines.append(("", condition))

    def constant(self, value: object) -> str:
        """Return the name of an object that code refers to."""
        name = self._names.get(id(value))
        if name is None:
            self._names[id(value)] = name = f"k{len(self.environment)}"
            self.environment[name] = value
        return name

    def call(self, function: Callable[..., int], args: Sequence[Any]) -> Number:
        """Return what `function`, which has no state, computes from `args`."""
        given = [plain(arg) for arg in args]
        if not any(isinstance(arg, Traced) for arg in given):
            return function(*given)
        value = function(*(value_of(arg) for arg in given))
        code = f"{self.constant(function)}({', '.join(map(code_of, given))})"
        return self.checked(self._add(code, value, LOW, HIGH))

    def checked(self, size: Number) -> Number:
        """Require that `size` fits in 64 bits, unless that is certain."""
        if isinstance(size, Traced) and (size.low < LOW or size.high > HIGH):
            self.guard(f"{LOW} <= {size.name} <= {HIGH}")
            size.low, size.high = max(size.low, LOW), min(size.high, HIGH)
        return size

    def _add(self, code: str, value: int, low: int, high: int) -> Traced:
        size = self._known.get(code)
        if size is None:
            self._known[code] = size = self._new(code, value, low, high)
        return size

    def _new(self, code: str, value: int, low: int, high: int) -> Traced:
        size = Traced(self, f"s{self._count}", value, low, high)
        self._count += 1
        self.lines.append((size.name, code))
        return size

    def saved(self) -> Sequence[int]:
        """Return the state, for `restore`."""
        return [len(table) for table in self._tables]

    def restore(self, state: Sequence[int]) -> None:
        """Forget what was traced since `saved` returned `state`."""
        for size in self._fixed[state[-1] :]:
            size.fixed = False
        for table, count in zip(self._tables, state, strict=True):
            shorten(table, count)

    @property
    def _tables(self) -> Sequence[list[Any] | dict[Any, Any]]:
        return self.lines, self._guards, self._known, self._linear, self._fixed

    @property
    def fixed(self) -> int:
        """Number of sizes that have become constants, other than 0 and 1."""
        return sum(size.value > 1 for size in self._fixed)

    def _fix(self, size: Traced) -> None:
        if not size.fixed:
            size.fixed = True
            self._fixed.append(size)

    def binary(self, sign: str, left: Number, right: Number) -> Number:
        """Return `left sign right`."""
        a, b = plain(left), plain(right)
        compute, bounds = _OPERATIONS[sign]
        if isinstance(a, int) and isinstance(b, int):
            return compute(a, b)
        if sign in ("+", "*") and isinstance(a, int):
            a, b = b, a
        if isinstance(b, int):
            if b == 0 and sign in ("+", "-"):
                return a
            if b == 1 and sign in ("*", "//"):
                return a
            if b == 0 and sign == "*":
                return 0
        linear = _linear(sign, linear_of(a), linear_of(b))
        if linear is not None:
            if linear.base is None or not linear.factor:
                return linear.offset
            if linear.factor == 1 and not linear.offset:
                return linear.base
            if linear in self._linear:
                return self._linear[linear]
        low, high = bounds(bounds_of(a), bounds_of(b))
        if sign in ("max", "min"):
            if a is b:
                return a
            (al, ah), (bl, bh) = bounds_of(a), bounds_of(b)
            if (al >= bh) if sign == "max" else (ah <= bl):
                return a
            if (bl >= ah) if sign == "max" else (bh <= al):
                return b
            x, y = sorted((code_of(a), code_of(b)))
            code = f"{x} if {x} {'>' if sign == 'max' else '<'} {y} else {y}"
        else:
            x, y = code_of(a), code_of(b)
            if sign in ("+", "*") and isinstance(b, Traced):
                x, y = sorted((x, y))
            code = f"{x} {sign} {y}"
        result = self._add(code, compute(value_of(a), value_of(b)), low, high)
        if linear is not None and result.linear.base is result:
            result.linear = linear
            self._linear[linear] = result
        return result

    def compare(self, sign: str, left: Number, right: Number) -> bool:
        """Decide `left sign right` by its value, and require that other calls decide so, too."""
        a, b = plain(left), plain(right)
        outcome = _COMPARISONS[sign](value_of(a), value_of(b))
        if a is b or (isinstance(a, int) and isinstance(b, int)):
            return outcome
        difference = _linear("-", linear_of(a), linear_of(b))
        if difference is not None and difference.base is not None:
            (al, ah), (bl, bh) = difference.bounds, (0, 0)
        elif difference is not None:
            return outcome
        else:
            (al, ah), (bl, bh) = bounds_of(a), bounds_of(b)
        certain = {
            "==": ah < bl or bh < al,
            "!=": ah < bl or bh < al,
            "<": ah < bl or al >= bh,
            "<=": ah <= bl or al > bh,
            ">": al > bh or ah <= bl,
            ">=": al >= bh or ah < bl,
        }[sign]
        if certain:
            return outcome
        if not outcome:
            sign = _OPPOSITE[sign]
        self.guard(f"{code_of(a)} {sign} {code_of(b)}")
        if sign == "==":
            if isinstance(a, Traced) and isinstance(b, int):
                self._fix(a)
            elif isinstance(b, Traced) and isinstance(a, int):
                self._fix(b)
        return outcome


def shorten(table: list[Any] | dict[Any, Any], count: int) -> None:
    """Remove what was added to `table` after its first `count` items."""
    while len(table) > count:
        table.pop() if isinstance(table, list) else table.popitem()


class Linear(NamedTuple):
    """The size `base * factor + offset`; without a base, `offset`."""

    base: Traced | None
    factor: int
    offset: int

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value."""
        low, high = (0, 0) if self.base is None else (self.base.low, self.base.high)
        ends = low * self.factor + self.offset, high * self.factor + self.offset
        return min(ends), max(ends)


def linear_of(number: Number) -> Linear:
    """Return `number` as a linear function of a size."""
    return number.linear if isinstance(number, Traced) else Linear(None, 0, number)


def _linear(sign: str, a: Linear, b: Linear) -> Linear | None:
    """Return `a sign b` if it is a linear function of one size."""
    if sign in ("+", "-"):
        if a.base is not b.base and a.base is not None and b.base is not None:
            return None
        way = 1 if sign == "+" else -1
        factor = a.factor + way * b.factor
        base = (a.base if b.base is None else b.base) if factor else None
        return Linear(base, factor, a.offset + way * b.offset)
    if sign == "*" and (a.base is None or b.base is None):
        by, of = (a.offset, b) if a.base is None else (b.offset, a)
        return Linear(of.base if by else None, of.factor * by, of.offset * by)
    if sign == "//" and b.base is None and b.offset > 0:
        if a.factor % b.offset == 0 and a.offset % b.offset == 0:
            return Linear(a.base, a.factor // b.offset, a.offset // b.offset)
    return None


def _corners(compute: Callable[[int, int], int]) -> Callable[..., tuple[int, int]]:
    def bounds(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        ends = [compute(x, y) for x in a for y in b]
        return min(ends), max(ends)

    return bounds


def _quotient(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    if b[0] <= 0:
        return LOW, HIGH
    return _corners(operator.floordiv)(a, b)


def _remainder(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return (0, b[1] - 1) if b[0] > 0 else (LOW, HIGH)


def _masked(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    if b[0] == b[1] and a[0] >= 0:
        mask = b[0]
        return (a[0] & mask, a[1]) if mask < 0 else (0, min(a[1], mask))
    return LOW, HIGH


_OPERATIONS: dict[str, tuple[Callable[[int, int], int], Callable[..., tuple[int, int]]]] = {
    "+": (operator.add, _corners(operator.add)),
    "-": (operator.sub, _corners(operator.sub)),
    "*": (operator.mul, _corners(operator.mul)),
    "//": (operator.floordiv, _quotient),
    "%": (operator.mod, _remainder),
    "&": (operator.and_, _masked),
    "max": (max, _corners(max)),
    "min": (min, _corners(min)),
}
_COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_SIGNS = {
    SizeOp.ADD: "+",
    SizeOp.SUB: "-",
    SizeOp.MUL: "*",
    SizeOp.FLOORDIV: "//",
    SizeOp.MOD: "%",
    SizeOp.MAX: "max",
    SizeOp.MIN: "min",
}


def _method(sign: str, reflected: bool = False) -> Callable[[Traced, Any], Any]:
    def method(self: Traced, other: Any) -> Any:
        if not isinstance(other, int | Traced):
            return NotImplemented
        pair = (other, self) if reflected else (self, other)
        return self.trace.binary(sign, *pair)

    return method


def _comparison(sign: str) -> Callable[[Traced, Any], Any]:
    def method(self: Traced, other: Any) -> Any:
        if not isinstance(other, int | Traced):
            return sign == "!=" if sign in ("==", "!=") else NotImplemented
        return self.trace.compare(sign, self, other)

    return method


class Traced(Dim):
    """A size: its `value` in the call that is traced, and its bounds in all calls."""

    __slots__ = ("fixed", "high", "linear", "low", "name", "trace", "value")

    def __init__(self, trace: Trace, name: str, value: int, low: int, high: int) -> None:
        self.trace, self.name, self.value = trace, name, value
        self.low, self.high, self.fixed = low, high, False
        self.linear = Linear(self, 1, 0)

    __add__ = _method("+")  # pyright: ignore[reportAssignmentType]
    __radd__ = _method("+", True)  # pyright: ignore[reportAssignmentType]
    __sub__ = _method("-")  # pyright: ignore[reportAssignmentType]
    __rsub__ = _method("-", True)  # pyright: ignore[reportAssignmentType]
    __mul__ = _method("*")  # pyright: ignore[reportAssignmentType]
    __rmul__ = _method("*", True)  # pyright: ignore[reportAssignmentType]
    __floordiv__ = _method("//")  # pyright: ignore[reportAssignmentType]
    __rfloordiv__ = _method("//", True)  # pyright: ignore[reportAssignmentType]
    __mod__ = _method("%")  # pyright: ignore[reportAssignmentType]
    __rmod__ = _method("%", True)  # pyright: ignore[reportAssignmentType]
    __and__ = _method("&")
    __eq__ = _comparison("==")
    __ne__ = _comparison("!=")
    __lt__ = _comparison("<")
    __le__ = _comparison("<=")
    __gt__ = _comparison(">")
    __ge__ = _comparison(">=")
    __hash__ = object.__hash__

    def __neg__(self) -> Any:
        return 0 - self

    def __bool__(self) -> bool:
        return self.trace.compare("!=", self, 0)

    def __index__(self) -> int:
        self.trace.compare("==", self, self.value)
        return self.value

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def binary(self, op: SizeOp, left: Any, right: Any) -> Any:
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        if op is SizeOp.BROADCAST:
            return right if left == 1 else left
        return self.trace.binary(_SIGNS[op], left, right)

    def require(self, check: Check, left: Any, right: Any, message: str) -> None:
        if left is UNKNOWN or right is UNKNOWN:
            return  # checked where the size is known
        if not check.holds(left, right):
            raise NoTemplate(message)

    def measure(self, name: str, args: Sequence[Any]) -> Any:
        if any(arg is UNKNOWN for arg in args):
            return UNKNOWN
        return self.trace.call(MEASURES[name], args)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.value}>"


def plain(number: Any) -> Any:
    """Return `number`, as an integer if its value is fixed."""
    return number.value if isinstance(number, Traced) and number.fixed else number


def value_of(number: Any) -> Any:
    """Return the value of `number` in the call that is traced."""
    return number.value if isinstance(number, Traced) else number


def bounds_of(number: Number) -> tuple[int, int]:
    """Return the least and the greatest value of `number`."""
    return (number.low, number.high) if isinstance(number, Traced) else (number, number)


def code_of(number: Any) -> str:
    """Return the expression for `number`."""
    number = plain(number)
    return number.name if isinstance(number, Traced) else repr(number)
