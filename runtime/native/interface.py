"""
The interface of a compiled library: what its metadata says, as plain data.

    library = Library.from_json(text)
    library.to_json()

`aot-lower-main` writes it, the C wrappers are generated from it, and the loader reads it.
`docs/aot.md` describes the JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast

from ...operators.named_dims import Bounds
from ..program.program import Function, Kernel, Param, Program, TensorSpec
from ..program.records import record
from .json_kernels import kernel_from, kernel_to, spec_from, spec_to
from .structures import Nested, Structure, params_of, structure_of

FLAT = "_flat"
"""The end of the name of a compiled function, after the symbol of its entry."""

ALIGNMENT = 64
"""The alignment (bytes) of workspaces, at least, and of constants."""

FORMAT = 1
"""The version of the metadata."""

Form: TypeAlias = Literal["packed", "cpacked", "unpacked"]
"""A way to call a function from C."""

FORMS: tuple[Form, ...] = ("packed", "cpacked", "unpacked")


class InterfaceError(Exception):
    """Metadata that cannot be used."""


@record
class Pool:
    """
    A workspace, one a device: memory that the caller lends for a call.

    `symbol` is its name in C. `size` (bytes) is None if it depends on the dims of the inputs.
    """

    symbol: str
    device: int
    size: int | None
    alignment: int


@record
class Constant:
    """A tensor in the pool of constants: `size` bytes from byte `offset`."""

    name: str
    spec: TensorSpec
    offset: int
    size: int
    digest: str = ""
    """The SHA-256 of its bytes, in hexadecimal; "" if it was not known."""


@record
class KernelCall:
    """
    A place in `function` that calls `kernel`.

    `used` are the bytes of computed tensors that are needed there; None if they depend on dims.
    """

    function: str
    kernel: str
    used: int | None


@record
class Entry:
    """
    A function that can be called.

    `symbol` is the prefix of its names in C, and `names` those of its inputs and outputs there.
    By output, `typed` is whether the compiled function has it as a tensor rather than as bytes, and
    `allocated` whether the call allocates it, as its size is known only afterwards.
    `contexts` are the devices that get a context. `workspace` and `io` are the bytes of the
    workspaces, and of inputs and outputs; None if they depend on dims. `calls` are the calls of
    kernels, here and in functions that this one calls. `may_fail` says whether a call may fail
    after it began to write outputs. `structure` is set if callers pass or receive tuples.
    """

    function: Function
    symbol: str
    names: tuple[str, ...]
    typed: tuple[bool, ...]
    allocated: tuple[bool, ...]
    pools: tuple[Pool, ...] = ()
    has_constants: bool = False
    contexts: tuple[int, ...] = ()
    forms: tuple[Form, ...] = FORMS
    io: int | None = None
    calls: tuple[KernelCall, ...] = ()
    may_fail: bool = True
    structure: Structure | None = None

    @property
    def results(self) -> tuple[Param, ...]:
        return self.function.results or ()

    @property
    def nested(self) -> Structure:
        """The parameters and results as callers pass them, with tuples."""
        return self.structure or structure_of(self.function)

    @property
    def called(self) -> Function:
        """The function as its callers see it: a tuple is one parameter, or result, without type."""
        structure, function = self.nested, self.function
        return replace(
            function,
            params=params_of(structure.inputs, function.params, "arg"),
            results=params_of(structure.outputs, self.results, "output_"),
        )

    @property
    def tensors(self) -> tuple[Param, ...]:
        """The inputs, then the outputs."""
        return (*self.function.params, *self.results)

    def allocates(self, tensor: int) -> bool:
        """Test whether the call allocates a tensor, by its number among `tensors`."""
        output = tensor - len(self.function.params)
        return output >= 0 and self.allocated[output]

    @property
    def is_dynamic(self) -> bool:
        """True if an input has a dim whose size is known when the function is called."""
        return any(not spec_of(param).is_static for param in self.function.params)

    @property
    def workspace(self) -> int | None:
        """The bytes of all workspaces; None if they depend on dims."""
        sizes = [pool.size for pool in self.pools if pool.size is not None]
        return sum(sizes) if len(sizes) == len(self.pools) else None


def spec_of(param: Param) -> TensorSpec:
    assert param.spec is not None, "a native function takes and returns tensors"
    return param.spec


@record
class Library:
    """
    A compiled library: its entries and what they share.

    `name` is the prefix of all its symbols. `messages` are those of failures, by their number.
    `kernels` are those that the runtime must supply, in the order of their numbers.
    """

    name: str
    entries: tuple[Entry, ...]
    devices: tuple[str, ...] = ("cpu:0",)
    constants: tuple[Constant, ...] = ()
    constants_size: int = 0
    messages: tuple[str, ...] = ()
    kernels: tuple[Kernel, ...] = ()

    @property
    def program(self) -> Program:
        """The functions and kernels, for those who read a program; the functions have no code."""
        functions = tuple(entry.called for entry in self.entries)
        return Program(functions, (), self.kernels, self.devices)

    def to_json(self) -> str:
        """Return the metadata as JSON."""
        return json.dumps(
            {
                "format": FORMAT,
                "name": self.name,
                "devices": self.devices,
                "entries": [_entry_to(entry, self.devices) for entry in self.entries],
                "constants": {
                    "size": self.constants_size,
                    "alignment": ALIGNMENT,
                    "tensors": [_constant_to(constant) for constant in self.constants],
                },
                "messages": self.messages,
                "kernels": [kernel_to(kernel) for kernel in self.kernels],
            },
            indent=1,
            ensure_ascii=True,
        )

    @classmethod
    def from_json(cls, text: str) -> Library:
        """Return the library that `to_json` wrote; raise `InterfaceError` if it is not one."""
        try:
            found: Any = json.loads(text)
            if found["format"] != FORMAT:
                raise InterfaceError(
                    f"the metadata have format {found['format']}, but this version reads {FORMAT}"
                )
            devices = tuple(map(str, found["devices"]))
            constants = found["constants"]
            return cls(
                str(found["name"]),
                tuple(_entry_from(entry, devices) for entry in found["entries"]),
                devices,
                tuple(map(_constant_from, constants["tensors"])),
                int(constants["size"]),
                tuple(map(str, found["messages"])),
                tuple(map(kernel_from, found["kernels"])),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InterfaceError(f"the metadata are damaged: {error!r}") from error


def _entry_to(entry: Entry, devices: Sequence[str]) -> Mapping[str, object]:
    function = entry.function
    count = len(function.params)
    return {
        "function": function.name,
        "symbol": entry.symbol,
        "forms": entry.forms,
        "inputs": [
            _param_to(param, name, devices)
            for param, name in zip(function.params, entry.names[:count], strict=True)
        ],
        "outputs": [
            {**_param_to(param, name, devices), "typed": typed, "allocated": allocated}
            for param, name, typed, allocated in zip(
                entry.results, entry.names[count:], entry.typed, entry.allocated, strict=True
            )
        ],
        "dim_bounds": {name: list(bounds) for name, bounds in function.dim_bounds.items()},
        "pools": [
            {
                "symbol": pool.symbol,
                "device": devices[pool.device],
                "size": pool.size,
                "alignment": pool.alignment,
            }
            for pool in entry.pools
        ],
        "constants": entry.has_constants,
        "device_contexts": [devices[device] for device in entry.contexts],
        "may_fail": entry.may_fail,
        "structure": None if entry.structure is None else _structure_to(entry.structure),
        "memory": {
            "io": entry.io,
            "workspace": entry.workspace,
            "calls": [
                {"function": call.function, "kernel": call.kernel, "used": call.used}
                for call in entry.calls
            ],
        },
    }


def _param_to(param: Param, symbol: str, devices: Sequence[str]) -> Mapping[str, object]:
    spec = spec_of(param)
    names = param.dims or ("",) * len(spec.shape)
    return {
        "name": param.name,
        "symbol": symbol,
        **spec_to(spec),
        "dims": names,
        "device": devices[param.device],
    }


def _structure_to(structure: Structure) -> Mapping[str, object]:
    return {"inputs": _nested_to(structure.inputs), "outputs": _nested_to(structure.outputs)}


def _nested_to(several: Sequence[Nested]) -> Sequence[object]:
    return [{"name": each.name, "fields": each.nesting} for each in several]


def _structure_from(found: Mapping[str, Any] | None, function: Function) -> Structure | None:
    if found is None:
        return None
    structure = Structure(_nested_from(found["inputs"]), _nested_from(found["outputs"]))
    structure.require_fit(function)
    return structure


def _nested_from(several: Sequence[Mapping[str, Any]]) -> tuple[Nested, ...]:
    return tuple(
        Nested(str(each["name"]), tuple(None if n is None else int(n) for n in each["fields"]))
        for each in several
    )


def _constant_to(constant: Constant) -> Mapping[str, object]:
    return {
        "name": constant.name,
        **spec_to(constant.spec),
        "offset": constant.offset,
        "size": constant.size,
        "sha256": constant.digest,
    }


def _constant_from(found: Mapping[str, Any]) -> Constant:
    return Constant(
        str(found["name"]),
        spec_from(found),
        int(found["offset"]),
        int(found["size"]),
        str(found["sha256"]),
    )


def _param_from(found: Mapping[str, Any], devices: Sequence[str]) -> Param:
    dims = tuple(map(str, found["dims"]))
    device = devices.index(found["device"])
    return Param(str(found["name"]), spec_from(found), device, dims if any(dims) else ())


def _entry_from(found: Mapping[str, Any], devices: Sequence[str]) -> Entry:
    inputs: Sequence[Mapping[str, Any]] = found["inputs"]
    outputs: Sequence[Mapping[str, Any]] = found["outputs"]
    bounds: Mapping[str, Any] = found["dim_bounds"]
    function = Function(
        str(found["function"]),
        tuple(_param_from(param, devices) for param in inputs),
        0,
        (),
        dim_bounds={name: Bounds(int(low), high) for name, (low, high) in bounds.items()},
        results=tuple(_param_from(param, devices) for param in outputs),
    )
    return Entry(
        function,
        str(found["symbol"]),
        tuple(str(param["symbol"]) for param in (*inputs, *outputs)),
        tuple(bool(param["typed"]) for param in outputs),
        tuple(bool(param["allocated"]) for param in outputs),
        tuple(
            Pool(
                str(pool["symbol"]),
                devices.index(pool["device"]),
                None if pool["size"] is None else int(pool["size"]),
                int(pool["alignment"]),
            )
            for pool in found["pools"]
        ),
        bool(found["constants"]),
        tuple(devices.index(device) for device in found["device_contexts"]),
        cast("tuple[Form, ...]", tuple(found["forms"])),
        found["memory"]["io"],
        tuple(
            KernelCall(str(call["function"]), str(call["kernel"]), call["used"])
            for call in found["memory"]["calls"]
        ),
        bool(found["may_fail"]),
        _structure_from(found["structure"], function),
    )
