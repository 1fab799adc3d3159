"""
Read TVM's JSON: a list of nodes that refer to each other by number.

    {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": […], "data": [2]}, …],
     "b64ndarrays": ["P6G0…"], "attrs": {"tvm_version": "0.10.0"}}

Node 0 is null. The fields of an object are strings: a number, a text, a dtype, or the number of
another node. Which one depends on the C++ type of the field, so readers ask for the kind they need.
In the metadata section of a text, the root maps keys to entries, which `meta[key][n]` refers to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr

from ....dialects.device import VirtualDeviceAttr
from ....dialects.errors import TOO_DEEP
from ....dialects.relay.unification import MAX_PARTS
from ..tvm_devices import TargetParts, virtual_device
from . import saved_arrays

T = TypeVar("T")
_STRINGS = frozenset(("runtime.String", "String", "Op", "GlobalVar"))
_ARRAY_FIELDS = frozenset(
    (
        *("strides", "padding", "dilation", "kernel_size", "pool_size", "output_padding", "axes"),
        *("newshape", "begin", "end", "shape", "reps", "pad_width", "indices_or_sections"),
        *("channels", "units", "repeats", "batch_dims", "mode", "virtual_device"),
        *("src_virtual_device", "dst_virtual_device", "const_shape", "assert_shape"),
        *("is_input", "metadata", "exclusive", "index_rank", "lhs_end", "rhs_end"),
        *("data_layout", "kernel_layout", "out_layout", "layout", "dst_layout", "src_layout"),
        *("block_shape", "paddings", "crops", "output_size", "dilations", "grad_layout"),
        *("method", "slice_mode", "pad_mode", "memory_scope", "reduction", "pooled_size"),
    )
)
"""Fields that are always objects: arrays, `Integer`s and `String`s."""
_AXIS_OBJECTS = frozenset(
    f"relay.attrs.{name}Attrs"
    for name in (
        *("Reduce", "ArgReduce", "Squeeze", "Take", "Repeat", "Reverse", "Stack"),
        *("Gather", "L2Normalize", "Scanop", "ScatterElements"),
    )
)
"""Attributes whose `axis` is an object rather than a plain number."""


class GraphError(Exception):
    """
    The JSON is damaged, or a node is of an unknown kind.

    `at` is the number of a node, or 1, and `offset` the place in what is not JSON.
    """

    def __init__(self, message: str, at: int = 1, offset: int | None = None):
        super().__init__(message)
        self.at, self.offset = at, offset


class Shared(Generic[T]):
    """
    Results of `read`, which reads each node once, though nodes refer to each other.

    Counts the parts of each, as often as they occur: 40 pairs of the pair before are 2 ** 40.
    """

    def __init__(self, read: Callable[[int], T], most: int | None = None):
        self._read, self._most = read, most
        self._known: dict[int, T] = {}
        self._sizes: dict[int, int] = {}
        self._open: dict[int, int] = {}
        """The nodes being read, outermost first, with the number of parts so far."""

    def __call__(self, number: int) -> T:
        """Return what node `number` is; `GraphError` if it contains itself or is too large."""
        if number not in self._known:
            if number in self._open:
                raise GraphError(f"node {number} contains itself")
            if len(self._open) == self._most:
                raise GraphError(f"types are nested more than {self._most} levels deep")
            self._open[number] = 1
            try:
                self._known[number] = self._read(number)
            finally:
                size = self._sizes[number] = self._open.pop(number)
            if size > MAX_PARTS:
                raise GraphError(f"node {number} has more than {MAX_PARTS} parts")
        if self._open:
            self._open[next(reversed(self._open))] += self._sizes[number]
        return self._known[number]


@dataclass(frozen=True)
class Unread:
    """
    A node that has no value here, such as an expression; an error where a value is needed.

    `key` is its type key.
    """

    key: str

    @property
    def is_dim(self) -> bool:
        """True for a symbolic dim: a variable, or an expression of variables."""
        return self.key.startswith("tir.")


class Attrs(dict[str, Any]):
    """The attributes of an operator; `key` is the type key without `relay.attrs.`."""

    def __init__(self, key: str, values: Mapping[str, Any]):
        super().__init__(values)
        self.key = key


class NodeGraph:
    """The nodes of one JSON text; raises `GraphError` when it is damaged."""

    def __init__(self, text: str):
        try:
            data: Any = json.loads(text)
        except json.JSONDecodeError as error:
            raise GraphError(f"invalid JSON: {error.msg}", offset=error.pos) from None
        except (ValueError, RecursionError) as error:
            reason = TOO_DEEP if isinstance(error, RecursionError) else error
            raise GraphError(f"invalid JSON: {reason}") from None
        if not isinstance(data, dict):
            raise GraphError("expected a JSON object")
        document = cast("dict[str, Any]", data)
        self.nodes = self._list(document, "nodes")
        self.blobs = self._list(document, "b64ndarrays") if "b64ndarrays" in document else []
        self.root = self.number(document.get("root"), "root")
        self.value: Callable[[int], Any] = Shared(self._decode)
        """
        Returns a node as a Python value.

        None for null, numbers, strings, tuples, maps, `VirtualDeviceAttr`, dense constants,
        `Attrs`; `Unread` for other nodes.
        """

    @staticmethod
    def _list(document: dict[str, Any], key: str) -> list[Any]:
        value = document.get(key)
        if not isinstance(value, list):
            raise GraphError(f'the JSON object has no list "{key}"')
        return cast("list[Any]", value)

    # ------------------------------------------------------------------- parts

    def number(self, value: Any, what: str) -> int:
        """Return `value`, a number or its text, as a node number."""
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            raise GraphError(f"{what} must be the number of a node, but is {value!r}") from None
        if not 0 <= number < len(self.nodes):
            raise GraphError(
                f"{what} must be a node number in [0, {len(self.nodes)}), but is {number}"
            )
        return number

    def node(self, number: int) -> dict[str, Any]:
        """Return node `number`, an object with a `type_key`."""
        node = self.nodes[number]
        if not isinstance(node, dict) or not isinstance(
            cast("dict[str, Any]", node).get("type_key"), str
        ):
            raise GraphError(f"node {number} has no type_key")
        return cast("dict[str, Any]", node)

    def key(self, number: int) -> str:
        """Return the type key of node `number`; "" for null."""
        return cast(str, self.node(number)["type_key"])

    def field(self, number: int, name: str) -> str:
        """Return the text of a field of node `number`."""
        value = self._attributes(number).get(name)
        if not isinstance(value, str):
            raise GraphError(f"node {number} ({self.key(number)}) has no field {name}")
        return value

    def _attributes(self, number: int) -> dict[str, Any]:
        fields = self.node(number).get("attrs")
        return cast("dict[str, Any]", fields) if isinstance(fields, dict) else {}

    def child(self, number: int, name: str) -> int:
        """Return the node that a field of node `number` refers to."""
        return self.number(self.field(number, name), f"{name} of node {number}")

    def children(self, number: int, name: str) -> list[int]:
        """Return the nodes in the array that a field of node `number` refers to; none for null."""
        return self.elements(self.child(number, name))

    def elements(self, number: int) -> list[int]:
        """Return the nodes in the array `number`."""
        if self.key(number) == "":
            return []
        if self.key(number) not in ("Array", "Map"):
            raise GraphError(f"node {number} must be an Array, but is a {self.key(number)}")
        data: Any = self.node(number).get("data", [])
        if not isinstance(data, list):
            raise GraphError(f"node {number} has no list of data")
        return [self.number(n, f"an element of node {number}") for n in cast("list[Any]", data)]

    def text(self, number: int) -> str:
        """Return the text of node `number`, a String or an Op; "" when it is null."""
        return str(self.node(number).get("repr_str", ""))

    def name(self, number: int) -> str:
        """Return the text of node `number`, or the name of a variable; "" for other nodes."""
        return self.text(number) or self.text(self.child(number, "name_hint"))

    def map(self, number: int) -> dict[str, int]:
        """Return the map `number`, whose keys are strings."""
        if self.key(number) == "":
            return {}
        keys: Any = self.node(number).get("keys", [])
        values = self.elements(number)
        if not isinstance(keys, list) or len(cast("list[Any]", keys)) != len(values):
            raise GraphError(f"node {number} must be a Map with as many keys as data")
        return {str(k): v for k, v in zip(cast("list[Any]", keys), values, strict=True)}

    # ------------------------------------------------------------------ values

    def _decode(self, number: int) -> Any:
        key = self.key(number)
        match key:
            case "":
                return None
            case "IntImm":
                return self._int(number, "value")
            case "FloatImm":
                return self._parsed(number, "value", float, "a number")
            case "Array":
                return tuple(self.value(n) for n in self.elements(number))
            case "Map" if "keys" not in self.node(number):
                pairs = self.elements(number)
                names = [self.name(n) for n in pairs[::2]]
                return dict(zip(names, map(self.value, pairs[1::2]), strict=False))
            case "Map":
                return {key: self.value(n) for key, n in self.map(number).items()}
            case "DictAttrs":
                entries = self.map(self.child(number, "__dict__"))
                return Attrs("DictAttrs", {key: self.value(n) for key, n in entries.items()})
            case "tir.Any":
                return DYNAMIC_INDEX
            case "VirtualDevice":
                return self._device(number)
            case "Target":
                return self._target(number)
            case "relay.Constant":
                return self.array(number)
            case _:
                pass
        if key in _STRINGS:
            return self.text(number)
        if key.startswith("relay.attrs."):
            return self._attrs(number, key)
        return Unread(key)

    def _parsed(self, number: int, name: str, read: Callable[[str], T], what: str) -> T:
        """Return a field of node `number` that is `what`, which `read` reads."""
        try:
            return read(self.field(number, name))
        except ValueError:
            raise GraphError(f"{name} of node {number} must be {what}") from None

    def _int(self, number: int, name: str) -> int:
        return self._parsed(number, name, int, "an integer")

    def _device(self, number: int) -> VirtualDeviceAttr:
        target = self.value(self.child(number, "target"))
        scope = self.value(self.child(number, "memory_scope"))
        if not isinstance(target, str | None) or not isinstance(scope, str | None):
            raise GraphError(f"node {number} is not a VirtualDevice")
        return virtual_device(
            self._int(number, "device_type_int"),
            self._int(number, "virtual_device_id"),
            target,
            scope or "",
        )

    def _target(self, number: int) -> str:
        if "repr_str" in self.node(number):
            return self.text(number)
        kind = self.child(number, "kind")
        if "repr_str" not in self.node(kind):  # an object with fields of its own
            kind = self.child(kind, "name")
        options: dict[str, str | int] = {}
        for name, value in self.map(self.child(number, "attrs")).items():
            if isinstance(option := self.value(value), str | int):
                options[name] = option
        keys = self.value(self.child(number, "keys")) or ()
        host = (
            self.value(self.child(number, "host")) if "host" in self._attributes(number) else None
        )
        host = host if isinstance(host, str) else None
        return TargetParts(self.text(kind), [str(key) for key in keys], options, host).text

    def array(self, number: int) -> DenseIntOrFPElementsAttr[Any]:
        """Return the tensor of the `relay.Constant` node `number`."""
        try:
            index = int(self.field(number, "data"))
        except ValueError:
            index = -1
        if not 0 <= index < len(self.blobs):
            raise GraphError(
                f"data of node {number} must be an array number in [0, {len(self.blobs)})"
            )
        try:
            return saved_arrays.decode(str(self.blobs[index]))
        except saved_arrays.ArrayError as error:
            raise GraphError(f"b64ndarrays[{index}]: {error}") from None

    def _attrs(self, number: int, key: str) -> Attrs:
        fields: Any = self.node(number).get("attrs") or {}
        if not isinstance(fields, dict):
            raise GraphError(f"node {number} ({key}) has no fields")
        values: dict[str, Any] = {}
        for name, text in cast("dict[str, Any]", fields).items():
            is_object = name in _ARRAY_FIELDS or (name == "axis" and key in _AXIS_OBJECTS)
            values[name] = self._field_value(str(text), is_object)
        return Attrs(key.removeprefix("relay.attrs."), values)

    def _field_value(self, text: str, is_object: bool) -> Any:
        for read in (int, float):
            try:
                value = read(text)
            except ValueError:
                continue
            if not is_object:
                return value
            number = self.number(text, "a field")
            return self.value(number)
        return text


class Metadata:
    """The tables by key; entries are decoded on demand."""

    def __init__(
        self, graph: NodeGraph | None, given: Mapping[str, Sequence[Any]] | None = None
    ) -> None:
        self._graph = graph
        self._own: dict[str, list[int]] = {}
        self._given: Mapping[str, Sequence[Any]] = given or {}
        if graph is not None:
            if graph.key(graph.root) != "Map":
                raise GraphError("the root of the metadata must be a Map")
            own = graph.map(graph.root)
            self._own = {key: graph.elements(number) for key, number in own.items()}

    def resolve(self, reference: str) -> Any:
        """Return the entry `meta[key][n]`, the file's entries first; raises `GraphError`."""
        key, _, number = reference[5:-1].partition("][")
        own, given = self._own.get(key, []), self._given.get(key, ())
        size = len(own) + len(given)
        index = int(number) if len(number) <= 9 else size
        if index >= size:
            why = "the program has no metadata"
            if known := dict.fromkeys((*self._own, *self._given)):
                why = f"the metadata has only {', '.join(known)}"
            why = f"{key} has {size} entr{'y' if size == 1 else 'ies'}" if size else why
            raise GraphError(f"{reference} does not exist: {why}")
        if index >= len(own):
            entry = given[index - len(own)]
            return _constant(entry, reference) if key == "relay.Constant" else entry
        assert self._graph is not None, "the file has the entry"
        try:
            return self._graph.value(own[index])
        except GraphError as error:
            raise GraphError(f"{reference}: {error}") from None


def _constant(value: Any, reference: str) -> DenseIntOrFPElementsAttr[Any]:
    """Convert a constant given by the caller: a dense attribute or a NumPy array."""
    if isinstance(value, DenseIntOrFPElementsAttr):
        return value  # pyright: ignore[reportUnknownVariableType]
    try:
        return saved_arrays.constant(value.dtype.name, tuple(value.shape), value.tobytes())
    except AttributeError:
        raise GraphError(
            f"{reference}: a relay.Constant must be a NumPy array or a dense attribute, "
            f"but is {value!r}"
        ) from None
    except saved_arrays.ArrayError as error:
        raise GraphError(f"{reference}: {error}") from None
