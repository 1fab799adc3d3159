"""
Use one thread for products of matrices, collect garbage rarely, and check all plans.

All processes of a run share a cache of compiled code, which ends with the run.

With `-n auto` there is a process for each core: threads of NumPy's OpenBLAS that wait for a core
took three quarters of the CPU time of networks. It reads the variable when it is loaded; processes
that tests start, and native code, do not see it. Plans are checked by `checked_plans`.

`python -m pytest` puts the current folder on the path, where the rooms have the names of folders
of tests (`planning`): it is taken off.
"""

import faulthandler
import gc
import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

gc.disable()  # until all tests are collected
import_module("xrelay")  # that of PYTHONPATH, which may be this folder: it is taken off
ROOT = Path(__file__).resolve().parent.parent
sys.path[:] = [path for path in sys.path if Path(path).resolve() != ROOT]
# To compile all modules and tests is half of the time of a process that tests start, and more than
# half of that in which pytest collects them: files of bytecode are written, and read again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
gc.set_threshold(400_000, 20, 50)  # thousands of tests are alive: a tenth of the time
LEFT = 40_000
"""The objects that modules of tests may leave before they are collected and frozen."""


SLACK = 60
"""The seconds after which the limit of `faulthandler_timeout` starts anew, with the next test."""
_started: list[float] = []


OWN_CACHE = "PYTEST_XDIST_WORKER" not in os.environ
"""True in the process that starts the others, which have its environment."""
if OWN_CACHE:
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="xrelay-tests-")


def pytest_unconfigure() -> None:
    faulthandler.cancel_dump_traceback_later()
    if OWN_CACHE:
        shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)


def _runs_all(config: pytest.Config) -> bool:
    """Test whether a run is of all tests, which all processes then collect in one order."""
    return [Path(argument).resolve() for argument in config.args] == [ROOT / "tests"]


def _collect_backwards() -> None:
    """
    Collect the last file of each folder first.

    Every second process does: in a new checkout each compiles half of the files, and reads what the
    other has compiled of the rest.
    """
    collect = pytest.Dir.collect

    def backwards(folder: pytest.Dir) -> list[Any]:
        return list(collect(folder))[::-1]

    setattr(pytest.Dir, "collect", backwards)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let all processes have one order; a run of all tests leaves those of CI to CI."""
    if not _runs_all(config):
        return
    items.sort(key=lambda item: item.path.parts)
    rounds = import_module("helpers.programs.random_settings").ROUNDS
    if rounds == 1 and not config.getoption("markexpr"):
        left = [item for item in items if item.get_closest_marker("ci")]
        items[:] = [item for item in items if not item.get_closest_marker("ci")]
        config.hook.pytest_deselected(items=left)


def pytest_collection_finish() -> None:
    """Let no garbage collection visit the tests and the modules."""
    gc.freeze()
    gc.enable()


def _no_timeout(_: pytest.Config) -> float:
    return 0.0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """
    End the process with a traceback if this test takes as long as `faulthandler_timeout`.

    pytest starts a thread for that with each test, and waits until it ends: 5 to 50 ms, in which
    others run, when there are more processes than cores. One thread serves a minute of tests.
    """
    seconds = float(item.config.getini("faulthandler_timeout") or 0)
    if seconds and (not _started or monotonic() - _started[0] > SLACK):
        _started[:] = [monotonic()]
        plugin = import_module("_pytest.faulthandler")
        stderr = item.config.stash[plugin.fault_handler_stderr_fd_key]
        faulthandler.dump_traceback_later(seconds + SLACK, file=stderr, exit=True)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Let no later collection visit what modules leave: programs and benchmarks collect, too."""
    if nextitem is not None and nextitem.path != item.path and gc.get_count()[0] > LEFT:
        gc.collect()
        gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Import what tests need, in the processes that run them; send one report a test."""
    if not hasattr(config, "workerinput") and config.getoption("numprocesses", None):
        return
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        import_module("numpy")
        del os.environ["OPENBLAS_NUM_THREADS"]
    setattr(import_module("_pytest.faulthandler"), "get_timeout_config_value", _no_timeout)
    import_module("helpers.memory.checked_plans").install()
    import_module("helpers.programs.seldom_verified").install()
    # Where a test does not say for which processor, code is for the oldest, not for three of them.
    setattr(import_module("xrelay.tools.targets.native_target"), "LEVELS", None)
    rounds = import_module("helpers.programs.random_settings").ROUNDS
    if rounds < 4 and "XRELAY_NUMBERS" not in os.environ:  # what is timed is compiled by commands
        setattr(import_module("xrelay.lowering.native.build.settings"), "LEVEL", 0)
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if number % 2 == 1 and _runs_all(config):
        _collect_backwards()
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            _send_calls_only(config.pluginmanager, plugin)


def _send_calls_only(plugins: Any, worker: Any) -> None:
    """Send no reports of set-up and its undoing that succeeded: most of what xdist sends."""
    send = worker.pytest_runtest_logreport

    @pytest.hookimpl
    def send_calls(report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            send(report)

    plugins.unregister(worker)
    worker.pytest_runtest_logreport = send_calls
    worker.pytest_runtest_logstart = worker.pytest_runtest_logfinish = None
    plugins.register(worker)
