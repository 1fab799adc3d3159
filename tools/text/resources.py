"""
Resources (`dense_resource<key>` and its `{-# … #-}`) that belong to one context.

xDSL keeps them on module-level `Dialect` objects, which all runs in the process share, and renames
a key that it has seen before: the second run prints references without data. Here each context has
its own copy of such a dialect, and keys do not change.
"""

from collections.abc import Callable, Iterable

from typing_extensions import override
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.ir import Dialect

from ...dialects.foreign import mended
from ...dialects.xdsl_extras.xdsl_internals import interfaces_of


class OwnResources(OpAsmDialectInterface):
    """Named blobs, as hex text (`"0x…"`)."""

    def __init__(self) -> None:
        super().__init__()
        self.blobs: dict[str, str] = {}

    @override
    def declare_resource(self, key: str) -> str:
        """Let all references to `key` share one blob."""
        self.blobs.setdefault(key, "")
        return key

    @override
    def parse_resource(self, key: str, val: str) -> None:
        """Set the blob; ValueError (a diagnostic of the parser) when it is not hex."""
        if not val.startswith("0x"):
            raise ValueError(f"resource '{key}' must be a hex string, but is {val!r}")
        self.blobs[key] = val

    @override
    def lookup(self, key: str) -> str | None:
        return self.blobs.get(key)

    @override
    def build_resources(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the blobs of `keys` that have data, in alphabetical order."""
        return {key: self.blobs[key] for key in sorted(keys) if self.blobs.get(key)}


def with_own_resources(factory: Callable[[], Dialect]) -> Callable[[], Dialect]:
    """Wrap `factory` so that dialects have resources of their own, and what `mlir-opt` prints."""

    def make() -> Dialect:
        dialect = mended(factory())
        if not dialect.has_interface(OpAsmDialectInterface):
            return dialect
        others = [
            interface
            for interface in interfaces_of(dialect)
            if not isinstance(interface, OpAsmDialectInterface)
        ]
        return Dialect(
            dialect.name,
            list(dialect.operations),
            list(dialect.attributes),
            [*others, OwnResources()],
        )

    return make
