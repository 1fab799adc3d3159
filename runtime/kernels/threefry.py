"""
Random numbers by Threefry-4x64 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3").

A generator is, as in TVM, words of key (0 to 3), path (4, 5), counter (6, 7), and the bit of the
path that is next (8, 9); no bit if the path is full. A block differs from the paper's as TVM's code
does: all words count up, a mix adds `b` to `a` twice, and no key is added after the last round.
"""

from collections.abc import Sequence

import numpy as np

from .bind import Array, Attrs, Bind, Thunk

_ROUNDS = 20
_ROTATIONS = ((14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32))
_PARITY = np.uint64(0x1BD11BDAA9FC1A22)
_TOP = np.uint64(1 << 63)
_LAST = np.uint64(2**64 - 1)


def _encrypted(key: Array, block: Array, count: int) -> Array:
    """Encrypt `count` blocks of 4 words: `block`, of which all words count up."""
    words = block[:, None] + np.arange(count, dtype=np.uint64)
    keys = np.append(key, np.bitwise_xor.reduce(key) ^ _PARITY)

    def add_key(number: int) -> None:
        for i in range(4):
            words[i] += keys[(number + i) % 5]
        words[3] += np.uint64(number)

    for i in range(_ROUNDS):
        if i % 4 == 0:
            add_key(i // 4)
        for pair, rotation in zip((0, 2), _ROTATIONS[i % 8], strict=True):
            a, b = words[pair], words[pair + 1]
            a += b
            b[:] = (b << np.uint64(rotation) | b >> np.uint64(64 - rotation)) ^ (a + b)
        words[[1, 3]] = words[[3, 1]]
    return words.T


def _next_bit(generator: Array) -> None:
    """Move the bit that is next in the path by one place."""
    high, low = generator[8], generator[9]
    generator[8:] = high >> np.uint64(1), low >> np.uint64(1) | (_TOP if high == 1 else 0)


def threefry_generate(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Encrypt as many counters as needed; before one wraps around, extend the path or renew it."""
    (gen,), (next_gen, y) = ins, outs
    whole = y.size // 4
    end = np.uint64(4 * whole)

    def generate() -> None:
        state = gen.copy()
        if state[7] >= _LAST - np.uint64(y.size):
            if state[8:].any():
                state[4:6] |= state[8:]
                _next_bit(state)
            else:
                state[:4] = _encrypted(state[:4], np.full(4, _LAST), 1)
                state[4:] = 0
                state[8] = _TOP
            state[6:8] = 0
        words = _encrypted(state[:4], state[4:8], whole)
        state[7] += end
        if y.size > end:  # a part of another block
            words = np.append(words, _encrypted(state[:4], state[4:8], 1))
            state[7] += np.uint64(4)
        np.copyto(y, words.flat[: y.size].reshape(y.shape))
        np.copyto(next_gen, state)

    return generate


def threefry_split(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Extend the path by 0 and by 1; a full path and the counter are encrypted to a new key."""
    (gen,), (left, right) = ins, outs

    def split() -> None:
        state = gen.copy()
        bit = state[8:].copy()
        if bit.any():
            _next_bit(state)
        else:
            state[:4] = _encrypted(state[:4], state[4:8], 1)
            state[4:] = 0
            bit[:], state[8] = (_TOP, 0), _TOP >> np.uint64(1)
        np.copyto(left, state)
        state[4:6] |= bit
        np.copyto(right, state)

    return split


KERNELS: dict[str, Bind] = {
    "relay.random.threefry_generate": threefry_generate,
    "relay.random.threefry_split": threefry_split,
}
