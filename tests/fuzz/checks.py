"""
The check of each kind of input; a failed check is a finding.

An input is accepted or rejected (exit status 1 or 2, with a message). A finding is an uncaught
exception, an internal error, a rejection without a message, or two implementations with different
answers. The worker checks time, memory and signals.
"""

import io
import json
import re
import sys
import traceback
from base64 import b64decode
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xrelay.runtime.errors import MachineError
from xrelay.runtime.executable import read_executable
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory
from xrelay.runtime.program.listing import listing
from xrelay.runtime.program.program import Array, Program, TensorSpec
from xrelay.tools import objdump, plan
from xrelay.tools.opt import opt
from xrelay.tools.run import run

from .structures import edited


@dataclass(frozen=True)
class Ran:
    """The exit status and the output of a command."""

    status: int
    out: str
    err: str


class FindingError(Exception):
    """A finding; inputs that expose the same fault have the same `cause`."""

    def __init__(self, cause: str, detail: str = ""):
        super().__init__(cause)
        self.cause = cause
        self.detail = detail


_INTERNAL = re.compile(r"internal error[^:]*: (\w+)?.*?(\(\w+\.py:\d+\))?$", re.MULTILINE)
_VARIES = re.compile(r"'[^']*'|\"[^\"]*\"|[%@$!#][\w.]+|-?\d+|\W+")


def call(main: Callable[[list[str]], int], argv: list[str]) -> Ran:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = main(argv)
        except SystemExit as done:  # argparse
            status = done.code if isinstance(done.code, int) else 1
        except BaseException as error:
            raise escaped(error) from error
    ran = Ran(status, out.getvalue(), err.getvalue())
    if found := _INTERNAL.search(ran.err):
        raise FindingError(f"internal error: {found[1]} {found[2] or ''}".strip(), ran.err)
    if "Traceback" in ran.err:
        raise FindingError("traceback", ran.err)
    if status not in (0, 1, 2):
        raise FindingError(f"exit status {status}", ran.err)
    said = ran.err if ran.err.strip() else ran.out
    if status and (not said.strip() or re.search(r"error:\s*$", said, re.MULTILINE)):
        raise FindingError(f"exit status {status} without a message", ran.err)
    return ran


def escaped(error: BaseException) -> FindingError:
    """Convert an uncaught `error` into a finding."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    text = "".join(traceback.format_exception(error, limit=-6))
    return FindingError(f"exception: {type(error).__name__} ({where})", text)


def in_short(message: str) -> str:
    """Remove the names and numbers that vary by input from a message."""
    first = next((line for line in message.splitlines() if "error:" in line), message)
    return _VARIES.sub(" ", first.partition("error:")[2])[:60].strip()


MEMORY_LIMIT = 1 << 28
MAX_INSTRUCTIONS = 100_000
LIMITS = ("--memory-limit", str(MEMORY_LIMIT), "--max-instructions", str(MAX_INSTRUCTIONS))


def compile_and_run(path: Path, function: str, *options: str) -> None:
    """Run the machine and the reference evaluator; different answers are a finding."""
    common = [
        str(path),
        "--random-seed",
        "0",
        "--random-weights",
        "--function",
        function,
        *LIMITS,
        *options,
    ]
    files = [path.with_name("machine.npz"), path.with_name("evaluated.npz")]
    for file in files:
        file.unlink(missing_ok=True)
    machine = call(run.main, [*common, "--outputs", str(files[0])])
    evaluated = call(run.main, [*common, "--evaluate", "--outputs", str(files[1])])
    if machine.status or evaluated.status:
        return
    with np.load(files[0]) as a, np.load(files[1]) as b, np.errstate(all="ignore"):
        for one, other in zip(a.values(), b.values(), strict=True):
            close = one.shape == other.shape and one.dtype == other.dtype
            if not close or not np.allclose(one, other, 1e-2, 1e-3, equal_nan=True):
                raise FindingError(
                    "machine and --evaluate differ", f"{machine.out}\n{evaluated.out}"
                )


def _first_function(text: str) -> str:
    found = re.search(r"(?:func\.func|bytecode\.func)[^@\n]*@([\w.]+)", text)
    return found[1] if found else "main"


def check_ir(path: Path) -> bool:
    """Check that printed IR is read back unchanged, and that machine and evaluator agree."""
    first = call(opt.main, [str(path)])
    if first.status:
        return False
    again = path.with_name("again.mlir")
    again.write_text(first.out)
    second = call(opt.main, [str(again)])
    if second.status:
        cause = f"printed text is refused: {in_short(second.err)}"
        raise FindingError(cause, f"{second.err}\n{first.out}")
    if second.out != first.out:
        raise FindingError("printed text differs when read again", f"{first.out}\n{second.out}")
    compile_and_run(path, _first_function(first.out))
    return True


def check_relay_text(path: Path) -> bool:
    """Check that printed Relay text is read back."""
    ran = call(opt.main, [str(path)])
    if ran.status:
        return False
    printed = call(opt.main, [str(path), "-t", "relay-text"])
    if not printed.status:
        again = path.with_name("again.relay")
        again.write_text(printed.out)
        second = call(opt.main, [str(again)])
        if second.status:
            cause = f"printed Relay text is refused: {in_short(second.err)}"
            raise FindingError(cause, f"{second.err}\n{printed.out}")
    compile_and_run(path, _first_function(ran.out))
    return True


def check_import(path: Path) -> bool:
    """Check that a model or a saved module, printed as IR, is read back."""
    printed = path.with_name("imported.mlir")
    ran = call(opt.main, [str(path), "--allow-unregistered-dialect", "-o", str(printed)])
    if ran.status:
        return False
    again = call(opt.main, [str(printed), "--allow-unregistered-dialect"])
    if again.status:
        cause = f"printed text is refused: {in_short(again.err)}"
        raise FindingError(cause, f"{again.err}\n{printed.read_text()}")
    compile_and_run(path, _first_function(again.out))
    return True


def check_csv(path: Path) -> bool:
    """Check that a plan passes its own check."""
    planned = path.with_name("plan.csv")
    outputs = ["-o", str(planned), "--svg", str(path.with_name("plan.svg"))]
    if call(plan.main, [str(path), "--nodes", "100", *outputs]).status:
        return False
    judged = call(plan.main, ["--check", str(path), str(planned)])
    if judged.status:
        said = judged.out + judged.err
        raise FindingError(f"planner and checker differ: {in_short('error:' + said)}", said)
    return True


NETWORK = """\
func.func @main(%x: tensor<2x3xf32>, %b: tensor<2xi1>) -> (tensor<2x4xf32>, tensor<2xi1>) {
  %w = relay.param "w" : tensor<4x3xf32>
  %y = relay.nn.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %c = relay.logical_not %b : (tensor<2xi1>) -> tensor<2xi1>
  func.return %y, %c : tensor<2x4xf32>, tensor<2xi1>
}
"""


def _check_arrays(path: Path, option: str) -> bool:
    program = path.with_name("network.mlir")
    program.write_text(NETWORK)
    options = [
        str(program),
        "--random-seed",
        "0",
        "--random-weights",
        "--evaluate",
        option,
        str(path),
    ]
    return call(run.main, options).status == 0


def check_npz(path: Path) -> bool:
    """Run a program with inputs from the file."""
    return _check_arrays(path, "--inputs")


def check_safetensors(path: Path) -> bool:
    """Run a program with parameters from the file."""
    return _check_arrays(path, "--params")


def check_pipeline(path: Path) -> bool:
    """Run the text as the pipeline of a small program."""
    program = path.with_name("network.mlir")
    program.write_text(NETWORK)
    text = path.read_bytes().decode(errors="replace").replace("\0", "")
    return call(opt.main, [str(program), f"-p{text}"]).status == 0


def program_of(text: str) -> Program:
    """Apply the edits `[path, value]` of the other lines to the executable in the first."""
    file, *lines = text.splitlines()
    program: Any = read_executable(b64decode(file)).program
    for line in lines:
        way, new = json.loads(line)
        program = edited(program, way, new)
    return program


def _zeros(spec: TensorSpec) -> Array:
    return np.zeros([1 if dim is None else dim for dim in spec.shape], spec.dtype)


def check_program(path: Path) -> bool:
    """Check that a program object runs or raises a `MachineError`."""
    return _runs(program_of(path.read_text()))


def check_executable(path: Path) -> bool:
    """Check that an executable is refused, or shown, and runs or raises a `MachineError`."""
    try:
        try:
            file = read_executable(path.read_bytes(), verify=True)
        except MachineError as error:
            if not error.message:
                raise FindingError("a MachineError without a message") from error
            return False
        for section in objdump.SECTIONS.values():
            facts = section.facts(file)
            json.dumps(facts)
            for _ in section.lines(file if section.of_file else facts):
                pass
    except FindingError:
        raise
    except BaseException as error:
        raise escaped(error) from error
    return _runs(file.program)


def _runs(program: Program) -> bool:
    try:
        zeros = {late.name: _zeros(late.spec) for late in program.late_constants}
        arguments = [_zeros(p.spec) for p in program.functions[0].params if p.spec is not None]
    except (TypeError, ValueError, MemoryError):
        return False  # no arguments of this type can be built
    try:
        machine = Machine(
            program, zeros, memory=Memory(MEMORY_LIMIT), max_instructions=MAX_INSTRUCTIONS
        )
        listing(program)
        machine.run(program.functions[0].name, *arguments)
    except MachineError as error:
        if not str(error):
            raise FindingError("a MachineError without a message") from error
        return False
    except BaseException as error:
        raise escaped(error) from error
    return True


def leave_streams_alone() -> None:
    """Redirect the streams of this process, so that no check reads or prints."""
    sys.stdin = io.StringIO()
