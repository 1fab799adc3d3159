"""
Plan a small detector of any height in stripes, and compare with the whole at several heights.

    python benchmarks/open_heights.py [--width 160]

`whole` and `tiled` are planned bytes of programs for one height, `open` those of the one program
for all heights, without its result, which has memory of its own.
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import xrelay

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
    text = detector(parser.parse_args().width)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "detector.mlir"
        path.write_text(text)
        compare(path)


if __name__ == "__main__":
    main()
