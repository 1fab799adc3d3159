"""
Generate problems that resemble neural networks, of any size, from a seed.

Times are operator indices. A tensor lives from the operator that produces it to its last
reader. Sizes are drawn from the few shapes that a model repeats, so equal sizes are as
common as in real networks.
"""

from collections.abc import Callable

import numpy as np

from xrelay.planning import Problem


class Net:
    """The tensors of a network under construction."""

    def __init__(self) -> None:
        self.now = 0
        self.births: list[int] = []
        self.deaths: list[int] = []
        self.sizes: list[int] = []

    def op(self, size: int, *reads: int) -> int:
        """Add an operator that reads tensors and produces one of `size` bytes; return its index."""
        for tensor in reads:
            self.deaths[tensor] = self.now + 1
        self.births.append(self.now)
        self.deaths.append(self.now + 1)
        self.sizes.append(size)
        self.now += 1
        return len(self.sizes) - 1

    def problem(self, n: int) -> Problem:
        return Problem.of(
            np.array(self.births[:n]), np.array(self.deaths[:n]), np.array(self.sizes[:n])
        )


def chain_with_skips(n: int, seed: int = 0) -> Problem:
    """Generate convolution blocks with residual connections; resolution and width vary."""
    rng, net = np.random.default_rng(seed), Net()
    width = int(rng.integers(1, 9)) * 4096
    x = net.op(width)
    while len(net.sizes) < n:
        if rng.random() < 0.1:
            width = int(rng.integers(1, 33)) * 4096
            x = net.op(width, x)
        skip, inner = x, width * int(rng.choice([1, 1, 2, 4]))
        for _ in range(int(rng.integers(1, 6))):
            x = net.op(inner, x)
        x = net.op(width, x)
        x = net.op(width, x, skip)
    return net.problem(n)


def attention_blocks(n: int, seed: int = 0) -> Problem:
    """Generate transformer layers: q, k, v, scores, context, feed-forward; sizes vary."""
    rng, net = np.random.default_rng(seed), Net()
    tokens, hidden, heads = 128, 256, 8
    x = net.op(tokens * hidden * 4)
    while len(net.sizes) < n:
        if rng.random() < 0.05:
            tokens = int(rng.integers(4, 65)) * 8
            x = net.op(tokens * hidden * 4, x)
        base = tokens * hidden * 4
        norm = net.op(base, x)
        q, k, v = (net.op(base, norm) for _ in range(3))
        q, k, v = net.op(base, q), net.op(base, k), net.op(base, v)
        scores = net.op(heads * tokens * tokens * 4, q, k)
        top = net.op(heads * tokens * 4, scores)
        scores = net.op(heads * tokens * tokens * 4, scores, top)
        context = net.op(base, scores, v)
        x = net.op(base, net.op(base, context), x)
        inner = net.op(4 * base, net.op(base, x))
        x = net.op(base, net.op(base, net.op(4 * base, inner)), x)
    return net.problem(n)


def encoder_decoder(n: int, seed: int = 0) -> Problem:
    """Generate a series of U-nets: skips from each level down to its counterpart."""
    rng, net = np.random.default_rng(seed), Net()
    x = net.op(1 << 16)
    while len(net.sizes) < n:
        size, levels, skips = int(rng.integers(8, 65)) * 8192, int(rng.integers(2, 7)), []
        for level in range(levels):
            for _ in range(int(rng.integers(1, 4))):
                x = net.op(size >> level, x)
            skips.append(x)
            x = net.op(size >> (level + 1), x)
        for level in reversed(range(levels)):
            x = net.op(size >> level, x)
            x = net.op((size >> level) * 2, x, skips.pop())
            for _ in range(int(rng.integers(1, 4))):
                x = net.op(size >> level, x)
    return net.problem(n)


def training(n: int, seed: int = 0) -> Problem:
    """Generate forward and backward passes: activations live until their gradient is computed."""
    rng, net = np.random.default_rng(seed), Net()
    saved: list[tuple[int, int]] = []
    size = 1 << 16
    x = net.op(size)
    while len(net.sizes) * 2.5 < n:
        if rng.random() < 0.1:
            size = int(rng.integers(1, 33)) * 8192
        temporary = net.op(size * int(rng.choice([1, 2, 4])), x)
        if rng.random() < 0.3:
            temporary = net.op(size, temporary)
        saved.append((x, temporary if rng.random() < 0.5 else x))
        x = net.op(size, temporary)
    gradient = net.op(net.sizes[x], x)
    while len(net.sizes) < n and saved:
        before, inner = saved.pop()
        step = net.op(net.sizes[inner], gradient, inner)
        weight = net.op(int(rng.integers(1, 9)) * 16384, gradient, before)
        net.op(64, weight)
        gradient = net.op(net.sizes[before], step, before)
    return net.problem(n)


def busy_training(n: int, seed: int = 0) -> Problem:
    """Generate forward and backward passes with many temporaries: hundreds are alive together."""
    rng, half = np.random.default_rng(seed), n // 2
    sizes = np.array([5120, 10240, 640, 8192, 4, 400, 2560, 320, 1600, 1]) * 4096
    now = np.arange(2 * half)
    shares = [0.2, 0.3, 0.2, 0.1, 0.1, 0.05, 0.05]
    until = now + 1 + rng.choice([2, 3, 4, 6, 10, 30, 60], 2 * half, p=shares)
    saved = (now < half) & (now % 10 == 3)
    until[saved] = 2 * half - now[saved] + rng.integers(-30, 30, saved.sum())
    until[now % 30 == 9] = 2 * half + 30  # gradients of parameters
    size = rng.choice(sizes, 2 * half)
    size[saved] = rng.choice(sizes[[5, 8, 6, 7]], saved.sum())
    return Problem.of(now, np.clip(until, now + 1, 2 * half + 30), size)


def encoder(layers: int = 12, hidden: int = 768, heads: int = 12) -> Callable[[int], Problem]:
    """
    Build a transformer encoder, and return its buffers as a function of the sequence length.

    Lifetimes do not depend on the length n; sizes do: 4 * hidden * n bytes for a row of
    activations, 4 * heads * n * n for scores, 16 * hidden * n within the feed-forward part.
    17 buffers per layer, and the input.
    """
    rows, scores, wide = (4 * hidden, 0), (0, 4 * heads), (16 * hidden, 0)
    net, sizes = Net(), list[tuple[int, int]]()

    def op(size: tuple[int, int], *reads: int) -> int:
        sizes.append(size)
        return net.op(0, *reads)

    x = op(rows)
    for _ in range(layers):
        q, k, v = op(rows, x), op(rows, x), op(rows, x)
        q, k, v = op(rows, q), op(rows, k), op(rows, v)  # split into heads
        weights = op(scores, op(scores, q, k))
        context = op(rows, op(rows, weights, v))  # and heads joined
        attended = op(rows, op(rows, op(rows, context), x))
        inner = op(wide, op(wide, attended))
        x = op(rows, op(rows, inner), attended)
    births, deaths = np.array(net.births), np.array(net.deaths)

    def at(n: int) -> Problem:
        return Problem.of(births, deaths, [a * n + b * n * n for a, b in sizes])

    return at


NETS: dict[str, Callable[[int, int], Problem]] = {
    "chain with skips": chain_with_skips,
    "attention blocks": attention_blocks,
    "encoder-decoder": encoder_decoder,
    "training": training,
    "busy training": busy_training,
}
