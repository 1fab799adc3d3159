"""The vector registers of a machine, as `llc` uses them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ..toolchain.processes import run
from ..toolchain.target_machine import Machine
from ..toolchain.tool_paths import tool

PROBE = """
define <16 x float> @probe(<16 x float> %x, <16 x float> %y) {
  %sum = fadd <16 x float> %x, %y
  ret <16 x float> %sum
}
"""
"""A function whose code shows how long the vectors are that `llc` chooses."""


@dataclass(frozen=True)
class Vectors:
    """The vector registers of a processor."""

    bytes: int
    count: int

    def lanes(self, bits: int) -> int:
        """Return the number of elements of a register, for elements of this many bits."""
        return max(1, 8 * self.bytes // max(bits, 8))


AVX512 = Vectors(64, 32)
AVX = Vectors(32, 16)
SSE = Vectors(16, 16)
NEON = Vectors(16, 32)


def vectors_of(machine: Machine) -> Vectors:
    """Return the vector registers that code for `machine` may use."""
    return _probed(machine)


@cache
def _probed(machine: Machine) -> Vectors:
    command = [tool("llc"), "-O1", *machine.flags, "-o", "-"]
    code = run("llc", command, PROBE.encode()).output.decode(errors="replace")
    for pattern, vectors in ((r"%zmm", AVX512), (r"%ymm", AVX), (r"%xmm", SSE)):
        if re.search(pattern, code):
            return vectors
    return NEON
