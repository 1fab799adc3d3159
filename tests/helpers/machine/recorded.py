"""Recorded paths of machines: how many there are, and machines that record each size."""

from typing import Any
from unittest.mock import Mock

import pytest

from xrelay.runtime.machine.recording import Recorder
from xrelay.runtime.templates.table import Templates


def without_templates(patch: pytest.MonkeyPatch) -> None:
    """Let no path become a template."""
    patch.setattr(Templates, "learn", Mock())


def count_recorded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each segment is added that is recorded from now on."""
    found: list[int] = []
    record = Recorder.record

    def counted(self: Recorder) -> Any:
        found.append(self.pc)
        return record(self)

    monkeypatch.setattr(Recorder, "record", counted)
    return found


def same(found: list[Any], wanted: list[Any]) -> None:
    """Check that arrays are equal bit for bit."""
    for a, b in zip(found, wanted, strict=True):
        assert (a.shape, a.dtype, a.tobytes()) == (b.shape, b.dtype, b.tobytes())
