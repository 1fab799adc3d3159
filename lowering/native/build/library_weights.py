"""
The constants of a library: one block of bytes, in the object, or in a file beside it.

    libmodel.so                 weights=object: in its section .rodata
    libmodel.so libmodel.weights    weights=file: mapped when it is first needed

Either way they are read-only, and are loaded page by page as they are used. C code finds them by
`<name>_constants`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from ....runtime.errors import Error
from ....runtime.files import writing
from ....runtime.native.interface import Constant, Library
from ....runtime.program.program import Array
from ..c.c_source import c_string
from ..toolchain.linking import c_file

MOST = 1_900_000_000
"""The bytes that code can reach in its own object."""

BLOCK = "weights.bin"
"""The file that the assembler includes."""

MAGIC = b"\x89xrelay weights 1\n"
"""The start of a file of constants; 64 bytes of head are before the constants."""
HEAD = 64

FILE_SOURCE = "weights_file.c"

Tensors = Callable[[str], Array]
"""Returns a tensor by its name."""


@dataclass(frozen=True)
class Block:
    """A library whose constants have digests, and the file that their bytes are in."""

    library: Library
    path: Path

    @property
    def head(self) -> bytes:
        """The first bytes of a file beside the library: only its own program accepts it."""
        digests = sha256("".join(c.digest for c in self.library.constants).encode())
        return MAGIC.ljust(HEAD - digests.digest_size, b"\0") + digests.digest()


def written(library: Library, tensors: Tensors, path: Path) -> Block:
    """
    Write the bytes of the constants of `library` to the file at `path`, one after the other.

    Only one is in memory at a time. Raises `Error` if a tensor is not what the library was
    compiled for.
    """
    digests: dict[str, str] = {}
    with writing(path), open(path, "wb") as file:
        for constant in sorted(library.constants, key=lambda constant: constant.offset):
            data = _bytes_of(constant, tensors(constant.name))
            digests[constant.name] = sha256(data).hexdigest()
            if constant.digest not in ("", digests[constant.name]):
                raise Error(f"weight '{constant.name}' has changed since the program was compiled")
            file.seek(constant.offset)
            file.write(data)
        file.truncate(library.constants_size)
    constants = tuple(replace(c, digest=digests[c.name]) for c in library.constants)
    return Block(replace(library, constants=constants), path)


def _bytes_of(constant: Constant, array: Array) -> memoryview:
    spec = constant.spec
    found = f"{array.dtype.name} of shape {array.shape}"
    if array.shape != spec.shape or array.dtype.name != spec.dtype:
        expected = f"{spec.dtype} of shape {spec.shape}"
        raise Error(f"weight '{constant.name}' must be {expected}, but is {found}")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


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


def source_of_file(block: Block, file: str) -> str:
    """Return the C file that maps `file`, beside the library, which begins with `block.head`."""
    library = block.library
    return (
        f"#define XRELAY_CONSTANTS {library.name}_constants\n"
        f"#define XRELAY_FILE {c_string(file)}\n"
        f"#define XRELAY_SIZE {HEAD + library.constants_size}u\n"
        f"#define XRELAY_HEAD {HEAD}\n"
        f"static const unsigned char head[] = {{{', '.join(map(str, block.head))}}};\n\n"
        f"{c_file(FILE_SOURCE)}"
    )
