"""Whole programs as linalg, compiled by upstream passes, against onnxruntime and the machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from random import Random
from textwrap import dedent
from typing import Any, cast

import numpy as np
import pytest
from helpers.machine.in_machine import compiled as machine_program
from helpers.machine.in_machine import machine_of
from helpers.native.linalg_programs import compiled
from helpers.processes.forked_commands import with_commands
from helpers.programs.programs import parse
from helpers.programs.programs_with_calls import ProgramWithCalls
from helpers.relay.relay_programs import read
from test_dynamic_models import HIDDEN, INPUTS, lstm_model, run_onnxruntime

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SEEDS = range(8)


def flat(value: Any) -> list[Any]:
    """Return the arrays in the result of a run."""
    if isinstance(value, tuple | list):
        return [leaf for field in cast("tuple[Any, ...]", value) for leaf in flat(field)]
    return [value]


@pytest.mark.ci
def test_random_programs_of_calls_and_branches(tmp_path: Path):
    texts = [ProgramWithCalls(Random(seed), is_open=seed % 2 == 1).text for seed in SEEDS]
    programs = compiled([parse(text) for text in texts], tmp_path)
    random = np.random.default_rng(0)
    for number, text in enumerate(texts):
        machine = machine_of(machine_program(parse(text)))
        rows = 8 if number % 2 == 0 else 5
        for condition in (True, False):
            x, y = (random.standard_normal((rows, 4), dtype=np.float32) for _ in range(2))
            inputs = [x, y, np.array(condition)]
            expected = flat(machine.run("main", *inputs))
            found = programs.run(number, inputs)
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6, err_msg=text)


@pytest.mark.ci
def test_relay_text(tmp_path: Path):
    """Recursion over a tensor against onnxruntime; closures and tuples against their formulas."""
    lstm = read((EXAMPLES / "lstm.relay").read_text())
    closures = read((EXAMPLES / "closures.relay").read_text())
    tuples = read(
        """
        def @pick[A](%c: bool, %t: (A, A)) { if (%c) { %t.0 } else { %t.1 } }
        def @main(%c: bool, %x: (Tensor[(?), float32], Tensor[(2), uint8]), %y: float32) {
          let %f = fn (%a: Tensor[(2), uint8]) { divide(%a, cast(3, dtype="uint8")) };
          let %p = (%x.0 + %y, %x.0);
          (@pick(%c, %p), %f(%x.1), less(%x.0, %y))
        }
        """
    )
    programs = compiled([lstm, closures, tuples], tmp_path)
    random = np.random.default_rng(2)

    def normal(*shape: int) -> Any:
        return random.standard_normal(shape, dtype=np.float32)

    w, r, b = normal(16, 3), normal(16, 4), normal(16)
    for sequence, batch in ((1, 1), (7, 2), (20, 3)):
        x, h, c = normal(sequence, batch, INPUTS), normal(batch, HIDDEN), normal(batch, HIDDEN)
        feeds = {"x": x, "w": w[None], "r": r[None], "h": h[None], "c": c[None]}
        feeds["b"] = np.concatenate([b, np.zeros_like(b)])[None]
        ys, hn, cn = run_onnxruntime(lstm_model(), feeds)
        found = programs.run(0, [x, h, c, w, r, b])
        for got, expected in zip(found, [ys[:, 0], hn[0], cn[0]], strict=True):
            np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)
    x, y = normal(5, 7), normal(5, 7)
    np.testing.assert_allclose(programs.run(1, [x, y])[0], x - (-y + x), rtol=1e-6, atol=1e-6)
    x, n, y = normal(3), np.array([250, 7], np.uint8), np.float32(0.25)
    for condition in (False, True):
        inputs = [np.array(condition), x, n, np.array(y)]
        picked, divided, smaller = programs.run(2, inputs)
        np.testing.assert_allclose(picked, x + y if condition else x, rtol=1e-6)
        np.testing.assert_array_equal(divided, np.array([83, 2], np.uint8))
        np.testing.assert_array_equal(smaller != 0, x < y)


def test_sizes_that_must_be_equal_are_checked(tmp_path: Path):
    """The process is aborted with the check's message; sizes that are equal pass."""
    script = f"""
        import sys
        sys.path.insert(0, {str(EXAMPLES.parent / "tests")!r})
        from pathlib import Path
        import numpy as np
        from helpers.native.linalg_programs import compiled
        from helpers.programs.programs import parse
        text = '''
          func.func @main(%x: tensor<?xf32> {{relay.dims = ["n"]}},
                          %y: tensor<?xf32> {{relay.dims = ["n"]}}) -> tensor<?xf32> {{
            %0 = relay.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
            func.return %0 : tensor<?xf32>
          }}'''
        programs = compiled([parse(text)], Path({str(tmp_path)!r}))
        for rows in (3, 2):
            x, y = np.ones(3, np.float32), np.ones(rows, np.float32)
            print(programs.run(0, [x, y]), flush=True)
    """
    command, environment = ["python", "-c", dedent(script)], with_commands(os.environ)
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ran.returncode > 128, ran.stderr  # a signal
    assert ran.stdout.count("2., 2., 2.") == 1, ran.stderr
    assert "dim 0 (n) of 'y' must be equal to dim 0 (n) of 'x'" in ran.stdout + ran.stderr
