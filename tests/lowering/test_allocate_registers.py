"""
Allocated registers against the original ones: both functions are followed along the same paths.

A value is the instruction that made it and when; each read must find the same one in both, or no
value in either. What the registers keep alive may only become less. The checker knows instructions
by their text and shares no code with the pass.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from helpers.programs.programs import parse, printed
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects import bytecode
from xrelay.lowering.allocate_registers import AllocateRegistersPass
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.passes.support.verifier import verify

PARAMETERS = 2
REGISTERS = 16
MOST_STEPS = 60

Value = tuple[str, int, int]
"""The text of an instruction without registers, its number in the run, and which result it is."""


@dataclass
class Error(Exception):
    """An instruction reads a register without a value."""


@dataclass
class Run:
    """A function followed along the path on which the n-th branch takes `choices[n]`."""

    code: Sequence[str]
    choices: Sequence[bool]
    registers: dict[str, Value] = field(default_factory=dict[str, Value])
    parts: dict[Value, tuple[Value, ...]] = field(default_factory=dict[Value, tuple[Value, ...]])
    steps: list[tuple[str, tuple[Value, ...]]] = field(
        default_factory=list[tuple[str, tuple[Value, ...]]]
    )
    """The instructions other than moves, kills and jumps, with the values that they read."""
    alive: list[set[Value]] = field(default_factory=list[set[Value]])
    """The values that registers keep alive before each of `steps`."""
    failed: bool = False

    def __post_init__(self) -> None:
        for number in range(PARAMETERS):
            self.registers[f"r{number}"] = ("parameter", number, 0)
        try:
            self._follow()
        except Error:
            self.failed = True

    def _read(self, register: str) -> Value:
        if register not in self.registers:
            raise Error
        return self.registers[register]

    def _reachable(self) -> set[Value]:
        found: set[Value] = set()
        rest = list(self.registers.values())
        while rest:
            value = rest.pop()
            if value not in found:
                found.add(value)
                rest += self.parts.get(value, ())
        return found

    def _follow(self) -> None:
        at, branches = 0, 0
        while len(self.steps) < MOST_STEPS and branches < len(self.choices):
            name, _, rest = self.code[at].partition(" ")
            registers = re.findall(r"r\d+", rest)
            jumps = [int(n) for n in re.findall(r"-?\d+", re.sub(r"r\d+", "", rest))]
            match name:
                case "move":
                    self.registers[registers[0]] = self._read(registers[1])
                case "kill_register":
                    self._read(registers[0])
                    del self.registers[registers[0]]
                case "goto":
                    branches += jumps[0] <= 0
                    at += jumps[0]
                    continue
                case _:
                    self._step(name, rest, registers)
                    if name == "if":
                        at += jumps[not self.choices[branches]]
                        branches += 1
                        continue
                    if name in ("ret", "fatal"):
                        return
            at += 1

    def _step(self, name: str, rest: str, registers: Sequence[str]) -> None:
        count = {"pack": 3, "if": 0, "ret": 0, "require": 0, "write_ref": 0}.get(name, 1)
        written, read = registers[:count], registers[count:]
        reads = tuple(map(self._read, read))
        self.alive.append(self._reachable())
        fields = re.sub(r"r\d+", "r", "" if name == "if" else rest)
        self.steps.append((f"{name} {fields}", reads))
        for number, register in enumerate(written):
            value = (name, len(self.steps), number)
            self.parts[value] = reads
            self.registers[register] = value


def lines(module: ModuleOp) -> list[str]:
    """The instructions of the only function of `module`."""
    return [m[1] for m in re.finditer(r"^ {4}bytecode\.(.*)", printed(module), re.MULTILINE)]


def module_of(code: Sequence[str], registers: int = REGISTERS) -> ModuleOp:
    body = "\n".join(f"    bytecode.{line}" for line in code)
    params = ", ".join(
        f'"x{i}" : !bytecode.object<#relay.device<cpu:0>>' for i in range(PARAMETERS)
    )
    module = parse(f"bytecode.func @f ({params}) registers {registers} {{\n{body}\n}}")
    verify(module)
    return module


def allocated(module: ModuleOp) -> list[str]:
    AllocateRegistersPass().apply(ReportingContext(), module)
    verify(module)
    return lines(module)


CHOICES = st.lists(st.booleans(), min_size=12, max_size=12)


@st.composite
def functions(draw: st.DrawFn, loops: bool) -> list[str]:
    """Instructions that read what an earlier one writes, which may not be on the path to them."""
    count = draw(st.integers(1, 24))
    written = list(range(PARAMETERS))

    def old() -> str:
        return f"r{draw(st.sampled_from(written[-5:]))}"

    def new() -> str:
        number = draw(st.integers(0, REGISTERS - 1))
        if number not in written:
            number = min(len(written), REGISTERS - 1)
        written.append(number)
        return f"r{number}"

    def target(at: int) -> int:
        return draw(st.integers(0 if loops else at + 1, count)) - at

    def line(at: int) -> str:
        kinds = "alloc alloc get move move kill kill consti if goto pack write"
        match draw(st.sampled_from(kinds.split())):
            case "alloc":
                fields = ", ".join(old() for _ in range(draw(st.integers(0, 2))))
                return f"alloc_adt {new()}, {at}({fields})"
            case "get":
                source = old()
                return f"get_field {new()}, {source}[{at}]"
            case "move":
                source = old()
                return f"move {new()}, {source}"
            case "kill":
                return f"kill_register {old()}"
            case "consti":
                return f"load_consti {new()}, {at}"
            case "if":
                return f"if {old()} {target(at)}, {target(at)}"
            case "goto":
                return f"goto {target(at)}"
            case "pack":
                a, b, c = draw(st.permutations(range(REGISTERS)))[:3]
                sizes = f"({old()}, {at})"
                written.extend((a, b, c))
                return f"pack r{a}, (r{b}, r{c}) align 64 lifetimes [0, 1, 0, 1] sizes {sizes}"
            case _:
                return f"write_ref {old()}, {old()}"

    return [*(line(at) for at in range(count)), f"ret {old()}"]


def check(code: Sequence[str], choices: Sequence[bool], registers: int = REGISTERS) -> None:
    """Allocate the registers of `code`; it must do the same, and again change nothing."""
    module = module_of(code, registers)
    before, after = Run(lines(module), choices), Run(allocated(module), choices)
    assert before.failed == after.failed
    if before.failed:  # a kill that fails may have moved up
        assert after.steps == before.steps[: len(after.steps)]
    else:
        assert after.steps == before.steps
    for now, then in zip(after.alive, before.alive, strict=False):
        assert now <= then
    again = allocated(module.clone())
    assert again == lines(module)


@pytest.mark.parametrize("loops", [False, True])
@exactly(65)
@given(data=st.data())
def test_any_code_does_the_same(loops: bool, data: st.DataObject):
    check(data.draw(functions(loops)), data.draw(CHOICES))


def test_the_registers_of_a_chain_are_few():
    code = ["alloc_storage r2, 4 align 64 on #relay.device<cpu:0>"]
    for number in range(3, 303):
        code += [
            f"alloc_tensor r{number}, r2[0] : tensor<1xf32>",
            f"invoke_packed @f(r{number - 1}) -> (r{number})",
        ]
    module = module_of([*code, "ret r302"], registers=303)
    allocated(module)
    assert registers_of(module) == 3


def test_a_register_that_is_read_before_it_is_written_stays_so():
    code = ["if r0 1, 2", "load_consti r2, 1", "load_consti r3, 2", "ret r2"]
    assert allocated(module_of(code)) == [*code[:2], "load_consti r0, 2", "ret r2"]


def test_a_register_that_is_read_after_a_kill_stays_so():
    """The move fails, although nothing reads r3; erased, it would not."""
    code = ["load_consti r2, 1", "kill_register r2", "move r3, r2", "ret r0"]
    assert allocated(module_of(code))[1:] == ["kill_register r1", "move r1, r1", "ret r0"]


def registers_of(module: ModuleOp) -> int:
    (function,) = (op for op in module.ops if isinstance(op, bytecode.FuncOp))
    return function.register_count.value.data
