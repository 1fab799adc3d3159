"""
What TVM recorded, and what we make of each record: `check(record)` returns an `Outcome`.

A census record is read; a record of values is compiled and called, and its result compared; a
device plan is made anew and compared; a network is called with its weights.
"""

import base64
import gzip
import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from ours import canonical, context, copies, in_dataflow_order, read, signatures, targets
from param_dict import read_param_dict
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.frontends.relay_text import RelayTextError
from xrelay.passes.flatten_tuples import FlattenTuplesPass
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

KINDS = ("census", "values", "plan_devices", "networks")

TOLERANCE = {"bfloat16": 1e-2, "float16": 4e-3, "float32": 1e-5, "float64": 1e-6}
"""
The largest difference that counts as equal, relative to the greatest magnitude of a result.

That of the coarsest float type that the program computes with applies to all results.

- bfloat16: TVM rounds each term of a sum (7e-3 occurs, a unit in the last place).
- float16: sums in another order differ by four units in the last place (3.9e-3 occurs).
- float32: TVM prints constants of the programs with six digits (5e-7), sums in another order, and
  computes `tanh`, `exp` and `erf` by polynomials (2.3e-6 occurs).
- float64: constants are printed with six digits, too, and `erf` is of float32 (2.5e-16 occurs).

Four units in the last place of 1 are added, as terms of about 1 may cancel. Integers and bools are
exact.
"""

INDEX = 0xFFFFFF
"""The bits of TVM's tags that number the constructors of a type; the others are its name's hash."""

DEVICES = {1: "cpu", 2: "cuda"}


@dataclass(frozen=True)
class Record:
    """A record: its kind, suite and number in the suite, and the data as JSON or a folder."""

    kind: str
    suite: str
    number: int
    data: Mapping[str, Any]
    target: str = "machine"
    """The runner of the program: `machine`, or `native` for machine code."""

    def __str__(self) -> str:
        return f"{self.kind}/{self.suite}#{self.number}"


@dataclass(frozen=True)
class Outcome:
    """The verdict on a record: `read` or `equal` on success, otherwise the kind of failure."""

    verdict: str
    reason: str = ""
    reached: str = ""
    """The last stage that a failed record reached: `read`, `ran` or nothing."""


def records(
    folder: Path, kind: str, suites: Sequence[str], target: str = "machine"
) -> Generator[Record]:
    """Yield the records of a kind, of all suites if none is named."""
    for path in sorted((folder / kind).glob("*")):
        suite = path.name.removesuffix(".jsonl.gz")
        if suites and suite not in suites:
            continue
        if path.is_dir():
            yield Record(kind, suite, 0, {"folder": str(path)}, target)
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                yield Record(kind, suite, number, json.loads(line), target)


def check(record: Record) -> Outcome:
    """Try a record; an error of ours that is not a diagnostic is the verdict `failed`."""
    try:
        return CHECKS[record.kind](record)
    except Refused as refusal:
        return Outcome("refused", str(refusal), refusal.reached)
    except Exception as error:
        return Outcome("failed", f"{type(error).__name__}: {normalized(str(error))}")


class Refused(Exception):
    """A diagnostic, and how far the program got before it."""

    def __init__(self, message: str, reached: str = "") -> None:
        super().__init__(normalized(message))
        self.reached = reached


def normalized(message: str) -> str:
    """
    Return a message without what differs between programs that are refused for one reason.

    Names of operators stay: `unknown operator or constructor nn.foo` is a reason of its own.
    """
    text = message.split("\n", 1)[0].split("; did you mean")[0]
    text = re.sub(r"'[^']*'", "'…'", text)
    text = re.sub(r"[%@][\w.]+", lambda m: m[0][0] + "…", text)
    text = re.sub(r"(?<![\w.])-?\d+(\.\d+)?(?![\w.])", "N", text)
    text = re.sub(r"\([N?, ]*\)", "(…)", re.sub(r"\[[N?, ]*\]", "[…]", text))
    return text[:160]


def _read(text: str) -> ModuleOp:
    try:
        module = read(text)
        verify(module)
    except (RelayTextError, PassError) as error:
        raise Refused(error.message) from None
    return module


def _census(record: Record) -> Outcome:
    _read(record.data["text"])
    return Outcome("read")


def _values(record: Record) -> Outcome:
    data = record.data
    call = _Call(data["text"], data["entry"], record.target)
    return _compared(call, [*map(_decoded, data["inputs"])], _decoded(data["output"]))


def _networks(record: Record) -> Outcome:
    folder = Path(record.data["folder"])
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    with np.load(folder / "io.npz") as arrays:
        known = {n.removeprefix("input."): arrays[n] for n in arrays if n.startswith("input.")}
        outputs = tuple(arrays[f"output.{i}"] for i in range(meta["outputs"]))
    if meta["weights"] == "model.params":
        known = read_param_dict(folder / "model.params") | known
    args: list[Any] = []
    for i, parameter in enumerate(meta["parameters"]):
        name = parameter["name"]
        if name not in known:
            known[name] = _weight(i, parameter["shape"], parameter["dtype"])
        args.append(known[name])
    expected = outputs[0] if len(outputs) == 1 else outputs
    text = (folder / "model.relay").read_text(encoding="utf-8")
    return _compared(_Call(text, "main", record.target), args, expected)


def _weight(number: int, shape: Sequence[int], dtype: str) -> Array:
    """Return the weight that is parameter `number`: float16 values of a fixed seed."""
    rng = np.random.RandomState(1000 + number)
    if len(shape) > 1:
        weight = rng.uniform(-1, 1, shape) / sqrt(max(1, prod(shape[1:]))) * 1.5
    else:
        weight = rng.uniform(0.5, 1.5, shape)
    return weight.astype("float16").astype(dtype)


@dataclass(frozen=True)
class _Call:
    """A function of a program, and what runs it."""

    text: str
    entry: str
    target: str


def _compared(call: _Call, args: Sequence[Any], expected: Any) -> Outcome:
    module = _read(call.text)
    try:
        executable = xrelay.compile(module, target=call.target)
    except xrelay.Error as error:
        raise Refused(f"compiling: {error.message}", "read") from None
    try:
        result = executable[call.entry](*args)
    except xrelay.Error as error:
        raise Refused(f"running: {error.message}", "read") from None
    bound = max((bound for name, bound in TOLERANCE.items() if name in call.text), default=0)
    fault = difference(result, expected, bound)
    return Outcome("unequal", fault, "ran") if fault else Outcome("equal")


def _decoded(value: Mapping[str, Any]) -> Any:
    """Return a recorded value as an argument: an array, a tuple or data."""
    if "tuple" in value:
        return tuple(map(_decoded, value["tuple"]))
    if "tag" in value:
        return xrelay.Tagged(value["tag"] & INDEX, map(_decoded, value["fields"]))
    data = np.frombuffer(base64.b64decode(value["data"]), value["dtype"])
    return data.reshape(value["shape"])


def difference(ours: Any, theirs: Any, tolerance: float) -> str:
    """Return how a result differs from the recorded value, or nothing."""
    if isinstance(theirs, tuple):
        if not isinstance(ours, tuple):
            return "a tensor, not data"
        mine, other = cast("tuple[Any, ...]", ours), cast("tuple[Any, ...]", theirs)
        if getattr(mine, "tag", 0) != getattr(other, "tag", 0) or len(mine) != len(other):
            return "another constructor or number of fields"
        faults = (difference(a, b, tolerance) for a, b in zip(mine, other, strict=True))
        return next(filter(None, faults), "")
    ours = np.asarray(ours)
    if ours.dtype.name == "bfloat16":  # TVM's are recorded as their bits
        ours = ours.astype("float32")
        theirs = (theirs.astype("uint32") << 16).view("float32")
    if ours.dtype != theirs.dtype:
        return f"{ours.dtype}, not {theirs.dtype}"
    if ours.shape != theirs.shape:
        return "another shape"
    if ours.dtype.kind != "f":
        return "" if np.array_equal(ours, theirs) else f"another {ours.dtype}"
    finite = np.isfinite(theirs)
    if not np.array_equal(ours[~finite], theirs[~finite], equal_nan=True):
        return f"another {ours.dtype} that is not finite"
    mine, other = ours[finite].astype("float64"), theirs[finite].astype("float64")
    scale = np.max(np.abs(other), initial=0)
    worst = np.max(np.abs(mine - other), initial=0)
    bound = tolerance * scale + 4 * float(np.finfo(ours.dtype).eps)
    return f"another {ours.dtype}" if worst > bound else ""


def _plan_devices(record: Record) -> Outcome:
    data = record.data
    default, host = (f"{DEVICES[data[key]['device_type']]}:0" for key in ("default", "host"))

    def plan(text: str, what: str, repair: bool) -> ModuleOp:
        """Plan a program; TVM copies where hints contradict each other, as `repair` does."""
        try:
            module = read(text)
        except RelayTextError as error:
            raise Refused(error.message) from None
        try:
            planner = PlanDevicesPass(
                default=default, host=host, targets=targets(module), repair=repair
            )
            planner.apply(context(), module)
            FlattenTuplesPass().apply(context(), module)  # TVM hints at fields, and keeps tuples
        except PassError as error:
            raise Refused(f"planning {what}: {error.message}", "read") from None
        return module

    ours = plan(data["input"], "the program", repair=True)
    again = plan(data["planned"], "TVM's plan", repair=False)
    if signatures(ours) != signatures(again):
        return Outcome("unequal", "devices of parameters or results", "ran")
    if copies(ours) != copies(again):
        return Outcome("unequal", "copies", "ran")
    if canonical(in_dataflow_order(ours)) != canonical(in_dataflow_order(again)):
        return Outcome("unequal", "devices of other values", "ran")
    return Outcome("equal")


CHECKS: Mapping[str, Callable[[Record], Outcome]] = {
    "census": _census,
    "values": _values,
    "plan_devices": _plan_devices,
    "networks": _networks,
}
