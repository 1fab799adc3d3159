"""
Generate tokens with a decoder-only ONNX model and a KV cache: each is the likeliest one.

    python examples/generate.py decoder.onnx 3 1 4 1 5 --count 16

The model maps tokens (1, n), and keys and values (1, heads, past, depth) of each layer, to logits
(1, n, vocabulary), and to the keys and values of all `past + n` tokens, in the same order.
The model is compiled once, for all lengths, and a call with a new length takes no longer than a
repeated one. `caches` puts the rows of the cache, one a token, outermost.
"""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import xrelay


def generate(model: xrelay.Executable, prompt: Sequence[int], count: int) -> Iterator[int]:
    """Yield the `count` tokens that follow those of `prompt`."""
    tokens, *caches = model.inputs
    # The cache is ours: a buffer for the longest text. A call gets its first rows, and returns more
    # rows of the same memory; none is copied.
    past: list[Any] = []
    cache: Any
    for cache in caches:
        past.append(np.empty((len(prompt) + count, *cache.shape[1:]), cache.dtype)[:0])
    new = list(prompt)
    for _ in range(count):
        scores, *past = model(np.array([new], tokens.dtype), *past)
        new = [int(scores[0, -1].argmax())]
        yield new[0]


def main() -> None:
    parser = ArgumentParser(description="Generate tokens with a decoder-only ONNX model.")
    parser.add_argument("model", help="the ONNX file")
    parser.add_argument("prompt", type=int, nargs="+", help="the first tokens")
    parser.add_argument("--count", type=int, default=16, help="how many tokens follow")
    args = parser.parse_args()
    rows = len(args.prompt) + args.count
    model = xrelay.compile(args.model, pipeline=f'vm{{caches="*={rows}"}}')
    print(*generate(model, args.prompt, args.count))


if __name__ == "__main__":
    main()
