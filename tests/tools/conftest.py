"""Small installed plug-ins, and the driver as a function."""

import sys
from collections.abc import Callable, Generator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest
from helpers.programs.seldom_verified import verified_after_each_pass

from xrelay.tools.opt.opt import main


class Ran(NamedTuple):
    """The exit status and the output of a run of the driver."""

    status: int
    out: str
    err: str


@pytest.fixture
def opt(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run `xrelay-opt` with these arguments."""

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(status, str(captured.out), str(captured.err))

    return run


@pytest.fixture
def source(tmp_path: Path) -> Callable[[str], Path]:
    """Write a file of IR."""

    def write(text: str) -> Path:
        path = tmp_path / "in.mlir"
        path.write_text(dedent(text))
        return path

    return write


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install a package of one module, as pip would, until the test ends."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))  # pyright: ignore[reportUnknownMemberType]

    def write(name: str, code: str, entry: str = "UNIVERSE") -> None:
        (site / f"{name}.py").write_text(dedent(code))
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[xdsl.universe]\n{name} = {name}:{entry}\n")
        monkeypatch.delitem(sys.modules, name, raising=False)

    return write


PASSES = '''
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.test import TestOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.exceptions import PassFailedException
from xrelay.passes.support.diagnostics import PassError, emit_remark, emit_warning


@dataclass(frozen=True)
class Crash(ModulePass):
    """Fail as no pass should."""

    name = "test-crash"
    level: int = 1
    word: str = "a b"

    def apply(self, ctx, op):
        raise KeyError(f"level {self.level}")


@dataclass(frozen=True)
class Refuse(ModulePass):
    """Refuse every op but the first."""

    name = "test-refuse"
    mode: Literal["all", "second"] = "second"

    def apply(self, ctx, op):
        first, second, *_ = op.body.block.ops
        raise PassError("one op is enough", second, [(first, "this is the first")])


@dataclass(frozen=True)
class Refuse0(ModulePass):
    """Refuse as xDSL's passes do: through the op, or without one."""

    name = "test-refuse-as-xdsl"
    placed: bool = True

    def apply(self, ctx, op):
        error = PassFailedException("not this one")
        if self.placed:
            op.body.block.first_op.emit_error("not this one", error)
        raise error


@dataclass(frozen=True)
class Break(ModulePass):
    """Move the first op to the end."""

    name = "test-break"

    def apply(self, ctx, op):
        block = op.body.block
        first = block.first_op
        first.detach()
        block.add_op(first)


@dataclass(frozen=True)
class Talk(ModulePass):
    """Say something about every op."""

    name = "test-talk"

    def apply(self, ctx, op):
        for inner in op.body.block.ops:
            emit_remark(ctx, inner, "an op", [(op, "in this module")])
            emit_warning(ctx, inner, "it may be too much")


UNIVERSE = Universe(
    all_passes={cls.name: lambda cls=cls: cls for cls in (Crash, Refuse, Refuse0, Break, Talk)}
)
'''


@pytest.fixture
def test_passes(install: Callable[..., None]) -> Generator[None]:
    """An installed plug-in whose passes fail in every way; the module is verified after each."""
    install("house_test_passes", PASSES)
    with verified_after_each_pass():
        yield
