"""Programs that are run with limits."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from xrelay.lowering.native.toolchain import target_machine, tool_paths
from xrelay.lowering.native.toolchain.processes import ProcessFailed, TimedOut, run
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.lowering.native.toolchain.tool_paths import MissingTool, c_compiler, tool
from xrelay.runtime.errors import Error
from xrelay.tools.opt.opt import main


def test_a_program_and_its_children_end_at_the_time_limit(tmp_path: Path):
    pid = tmp_path / "pid"
    child = f"sleep 100 & echo $! > '{pid}'; wait"
    with pytest.raises(TimedOut, match=r"sh did not finish within 0\.5 seconds"):
        run("sh", ["sh", "-c", child], seconds=0.5)
    assert not _is_running(int(pid.read_text()))


def _is_running(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return False
        if state == "Z":
            return False
        time.sleep(0.01)
    return True


def test_memory_is_limited():
    take = "bytearray(16 << 30)"
    with pytest.raises(ProcessFailed) as raised:
        run("python", [sys.executable, "-c", take])
    assert "MemoryError" in raised.value.errors


def test_large_inputs_and_outputs_do_not_block():
    data = bytes(5_000_000)
    assert run("cat", ["cat"], data).output == data


def test_a_program_that_reads_nothing_may_be_given_text():
    assert run("true", ["true"], bytes(5_000_000)).output == b""


def test_a_crash_is_named():
    with pytest.raises(ProcessFailed, match="sh crashed: Segmentation fault"):
        run("sh", ["sh", "-c", "kill -SEGV $$"])


@pytest.fixture
def only_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is all of `PATH`; the extra `native` is not installed."""
    monkeypatch.setattr(tool_paths, "PACKAGES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.chdir(tmp_path)
    cached = tool, target_machine.host_triple, target_machine.host_processor
    for function in cached:
        function.cache_clear()
    yield tmp_path
    for function in cached:
        function.cache_clear()


def _program(folder: Path, name: str, prints: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{prints}'\n")
    path.chmod(0o755)


def test_a_missing_tool_says_what_to_install(only_on_path: Path):
    with pytest.raises(MissingTool, match=r"'llc', which .*: pip install 'xrelay\[native\]'"):
        tool("llc")


def test_commands_that_lack_a_tool(only_on_path: Path, capsys: pytest.CaptureFixture[str]):
    source = only_on_path / "net.mlir"
    source.write_text(
        "func.func @main(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {\n"
        "  %y = relay.nn.softmax %x : (tensor<64x96xf32>) -> tensor<64x96xf32>\n"
        "  func.return %y : tensor<64x96xf32>\n}\n"
    )
    assert main([str(source), "-t", "native{cpu=levels}", "-o", "libnet.so"]) == 1
    error = capsys.readouterr().err
    assert "error: native code needs 'llc', which is not installed: pip install" in error


def test_a_tool_of_another_version_is_refused(only_on_path: Path):
    _program(only_on_path, "llc", "LLVM version 19.1.0")
    with pytest.raises(MissingTool, match=r"of LLVM 22, but '.*llc' is of version 19: pip"):
        tool("llc")


def test_a_tool_on_path_is_used(only_on_path: Path):
    _program(only_on_path, "llc", "LLVM version 22.1.0")
    assert tool("llc") == str(only_on_path / "llc")


def test_a_missing_c_compiler_says_what_to_install(only_on_path: Path):
    with pytest.raises(MissingTool, match="install gcc or clang, or name one in CC"):
        c_compiler()
    with pytest.raises(MissingTool, match="the C compiler 'tcc -g' does not exist"):
        c_compiler("tcc -g")


def test_machines_are_names():
    with pytest.raises(Error, match="cpu must be a name of LLVM, but is 'a b'"):
        Machine(cpu="a b")
    with pytest.raises(Error, match="cpu=native is this machine's, but the target is 'riscv64"):
        Machine("riscv64-unknown-linux-gnu", "native")


def test_a_lower_limit_of_this_process_stays():
    """Only root could raise it: anyone else would get an error."""
    code = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "from xrelay.lowering.native.toolchain.processes import run\n"
        "print(run('sh', ['sh', '-c', 'ulimit -Hv']).output.decode().strip())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == (f"{4 << 20}\n", "")
