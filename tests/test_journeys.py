"""
The journeys of `docs/journeys.md`, in this environment; `journeys.py` makes a new one.

That of the ONNX model takes as long as the others: `.ci/run` walks it, with the wheel alone.
"""

import os
from pathlib import Path

import pytest
from helpers.processes.forked_commands import with_commands
from helpers.programs.random_settings import ROUNDS
from journeys import SHIPPED, SHOWN, check, journeys


@pytest.mark.parametrize("title", [title for title in SHOWN if title != SHIPPED or ROUNDS >= 4])
def test_a_journey(title: str, tmp_path: Path):
    check(title, tmp_path, with_commands(os.environ)["PATH"])


def test_all_journeys_are_walked():
    assert list(journeys()) == list(SHOWN)
