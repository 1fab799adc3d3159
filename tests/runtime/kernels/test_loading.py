"""Kernels of plug-ins, found by entry point."""

import sys
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import pytest

from xrelay.runtime.kernels.loading import BUILT_IN, GROUP, load_kernels


def bind(attrs: Any, ins: Any, outs: Any) -> Any:
    return lambda: None


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("some_plugin")
    monkeypatch.setitem(sys.modules, "some_plugin", module)
    return module


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, GROUP)


def test_ours_are_there_by_entry_point():
    assert load_kernels() == BUILT_IN


def test_kernels_of_a_plug_in_are_added(plugin: ModuleType):
    vars(plugin)["KERNELS"] = {"my.op": bind}
    kernels = load_kernels([entry("mine", "some_plugin:KERNELS")])
    assert kernels == {**BUILT_IN, "my.op": bind}
    assert "my.op" not in BUILT_IN


@pytest.mark.parametrize(
    ("contents", "value", "reason"),
    [
        ({}, "some_plugin:KERNELS", "AttributeError: module 'some_plugin' has no attribute"),
        ({}, "no_such_plugin:KERNELS", "ModuleNotFoundError: No module named 'no_such_plugin'"),
        ({"KERNELS": 5}, "some_plugin:KERNELS", "some_plugin:KERNELS is not a mapping"),
        (
            {"KERNELS": {"relay.add": bind, "my.op": bind}},
            "some_plugin:KERNELS",
            "relay.add already has a kernel from xrelay",
        ),
    ],
)
def test_a_broken_plug_in_is_named_and_skipped(
    plugin: ModuleType, contents: dict[str, Any], value: str, reason: str
):
    vars(plugin).update(contents)
    with pytest.warns(UserWarning, match=f"kernels of plug-in 'mine' are skipped: {reason}"):
        assert load_kernels([entry("mine", value)]) == BUILT_IN


def test_of_two_plug_ins_with_the_same_operator_the_first_counts(plugin: ModuleType):
    vars(plugin).update(ONE={"my.op": bind}, TWO={"my.op": bind, "my.other": bind})
    entries = [entry("one", "some_plugin:ONE"), entry("two", "some_plugin:TWO")]
    with pytest.warns(UserWarning, match="'two' are skipped: my.op already has a kernel from one"):
        kernels = load_kernels(entries)
    assert kernels["my.op"] is bind
    assert "my.other" not in kernels
