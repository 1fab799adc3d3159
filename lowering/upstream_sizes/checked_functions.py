"""
Arithmetic on sizes that fails instead of wrapping, as functions of the module.

    %b = arith.muli %n, %c32 : i64      ->      %b = func.call @xrelay.muli(%n, %c32)

Sizes come from arguments, so a product that does not fit in 64 bits must stop the program: the
buffer would be smaller than what is written into it. A division by 0 stops it too. What stops it is
`@xrelay_require(%ok, %code, %a, %b)`: the message is entry `%code` of the module's attribute
`xrelay.messages`, in which `{0}` and `{1}` stand for `%a` and `%b`. It returns only if `%ok`.
"""

from collections.abc import Callable, Mapping

REQUIRE = "xrelay_require"
"""The function of the runtime that stops the program."""

ENTER = "xrelay_enter"
"""The function of the runtime that stops the program when the stack gets short."""

DECLARATIONS: Mapping[str, str] = {
    REQUIRE: f"func.func private @{REQUIRE}(i1, i64, i64, i64)",
}
"""The functions that the runtime defines."""

MAX_BYTES = 1 << 48
"""The maximum size of a storage; larger ones are a mistake, whatever the machine has."""

Code = Callable[[str], int]
"""Returns the number of a message."""


def _function(name: str, params: str, body: str, result: str = "i64") -> str:
    return f"""func.func private @{name}({params}) -> {result} {{
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
{body}
}}"""


def _require(ok: str, code: int, a: str = "%a", b: str = "%b") -> str:
    return f"""  %code = arith.constant {code} : i64
  func.call @{REQUIRE}({ok}, %code, {a}, {b}) : (i1, i64, i64, i64) -> ()"""


def _multiplication(name: str, code: Code) -> str:
    number = code("{0} * {1} does not fit in 64 bits")
    return _function(
        name,
        "%a: i64, %b: i64",
        f"""  %low, %high = arith.mulsi_extended %a, %b : i64
  %c63 = arith.constant 63 : i64
  %sign = arith.shrsi %low, %c63 : i64
  %ok = arith.cmpi eq, %high, %sign : i64
{_require("%ok", number)}
  func.return %low : i64""",
    )


def _sum(op: str, sign: str) -> Callable[[str, Code], str]:
    def text(name: str, code: Code) -> str:
        number = code(f"{{0}} {sign} {{1}} does not fit in 64 bits")
        # It overflows if the operands' signs differ (-) or agree (+), and the result's is not %a's.
        agree = "%x" if sign == "-" else "%flipped"
        flip = (
            ""
            if sign == "-"
            else "  %m1 = arith.constant -1 : i64\n  %flipped = arith.xori %x, %m1 : i64\n"
        )
        return _function(
            name,
            "%a: i64, %b: i64",
            f"""  %r = arith.{op} %a, %b : i64
  %x = arith.xori %a, %b : i64
{flip}  %y = arith.xori %a, %r : i64
  %both = arith.andi {agree}, %y : i64
  %ok = arith.cmpi sge, %both, %c0 : i64
{_require("%ok", number)}
  func.return %r : i64""",
        )

    return text


def _division(rounded: str) -> Callable[[str, Code], str]:
    """The text of a division; `rounded` computes %r from the quotient %q and the remainder %rem."""

    def text(name: str, code: Code) -> str:
        number = code("{0} / {1} is not defined")
        return _function(
            name,
            "%a: i64, %b: i64",
            f"""  %m1 = arith.constant -1 : i64
  %min = arith.constant {-(1 << 63)} : i64
  %some = arith.cmpi ne, %b, %c0 : i64
  %other = arith.cmpi ne, %b, %m1 : i64
  %above = arith.cmpi ne, %a, %min : i64
  %fits = arith.ori %other, %above : i1
  %ok = arith.andi %some, %fits : i1
{_require("%ok", number)}
  %q = arith.divsi %a, %b : i64
  %rem = arith.remsi %a, %b : i64
  %exact = arith.cmpi eq, %rem, %c0 : i64
  %x = arith.xori %a, %b : i64
  %negative = arith.cmpi slt, %x, %c0 : i64
{rounded}
  func.return %r : i64""",
        )

    return text


def _remainder(name: str, code: Code) -> str:
    """The text of a remainder; by -1 it is that by 1, whose quotient always fits."""
    number = code("{0} / {1} is not defined")
    return _function(
        name,
        "%a: i64, %b: i64",
        f"""  %m1 = arith.constant -1 : i64
  %ok = arith.cmpi ne, %b, %c0 : i64
{_require("%ok", number)}
  %same = arith.cmpi eq, %b, %m1 : i64
  %divisor = arith.select %same, %c1, %b : i64
  %r = arith.remsi %a, %divisor : i64
  func.return %r : i64""",
    )


def _size(name: str, code: Code) -> str:
    number = code("a storage must have from 0 to {1} bytes, but has {0}")
    return _function(
        name,
        "%a: i64",
        f"""  %b = arith.constant {MAX_BYTES} : i64
  %ok = arith.cmpi ule, %a, %b : i64
{_require("%ok", number)}
  %r = arith.index_cast %a : i64 to index
  func.return %r : index""",
        "index",
    )


def _dim(name: str, code: Code) -> str:
    number = code("a dim must be at least 0, but is {0}")
    return _function(
        name,
        "%a: i64",
        f"""  %ok = arith.cmpi sge, %a, %c0 : i64
{_require("%ok", number, b="%c0")}
  %r = arith.index_cast %a : i64 to index
  func.return %r : index""",
        "index",
    )


def _place(name: str, code: Code) -> str:
    """The text of the check that `%a` bytes at offset `%o` lie within `%room` bytes."""
    number = code("a tensor of {0} bytes does not fit in the {1} that follow in its storage")
    return _function(
        name,
        "%a: i64, %o: i64, %room: index",
        f"""  %size = arith.index_cast %room : index to i64
  %b = arith.subi %size, %o : i64
  %from = arith.cmpi ule, %o, %size : i64
  %to = arith.cmpi ule, %a, %b : i64
  %ok = arith.andi %from, %to : i1
{_require("%ok", number)}
  %r = arith.index_cast %o : i64 to index
  func.return %r : index""",
        "index",
    )


def _same(name: str, code: Code) -> str:
    number = code("a view keeps its elements, but has {1} of {0}")
    return f"""func.func private @{name}(%a: i64, %b: i64) {{
  %ok = arith.cmpi eq, %a, %b : i64
{_require("%ok", number)}
  func.return
}}"""


FUNCTIONS: Mapping[str, Callable[[str, Code], str]] = {
    "addi": _sum("addi", "+"),
    "subi": _sum("subi", "-"),
    "muli": _multiplication,
    "divsi": _division("  %r = arith.addi %q, %c0 : i64"),
    "remsi": _remainder,
    "floordivsi": _division(
        """  %less = arith.subi %q, %c1 : i64
  %down = arith.select %negative, %less, %q : i64
  %r = arith.select %exact, %q, %down : i64"""
    ),
    "ceildivsi": _division(
        """  %more = arith.addi %q, %c1 : i64
  %up = arith.select %negative, %q, %more : i64
  %r = arith.select %exact, %q, %up : i64"""
    ),
    "size": _size,
    "dim": _dim,
    "place": _place,
    "same": _same,
}
"""The text of each function, with the name it shall have."""
