"""
Resolve `meta[key][n]`: entries of the file's metadata section, then those of the caller.

    meta[relay.Constant][0]     a tensor                meta[VirtualDevice][1]     a device
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from . import saved_arrays
from .node_graph import GraphError, NodeGraph


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
