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

    def size(self, key: str) -> int:
        """Return the number of entries under `key`."""
        return len(self._own.get(key, ())) + len(self._given.get(key, ()))

    def keys(self) -> list[str]:
        """Return the keys that have entries."""
        return list(dict.fromkeys((*self._own, *self._given)))

    def value(self, key: str, index: int) -> Any:
        """Return entry `index` under `key`, the file's entries first; raises `GraphError`."""
        own = self._own.get(key, [])
        if index < len(own):
            assert self._graph is not None
            return self._graph.value(own[index])
        given = self._given.get(key, ())[index - len(own)]
        return _constant(given) if key == "relay.Constant" else given


def _constant(value: Any) -> DenseIntOrFPElementsAttr[Any]:
    """Convert a constant given by the caller: a dense attribute or a NumPy array."""
    if isinstance(value, DenseIntOrFPElementsAttr):
        return value  # pyright: ignore[reportUnknownVariableType]
    try:
        return saved_arrays.constant(value.dtype.name, tuple(value.shape), value.tobytes())
    except AttributeError:
        raise GraphError(
            f"a relay.Constant must be a NumPy array or a dense attribute, but is {value!r}"
        ) from None
    except saved_arrays.ArrayError as error:
        raise GraphError(str(error)) from None
