"""The lit tests, one pytest test a file, so that pytest runs everything there is."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

SUITE = Path(__file__).parent.parent / "lit_tests"


def lit_config() -> Any:
    """lit's own settings, as its command line would make them."""
    return import_module("lit.LitConfig").LitConfig(
        progname="lit",
        path=[],
        diagnostic_level="note",
        useValgrind=False,
        valgrindLeakCheck=False,
        valgrindArgs=[],
        noExecute=False,
        debug=False,
        isWindows=False,
        order="smart",
        params={},
    )


CONFIG = lit_config()


def discover() -> list[Any]:
    """All tests of the suite."""
    find = import_module("lit.discovery").find_tests_for_inputs
    return find(CONFIG, [str(SUITE)])


TESTS = discover()


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # lit's own shell leaves pipes
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # open
@pytest.mark.parametrize("test", TESTS, ids=["/".join(test.path_in_suite) for test in TESTS])
def test_lit(test: Any):
    result = test.config.test_format.execute(test, CONFIG)
    test.setResult(result)
    if result.code.name == "UNSUPPORTED":
        pytest.skip(f"unsupported: {result.output}")
    assert not test.isFailure(), f"{result.code.name}\n{result.output}"


def test_there_are_tests():
    assert len(TESTS) >= len(list(SUITE.rglob("*.mlir"))) > 0
