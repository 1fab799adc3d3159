"""The machine that code is for: the triple and the processor, as the tools of LLVM name them."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ....runtime.errors import Error
from .processes import ProcessFailed, run
from .tool_paths import tool

BASELINE = {"x86_64": "x86-64"}
"""The processor to compile for by default, by architecture; otherwise `generic`."""

NATIVE = "native"
"""The processor of this machine, with what it can."""

LEVELS = "levels"
"""All levels of the architecture: the library chooses when it is loaded."""

LEVELS_OF = {"x86_64": ("x86-64", "x86-64-v3", "x86-64-v4")}
"""By architecture, its levels; others have one."""

WORD = re.compile(r"[A-Za-z0-9_.+-]+")


@dataclass(frozen=True)
class Machine:
    """The machine to compile for: by default any of this machine's architecture."""

    triple: str | None = None
    """Such as `aarch64-unknown-linux-gnu`; None is this machine's."""
    cpu: str | None = None
    """Such as `x86-64-v3`, `native` or `levels`; None is the oldest of the architecture."""

    def __post_init__(self) -> None:
        for option, value in (("target", self.triple), ("cpu", self.cpu)):
            if value is not None and not WORD.fullmatch(value):
                raise Error(f"{option} must be a name of LLVM, but is '{value}'")
        if self.cpu == NATIVE and not self.is_host:
            raise Error(f"cpu=native is this machine's, but the target is '{self.triple}'")

    @property
    def architecture(self) -> str:
        """The first part of the triple."""
        return (self.triple or host_triple()).partition("-")[0]

    @property
    def is_host(self) -> bool:
        """True if this machine can run the code, as far as the architecture decides it."""
        parts = (self.triple or host_triple()).split("-")
        return parts[0] == host_triple().split("-")[0] and "linux" in parts

    @property
    def processor(self) -> str:
        """The processor that the tools are given."""
        named = None if self.cpu == LEVELS else self.cpu
        return named or BASELINE.get(self.architecture, "generic")

    @property
    def levels(self) -> tuple[Machine, ...]:
        """The machines that code is compiled for, the oldest first."""
        cpus = LEVELS_OF.get(self.architecture, (None,)) if self.cpu == LEVELS else (self.cpu,)
        return tuple(Machine(self.triple, cpu) for cpu in cpus)

    @property
    def flags(self) -> list[str]:
        """The options for `opt` and `llc`."""
        flags = [f"-mtriple={self.triple or host_triple()}", f"-mcpu={self.processor}"]
        # LLVM avoids vectors of 512 bits, for processors of 2017; tiles have them anyway.
        wide = ["-mattr=-prefer-256-bit"] if self.architecture == "x86_64" else []
        return [*flags, *wide]

    def check(self) -> None:
        """Raise `Error` if LLVM does not know the triple, or not the processor for it."""
        if self.cpu in (None, NATIVE, LEVELS) and self.triple is None:
            return
        command = [tool("llc"), *self.flags, "-filetype=null", "-o", os.devnull]
        try:
            said = run("llc", command).errors
        except ProcessFailed as failed:
            raise Error(
                f"LLVM has no target '{self.triple}'; triples are like aarch64-linux-gnu, and "
                f"{tool('llc')} --version lists their first parts"
            ) from failed
        if "not a recognized processor" in said:
            target = self.triple or host_triple()
            raise Error(
                f"LLVM knows no processor '{self.processor}' of {target}; "
                f"{tool('llc')} -mtriple={target} -mcpu=help lists those that it knows"
            )

    @property
    def key(self) -> str:
        """The cache key of the target: code for one may not run on another."""
        native = f" {host_processor()}" if self.cpu == NATIVE else ""
        return " ".join(self.flags) + native


@cache
def host_triple() -> str:
    """Return the triple of this machine."""
    return _of_llc(r"Default target: (\S+)")


@cache
def host_processor() -> str:
    """Return the processor of this machine and what it can."""
    try:
        described = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        described = platform.processor()
    flags = re.search(r"^(?:flags|Features)\s*:(.*)$", described, re.M)
    return f"{_of_llc(r'Host CPU: (.+)')} {flags[1].strip() if flags else ''}"


def _of_llc(pattern: str) -> str:
    output = run("llc", [tool("llc"), "--version"]).output.decode(errors="replace")
    line = re.search(pattern, output)
    if line is None:
        raise Error(f"llc --version does not print '{pattern}'")
    return line[1]
