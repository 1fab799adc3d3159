"""The tests of a lit suite as objects, without lit's command line."""

from importlib import import_module
from pathlib import Path
from typing import Any


def find_tests(path: Path, **params: str) -> list[Any]:
    """
    Return the lit tests at `path`, a file or a folder, in lit's order.

    `params` are those of the command line, `--param NAME=VALUE`. Each test keeps the settings of
    its discovery as `lit_config`, for `execute`.
    """
    config = import_module("lit.LitConfig").LitConfig(
        progname="lit",
        path=[],
        diagnostic_level="error",
        useValgrind=False,
        valgrindLeakCheck=False,
        valgrindArgs=[],
        noExecute=False,
        debug=False,
        isWindows=False,
        order="smart",
        params=params,
    )
    tests: list[Any] = import_module("lit.discovery").find_tests_for_inputs(config, [str(path)])
    for test in tests:
        test.lit_config = config
    return tests


def execute(test: Any) -> Any:
    """Run a test that `find_tests` returned; return lit's result."""
    return test.config.test_format.execute(test, test.lit_config)
