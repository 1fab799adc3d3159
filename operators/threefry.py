"""Rules of counter-based random numbers: a generator is 10 words, and is never changed."""

from collections.abc import Sequence
from typing import Annotated

from .operands import require_rank
from .rules import AtLeast, Ints, rule
from .signature import ELEMENTS, Tensor, ranked
from .sizes import SignatureError, require_equal

WORDS = 10
"""The words of a generator."""
UINT64 = ELEMENTS["uint64"]


def _require_generator(gen: Tensor) -> None:
    require_rank(gen, 1, "gen")
    if gen.element is not UINT64:
        raise SignatureError(f"gen must have {UINT64} elements, but has {gen.element}")
    require_equal(gen.dims[0], WORDS, "gen must have {1} elements, but has {0}")


@rule("relay.random.threefry_generate")
def threefry_generate(gen: Tensor, *, out_shape: Annotated[Ints, AtLeast(0)]) -> Sequence[Tensor]:
    """Infer the next generator, and words of `out_shape`."""
    _require_generator(gen)
    return gen, ranked(UINT64, out_shape)


@rule("relay.random.threefry_split")
def threefry_split(gen: Tensor) -> Sequence[Tensor]:
    """Infer two generators."""
    _require_generator(gen)
    return gen, gen
