"""Machines that record each call with sizes of its own."""

from unittest.mock import Mock

import pytest

from xrelay.runtime.templates.table import Templates


def without_templates(patch: pytest.MonkeyPatch) -> None:
    """Let no path become a template."""
    patch.setattr(Templates, "learn", Mock())
