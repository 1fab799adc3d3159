"""
ONNX's own test cases: those that convert compute the right values. Of each operator a quarter of
the cases is converted, a sixteenth run at level relay, and a 40th in the VM. `XRELAY_ROUNDS=2`, as
in CI, converts all and runs twice as many; `XRELAY_ROUNDS=4` runs all at both levels.

`cases.txt` lists all cases, and whether each must convert as it is (`yes`), with inputs made
constant that are needed at compile time (`bound`), with results that differ from
ONNX's by rounding, but by more than its tolerance (`near`), or must be refused (`no`); and
whether with open dims. After a change of
what is supported, write it and the counts in `docs/onnx.md` with

    PYTHONPATH=tests python tests/frontends/onnx/test_suite.py
"""

import unittest
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from helpers.onnx.onnx_backends import Evaluated, InMachine
from helpers.onnx.onnx_suite import Case, collect_cases
from helpers.programs.every_case import every
from helpers.programs.random_settings import ROUNDS
from onnx.backend.test import BackendTest

from xrelay.frontends.onnx import OnnxError
from xrelay.frontends.onnx.backend import Backend
from xrelay.frontends.onnx.convert.importer import Conversion, convert_model
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify

FILE = Path(__file__).parent / "cases.txt"
DOCS = Path(__file__).parents[3] / "docs" / "onnx.md"
NEAR = 2**-6
"""Twice the spacing of the numbers of bfloat16, relative to them: ONNX rounds each sum to it."""
NOISE = 2**-22
"""Twice the rounding of float32, relative to the greatest number: ONNX has sums of almost 0."""
BEGIN, END = "<!-- counts: begin -->\n", "<!-- counts: end -->\n"


class Known(NamedTuple):
    """A line of the file."""

    name: str
    kind: str
    opset: str
    converts: str
    opened: str
    """`yes` if it also converts with every dim open, else `no`; `-` if it has none, or fails."""


def read_file() -> dict[str, Known]:
    """Return the lines of the file by the name of the case."""
    lines = [Known(*line.split()) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return {known.name: known for known in lines}


KNOWN = read_file()
CONVERTED = [known.name for known in KNOWN.values() if known.converts != "no"]
SLOW = ("test_averagepool", "test_lppool", "test_maxpool")
"""The cases that ONNX takes seconds to make; `test_windows.py` has pools, too."""
OMITTED = {name for name in CONVERTED if name.startswith(SLOW) and ROUNDS < 2}
OPENED = [known.name for known in KNOWN.values() if known.opened == "yes"]
GROUPS: dict[str, list[str]] = {}
"""The cases that convert by the first word of their names, which is that of an operator."""
for each in CONVERTED:
    GROUPS.setdefault(each.partition("test_")[2].partition("_")[0], []).append(each)


def sample(start: int, step: int) -> frozenset[str]:
    """Return one in `step` cases of each group, in half of them with `XRELAY_ROUNDS=2`."""
    step = 1 if ROUNDS >= 4 else max(1, step // ROUNDS)
    return frozenset(name for group in GROUPS.values() for name in group[start % step :: step])


IN_MACHINE, EVALUATED = sample(0, 40), sample(1, 16)
ALONE = {
    *("test_batchnorm_epsilon_training_mode", "test_affine_grid_3d_align_corners"),
    *("test_resize_downsample_sizes_linear_antialias", "test_shape_start_greater_than_end"),
    *("test_resize_downsample_scales_cubic_A_n0p5_exclude_outside", "test_compress_default_axis"),
    *("test_quantizelinear_blocked_symmetric", "test_quantizelinear_e5m2"),
}
"""Those that reach code which no other test reaches."""
CHECKED = ALONE | IN_MACHINE | EVALUATED | (sample(1, 4) if ROUNDS < 2 else {*CONVERTED})
OPENED_IN, OPENED_EVALUATED = (
    OPENED[first::step] for first, step in ([(0, 1)] * 2 if ROUNDS >= 4 else [(16, 64), (0, 32)])
)
BY_ONNX = ("relu", "gather_0", "top_k_smallest", "clip")
"""Cases that ONNX runs itself."""


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return collect_cases(OMITTED)


def bound(case: Case) -> tuple[Case, Conversion]:
    """Convert the case with as few of its inputs as possible as initializers."""
    count = len(case.data[0][0])
    for first in (min(1, count), 0):
        with_constants = case.with_initializers(first)
        try:
            return with_constants, convert_model(with_constants.model, case.name)
        except OnnxError:
            if first == 0:
                raise
    raise AssertionError("the last try returns or raises")


def leaves(values: Any) -> list[Any]:
    """Return the tensors of values, and the lengths of lists; None is -1."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, list):
            found += [*leaves(value), np.asarray(len(cast("list[Any]", value)))]
        else:
            found.append(np.asarray(-1) if value is None else value)
    return found


def check_numbers(
    case: Case, backend: type[Backend], conversion: Conversion, is_near: bool = False
) -> None:
    """Check that the backend computes the case's outputs from its inputs."""
    assert case.data, "a case without data checks nothing"
    prepared = backend.prepare(case.model, conversion=conversion)
    for inputs, outputs in case.data:
        actual: tuple[Any, ...] = prepared.run(inputs)
        assert len(actual) == len(outputs)
        for a, e in zip(leaves(actual), leaves(outputs), strict=True):
            assert a.shape == e.shape
            assert a.dtype == e.dtype
            wide = a.astype(np.float64), e.astype(np.float64)
            rtol, atol = case.rtol, case.atol
            if is_near and a.dtype.name == "bfloat16":
                rtol = NEAR
            elif is_near:
                atol = NOISE * float(np.abs(e).max(initial=0))
            np.testing.assert_allclose(*wide, rtol, atol)


def check_case(name: str, cases: dict[str, Case]) -> None:
    case = cases[name]
    if KNOWN[name].converts == "bound":
        with pytest.raises(OnnxError, match="computed at run time"):
            convert_model(case.model, name)
        case, conversion = bound(case)
    else:
        conversion = convert_model(case.model, name)
    verify(conversion.module)
    is_near = KNOWN[name].converts != "yes"
    if name in EVALUATED:
        check_numbers(case, Evaluated, conversion, is_near)
    if name in IN_MACHINE:
        check_numbers(case, InMachine, conversion, is_near)


@pytest.mark.parametrize("group", GROUPS)
def test_cases(group: str, cases: dict[str, Case]):
    names = [name for name in GROUPS[group] if name in cases and name in CHECKED]
    if names:
        every("name", names)(check_case)(cases=cases)


@pytest.mark.parametrize("backend", [Evaluated, pytest.param(InMachine, marks=pytest.mark.ci)])
def test_cases_with_open_dims(backend: type[Backend], cases: dict[str, Case]):
    """Every 32nd at level relay, every 64th in the VM, and all with `XRELAY_ROUNDS=4`."""
    sampled = OPENED_EVALUATED if backend is Evaluated else OPENED_IN
    names = [name for name in sampled if name in cases]

    def check_opened(name: str) -> None:
        case = cases[name].opened()
        assert case is not None
        conversion = convert_model(case.model, name)
        check_numbers(case, backend, conversion, KNOWN[name].converts == "near")

    every("name", names)(check_opened)()


def test_all_cases_are_there(cases: dict[str, Case]):
    """But for a few unstable ones that this version of the onnx package may not have."""
    missing = [name for name in CONVERTED if name not in cases and name not in OMITTED]
    assert len(missing) < 0.1 * len(CONVERTED)
    if missing:
        pytest.skip(f"not in this version of onnx: {', '.join(missing)}")


def test_other_cases_are_refused(cases: dict[str, Case]):
    """Cases that a newer `onnx` package adds may convert, if their numbers are right."""
    for case in cases.values():
        if case.name in KNOWN and KNOWN[case.name].converts != "no":
            continue
        try:
            conversion = convert_model(case.model, case.name)
        except OnnxError:
            continue
        assert case.name not in KNOWN
        check_numbers(case, Evaluated, conversion)


def test_onnx_runs_the_cases_itself(cases: dict[str, Case]):
    tests = BackendTest(Backend, __name__).include(f"test_({'|'.join(BY_ONNX)})_cpu")
    done = unittest.TestResult()
    tests.test_suite.run(done)
    assert cases
    assert not done.errors
    assert not done.failures
    assert done.testsRun - len(done.skipped) == 4


# ------------------------------------------------------------------------------ the counts


def counts(known: Mapping[str, Known]) -> str:
    """Return the counts of node cases as a table."""
    nodes = [case for case in known.values() if case.kind != "exported"]
    dense = [case for case in nodes if case.kind == "dense"]
    old = [case for case in dense if 0 < int(case.opset) <= 18]
    rows = [
        "| node cases of ONNX | number | pass | with constants | rounded otherwise | refused "
        "| with open dims | pass |",
        f"|{' --- |' * 8}",
    ]
    for title, group in (
        ("all", nodes),
        ("tensors of NumPy's numbers", dense),
        ("of these, up to opset 18", old),
    ):
        how = [case.converts for case in group]
        as_is = how.count("yes")
        both, near = as_is + how.count("bound"), how.count("near")
        opened = [case.opened for case in group if case.opened != "-"]
        parts = (len(how), as_is, both, near, len(how) - both - near)
        parts = (*parts, len(opened), opened.count("yes"))
        rows.append(f"| {title} | {' | '.join(f'{part:,}' for part in parts)} |")
    return "\n".join(rows) + "\n"


@pytest.mark.ci
def test_the_counts_in_the_docs():
    text = DOCS.read_text(encoding="utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0] == counts(KNOWN), f"run {__file__}"


def converts(case: Case) -> str:
    """Return whether the case converts; raise `AssertionError` if its numbers are wrong."""
    try:
        check_numbers(case, Evaluated, convert_model(case.model, case.name))
    except OnnxError as error:
        if "computed at run time" not in error.message or not case.data:
            return "no"
        try:
            with_constants, conversion = bound(case)
        except OnnxError:
            return "no"
        check_numbers(with_constants, Evaluated, conversion, is_near=True)
        return "bound"
    except AssertionError:
        check_numbers(case, Evaluated, convert_model(case.model, case.name), is_near=True)
        return "near"
    return "yes"


def converts_opened(case: Case, converts: str) -> str:
    """Return whether the case converts with every dim open, and computes the same."""
    opened = case.opened()
    if opened is None or converts not in ("yes", "near"):
        return "-"
    try:
        check_numbers(opened, Evaluated, convert_model(opened.model, case.name), converts == "near")
    except (OnnxError, PassError):
        return "no"
    return "yes"


def main() -> None:
    """Write the file of cases, and the counts in the docs."""
    lines = [
        Known(case.name, case.kind, str(case.opset), how, converts_opened(case, how))
        for case in collect_cases().values()
        for how in (converts(case),)
    ]
    FILE.write_text("".join(f"{' '.join(line)}\n" for line in lines), encoding="utf-8")
    before, _, rest = DOCS.read_text(encoding="utf-8").partition(BEGIN)
    table = counts({line.name: line for line in lines})
    DOCS.write_text(before + BEGIN + table + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
