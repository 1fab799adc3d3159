"""The lit tests as one pytest test per file, so that pytest runs all tests."""

from pathlib import Path
from typing import Any

import pytest
from helpers.memory.checked_plans import unverified
from helpers.programs.seldom_verified import verified_after_each_pass

from xrelay.tools.testing.lit_discovery import execute, find_tests

SUITE = Path(__file__).parent.parent / "lit_tests"


TESTS = find_tests(SUITE)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # lit's own shell leaves pipes
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # open
@pytest.mark.parametrize("test", TESTS, ids=["/".join(test.path_in_suite) for test in TESTS])
def test_lit(test: Any):
    with unverified(), verified_after_each_pass():
        result = execute(test)
    test.setResult(result)
    if result.code.name == "UNSUPPORTED":
        pytest.skip(f"unsupported: {result.output}")
    assert not test.isFailure(), f"{result.code.name}\n{result.output}"


def test_there_are_tests():
    files = [path for path in SUITE.rglob("*.mlir") if "Output" not in path.parts]
    assert len(TESTS) >= len(files) > 0
