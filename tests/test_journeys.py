"""The journeys of `docs/journeys.md`, in this environment; `journeys.py` makes a new one."""

import sysconfig
from pathlib import Path

import pytest
from journeys import journeys, walk

SHOWN = {
    "An ONNX model, small and shipped": ("as expected: 1 output", "one call    min ", "(1, 1000"),
    "A student of compilers": ("25_manifest-alloc.mlir", "remark: 5 ops", "tensor<2x4xf32, #cpu0>"),
    "A program of Relay": ("as expected: 1 output", "memory of @main on cuda:0"),
}
"""Parts of the output of the commands of each journey."""


@pytest.mark.parametrize("title", SHOWN)
def test_a_journey(title: str, tmp_path: Path):
    printed = walk(journeys()[title], tmp_path, sysconfig.get_path("scripts"))
    assert not [text for text in SHOWN[title] if text not in printed], printed


def test_all_journeys_are_walked():
    assert list(journeys()) == list(SHOWN)
