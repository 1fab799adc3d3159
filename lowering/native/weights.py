"""
The constants of a library: one block of bytes, in the object, or in a file beside it.

    libmodel.so                 weights=object: in its section .rodata
    libmodel.so libmodel.weights    weights=file: mapped when it is first needed

Either way they are read-only, and are loaded page by page as they are used. C code finds them by
`<name>_constants`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from zlib import crc32

import numpy as np

from ...runtime.errors import Error
from ...runtime.native.interface import Constant, Library
from ...runtime.program import Array
from .c_text import c_string
from .linking import c_file

MOST = 1_900_000_000
"""The bytes that code can reach in its own object."""

BLOCK = "weights.bin"
"""The file that the assembler includes."""

FILE_SOURCE = "weights_file.c"

Tensors = Callable[[str], Array]
"""Returns a tensor by its name."""


def with_digests(library: Library, tensors: Tensors) -> Library:
    """Return `library` with the SHA-256 of each constant. Raises `Error`, as `pieces_of`."""
    digests = {
        constant.name: sha256(_bytes_of(constant, tensors(constant.name))).hexdigest()
        for constant in library.constants
    }
    constants = tuple(replace(c, digest=digests[c.name]) for c in library.constants)
    return replace(library, constants=constants)


def pieces_of(library: Library, tensors: Tensors) -> Iterator[bytes | memoryview]:
    """
    Yield the bytes of the constants of `library`, in order.

    Raises `Error` if a tensor is not what the library was compiled for.
    """
    end = 0
    for constant in sorted(library.constants, key=lambda constant: constant.offset):
        yield bytes(constant.offset - end)
        yield _bytes_of(constant, tensors(constant.name))
        end = constant.offset + constant.size
    yield bytes(library.constants_size - end)


def _bytes_of(constant: Constant, array: Array) -> memoryview:
    spec = constant.spec
    found = f"{array.dtype.name} of shape {array.shape}"
    if array.shape != spec.shape or array.dtype.name != spec.dtype:
        expected = f"{spec.dtype} of shape {spec.shape}"
        raise Error(f"weight '{constant.name}' must be {expected}, but is {found}")
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    if constant.digest and sha256(data).hexdigest() != constant.digest:
        raise Error(f"weight '{constant.name}' has changed since the program was compiled")
    return data


def source_of_block(library: Library) -> str:
    """Return the C file that puts the constants, in the file `BLOCK`, into its object."""
    if library.constants_size > MOST:
        raise Error(
            f"the weights have {library.constants_size} bytes, but an object holds at most {MOST}: "
            "use weights=file"
        )
    name = f"{library.name}_constants"
    return f"""#include <stddef.h>

__asm__(".section .rodata\\n"
        ".balign 64\\n"
        "{name}_block:\\n"
        ".incbin \\"{BLOCK}\\"\\n"
        ".previous\\n");
extern const char {name}_block[] __attribute__((visibility("hidden")));

__attribute__((visibility("hidden"))) const void *{name}(char *error, size_t room) {{
  (void)error;
  (void)room;
  return {name}_block;
}}
"""


def source_of_file(library: Library, file: str, pieces: Iterable[bytes | memoryview]) -> str:
    """Return the C file that maps `file`, with the bytes `pieces`, beside the library."""
    check = 0
    for piece in pieces:
        check = crc32(piece, check)
    return (
        f"#define XRELAY_CONSTANTS {library.name}_constants\n"
        f"#define XRELAY_FILE {c_string(file)}\n"
        f"#define XRELAY_SIZE {library.constants_size}u\n"
        f"#define XRELAY_CRC 0x{check:08x}u\n\n{c_file(FILE_SOURCE)}"
    )
