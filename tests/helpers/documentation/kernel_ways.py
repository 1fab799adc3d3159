"""
The ways of two kernels in `docs/native.md`: the IR after each pass of `kernels` that changes them.

    text = with_ways(text)         between the marks, the dumps of a convolution and a dense layer
"""

from __future__ import annotations

from collections.abc import Iterator

from helpers.machine.in_machine import run_passes
from helpers.programs.programs import parse
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.lowering.native.kernel_pass import kernels_of
from xrelay.lowering.native.kernel_pipeline import kernel_passes
from xrelay.lowering.native.schedules import steps_of
from xrelay.lowering.native.schedules.scheduling import library_of, text_of
from xrelay.lowering.native.toolchain.processes import run
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.lowering.native.toolchain.tool_paths import tool

BEGIN, END = "<!-- The ways of two kernels: begin -->\n", "<!-- end -->\n"

PROGRAMS = {
    "A convolution, a bias and an activation": (
        "conv2d",
        """
func.func @main(%x: tensor<1x8x8x8xf32>, %w: tensor<3x3x8x16xf32>, %b: tensor<16xf32>)
    -> tensor<1x6x6x16xf32> {
  %c = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
      : (tensor<1x8x8x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x6x6x16xf32>
  %s = relay.add %c, %b : (tensor<1x6x6x16xf32>, tensor<16xf32>) -> tensor<1x6x6x16xf32>
  %y = relay.nn.relu %s : (tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  func.return %y : tensor<1x6x6x16xf32>
}""",
    ),
    "A dense layer": (
        "dense",
        """
func.func @main(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>) -> tensor<8x32xf32> {
  %y = relay.nn.dense %x, %w : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
  func.return %y : tensor<8x32xf32>
}""",
    ),
}
"""By title, a word in the name of the kernel, and the program."""

MACHINE = Machine(cpu="x86-64-v3")


def with_ways(page: str) -> str:
    """Return `page` with the ways as they are now."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, "the page has no mark for the ways"
    assert end, "the ways have no end"
    return f"{before}{BEGIN}{''.join(ways())}{END}{after}"


def ways() -> Iterator[str]:
    """Yield the dumps of each program."""
    for title, (word, program) in PROGRAMS.items():
        module = parse(program)
        run_passes(module, "aot{prefix=p}")
        yield f"### {title}\n\nBefore:\n\n{_fenced(_text(module, word))}"
        for step in kernel_passes(MACHINE):
            before = _text(module, word)
            run_passes(module, str(step.pipeline_pass_spec()))
            if (text := _text(module, word)) != before:
                yield f"After `{step.name}`:\n\n{_fenced(_changed(text, before))}"
        schedule = steps_of(_kernel(module, word))
        assert schedule is not None, "the kernels of the page have schedules"
        text = text_of(library_of({"kernel": schedule})).encode()
        steps = run("mlir-opt", [tool("mlir-opt")], text).output.decode()
        yield f"Its schedule, which includes sequences of `common_steps.mlir`:\n\n{_fenced(steps)}"


def _changed(text: str, before: str) -> str:
    """Return `text`, or only its first line if the others are as they were."""
    (head, _, body), (_, _, old) = text.partition("\n"), before.partition("\n")
    return f"{head} … }}" if body == old else text


def _kernel(module: ModuleOp, word: str) -> FuncOp:
    (kernel,) = (k for k in kernels_of(module) if word in k.sym_name.data)
    return kernel


def _text(module: ModuleOp, word: str) -> str:
    return str(_kernel(module, word))


def _fenced(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.strip().split("\n"))
    return f"```mlir\n{lines}\n```\n\n"
