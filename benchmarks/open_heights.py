"""
Plan a small detector of any height in stripes, and compare with the whole at several heights.

    python benchmarks/open_heights.py [--width 160 | --widths 64,160,257]

`whole` and `tiled` are planned bytes of programs for one height, `open` those of the one program
for all heights, without its result, which has memory of its own. With `--widths`, the one program
is for all widths, too: the planned bytes of the whole and of the program in stripes at each.
"""

import re
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import xrelay
from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.memory_report.model import FunctionUse
from xrelay.passes.memory_report.read import memory_of

STEPS = [(16, 2), (16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (64, 2), (6, 1)]
"""The channels and strides of convolutions of 3x3."""
HEIGHTS = (96, 160, 173, 320, 512)


def detector(width: int) -> str:
    """Return a network in NHWC; the result of the fourth convolution is added to its operand."""
    channels, value, lines = 3, "%x", list[str]()
    weights: list[str] = []
    of = f"tensor<1x?x{width}x3xf32>"
    image = of
    for at, (filters, stride) in enumerate(STEPS):
        width = (width - 1) // stride + 1
        kernel, to = f"tensor<3x3x{channels}x{filters}xf32>", f"tensor<1x?x{width}x{filters}xf32>"
        weights.append(f"%w{at}: {kernel}")
        lines += [
            f'%c{at} = relay.nn.conv2d {value}, %w{at} {{data_layout = "NHWC", '
            f'kernel_layout = "HWIO", strides = array<i64: {stride}, {stride}>, '
            f"padding = array<i64: 1, 1, 1, 1>}} : ({of}, {kernel}) -> {to}",
            f"%r{at} = relay.nn.relu %c{at} : ({to}) -> {to}",
        ]
        if at == 3:
            lines.append(f"%s = relay.add {value}, %r{at} : ({to}, {to}) -> {to}")
        value, of, channels = "%s" if at == 3 else f"%r{at}", to, filters
    dims = image.removeprefix("tensor<").split("x")
    named = f'{{relay.dims = [1, "h", {dims[2]}, 3]}}'
    signature = ", ".join([f"%x: {image} {named}", *weights])
    body = "\n".join([*lines, f"func.return {value} : {of}"])
    return f"func.func @main({signature}) -> {of} {{\n{body}\n}}"


def widened(text: str, width: int) -> str:
    """Return a detector whose images have any width."""
    text = re.sub(r"tensor<1x\?x\d+x", "tensor<1x?x?x", text)
    return text.replace(f'[1, "h", {width}, 3]', '[1, "h", "w", 3]')


def formulas(path: Path, work: float | None) -> FunctionUse:
    """Return the memory that a program of open dims uses."""
    passes = VmPipeline(kernels="native", work=work).text
    module = xrelay.run_pipeline(xrelay.parse(path), passes.partition(",expand-packs")[0])
    (use,) = memory_of(module).functions
    return use


def arenas(use: FunctionUse, height: int, width: int) -> int:
    """Return the bytes of what is not a result."""
    sizes = use.formulas.evaluate([{1: height, 2: width}[v.axis] for v in use.formulas.variables])
    return sum(sizes[storage.size] for storage in use.storages if not storage.outlives)


def compare_widths(path: Path, widths: Sequence[int]) -> None:
    whole, tiled = formulas(path, None), formulas(path, 1.0)
    print(f"| height | {' | '.join(f'{width} wide' for width in widths)} |")
    print("|---" * (len(widths) + 1) + "|")
    for height in HEIGHTS:
        each = [(arenas(whole, height, width), arenas(tiled, height, width)) for width in widths]
        cells = " | ".join(f"{of_whole:,} → {of_tiled:,}" for of_whole, of_tiled in each)
        print(f"| {height} | {cells} |", flush=True)


def planned(path: Path, *passes: str) -> Iterator[int]:
    """Yield the bytes of the arenas of a program."""
    module = xrelay.run_pipeline(xrelay.parse(path), ",".join(passes))
    for line in str(module).splitlines():
        size = line.split("bytecode.alloc_storage ")[1:]
        if size and (number := size[0].split(",")[1].split()[0]).isdigit():
            yield int(number)


def compare(path: Path) -> None:
    every = sum(planned(path, "vm{kernels=native work=1.0}"))
    print("| height | whole | tiled | open |\n|---|---|---|---|")
    for height in HEIGHTS:
        bound = f'bind-dims{{dims="h={height}"}}'
        whole = sum(planned(path, bound, "infer-types", "vm{kernels=native}"))
        tiled = sum(planned(path, bound, "infer-types", "vm{kernels=native work=1.0}"))
        print(f"| {height} | {whole:,} | {tiled:,} | {every:,} |", flush=True)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=160)
    parser.add_argument("--widths", help="widths at which a program for all of them is planned")
    options = parser.parse_args()
    text = detector(options.width)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "detector.mlir"
        path.write_text(widened(text, options.width) if options.widths else text)
        if options.widths:
            compare_widths(path, [int(width) for width in options.widths.split(",")])
        else:
            compare(path)


if __name__ == "__main__":
    main()
