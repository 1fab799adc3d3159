"""The contents of an executable file, and the checksums of its constants."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, TypeAlias, cast
from zlib import crc32

from ...operators.records import record
from ..codec.notes import Check, sized
from ..program.planned_memory import PlannedMemory
from ..program.program import Array, Program, TensorSpec, WeightFunction
from .layout import Layout

WHOLE = 1 << 16
"""The number of bytes up to which a sample is all of a constant."""
BLOCKS = 16
BLOCK = WHOLE // BLOCKS


@record
class Checksums:
    """
    The checksums of a constant: its SHA-256, and the CRC-32 of a sample.

    The sample is all of a constant of at most `WHOLE` bytes, and blocks of larger ones: it is
    cheap enough to be checked whenever a program is loaded.
    """

    sha256: Annotated[bytes, sized(32, 32)]
    sample: Annotated[int, Check("be in [0, 2**32)", lambda value: 0 <= value < 1 << 32)]


def sample_of(data: memoryview) -> int:
    """Return the CRC-32 of the bytes of a constant, or of evenly spaced blocks of a large one."""
    size = len(data)
    if size <= WHOLE:
        return crc32(data)
    checksum = 0
    for i in range(BLOCKS):
        start = (size - BLOCK) * i // (BLOCKS - 1)
        checksum = crc32(data[start : start + BLOCK], checksum)
    return checksum


def sha256_of(data: memoryview) -> bytes:
    """Return the SHA-256 of the bytes of a constant."""
    from hashlib import sha256  # 7 ms, most of them in OpenSSL

    return sha256(data).digest()


def checksums_of(array: Array) -> Checksums:
    """Return the checksums of the values of a constant, in C order."""
    data = bytes_of(array)
    return Checksums(sha256_of(data), sample_of(data))


def bytes_of(array: Array) -> memoryview:
    """Return the bytes of an array in C order and little-endian, without a copy if it has them."""
    import numpy as np

    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return memoryview(cast(Any, plain.reshape(-1).view(np.uint8)))


BESIDE = Check(
    "be the name of a file beside the executable, not in another folder",
    lambda name: name not in (".", "..") and not any(c in "/\\:\0" for c in name),
)


@record
class Info:
    """The producer of a file, and the file with its weights: see `ExecutableFile`."""

    producer: str = ""
    weights_file: Annotated[str, BESIDE] = ""
    unused: tuple[str, ...] = ()


@record
class InFile:
    """A constant whose bytes are in the file."""

    spec: TensorSpec
    checksums: Checksums


@record
class LateBound:
    """A constant whose value is bound when the program is loaded."""

    spec: TensorSpec
    name: str
    checksums: Checksums | None
    """None if any value fits."""


StoredConstant: TypeAlias = InFile | LateBound


@record
class ExecutableFile:
    """
    A program, and what its file says about it.

    `weights_file` is the name of the file beside it with the values of its late-bound constants,
    or "", and `unused` are the tensors in that file which are not constants of the program.
    `checksums` are those of the late-bound constants, by name, as far as they are known.
    """

    program: Program
    producer: str = ""
    weights_file: str = ""
    unused: tuple[str, ...] = ()
    checksums: Mapping[str, Checksums] = field(default_factory=dict[str, Checksums])
    memory: tuple[PlannedMemory, ...] = ()
    weights: tuple[WeightFunction, ...] = ()
    """Functions for late-bound constants that are not in the file of weights."""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    """Texts by name of whoever wrote the file, such as the pipeline."""
    added: Mapping[str, bytes | memoryview] = field(default_factory=dict[str, bytes | memoryview])
    """The sections of plug-ins, by their names: see docs/plugins.md."""
    layout: Layout | None = None
    """The sections of the file that was read."""
