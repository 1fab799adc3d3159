"""
Generate tokens with a decoder-only ONNX model and a KV cache: each is the likeliest one.

    python examples/generate.py decoder.onnx 3 1 4 1 5 --count 16

The model maps tokens (1, n), and keys and values (1, heads, past, depth) of each layer, to logits
(1, n, vocabulary), and to the keys and values of all `past + n` tokens, in the same order.
The model is compiled once, for all lengths, and a call with a new length takes no longer than a
repeated one.
"""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import xrelay


def generate(model: xrelay.Executable, prompt: Sequence[int], count: int) -> Iterator[int]:
    """Yield the `count` tokens that follow those of `prompt`."""
    tokens, *caches = model.inputs
    logits: Any = model.outputs[0]
    # The cache is ours: a buffer for the longest text, of which each call reads the first `past`
    # rows, and writes those and the new ones.
    buffers: list[Any] = []
    cache: Any
    for cache in caches:
        _, heads, _, depth = cache.shape
        buffers.append(np.zeros((1, heads, len(prompt) + count, depth), cache.dtype))
    new, past = list(prompt), 0
    for _ in range(count):
        total = past + len(new)
        scores: Any = np.empty((1, len(new), logits.shape[-1]), logits.dtype)
        model(
            np.array([new], tokens.dtype),
            *(buffer[:, :, :past] for buffer in buffers),
            out=(scores, *(buffer[:, :, :total] for buffer in buffers)),
        )
        new, past = [int(scores[0, -1].argmax())], total
        yield new[0]


def main() -> None:
    parser = ArgumentParser(description="Generate tokens with a decoder-only ONNX model.")
    parser.add_argument("model", help="the ONNX file")
    parser.add_argument("prompt", type=int, nargs="+", help="the first tokens")
    parser.add_argument("--count", type=int, default=16, help="how many tokens follow")
    args = parser.parse_args()
    model = xrelay.compile(args.model)
    print(*generate(model, args.prompt, args.count))


if __name__ == "__main__":
    main()
