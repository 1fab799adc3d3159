"""Long programs are read iteratively rather than recursively."""

import pytest
from helpers.relay.relay_programs import read

COUNT = 2000


def bindings(count: int) -> str:
    steps = [f"%{i} = add(%{i - 1}, %x);" for i in range(1, count)]
    return "\n".join(["%0 = add(%x, %x);", *steps, f"%{count - 1}"])


def lets(count: int) -> str:
    steps = [f"let %v{i} = add(%v{i - 1}, %x);" for i in range(1, count)]
    return "\n".join(["let %v0 = add(%x, %x);", *steps, f"%v{count - 1}"])


def infix(count: int) -> str:
    return " + ".join(["%x"] * (count + 1))


def sequence(count: int) -> str:
    return "%x + %x; " * (count - 1) + "%x + %x"


def backwards(count: int) -> str:
    """One call uses all bindings, the first of them last."""
    steps = [f"%{i} = add(%x, %x);" for i in range(count - 1)]
    uses = ", ".join(f"%{i}" for i in reversed(range(count - 1)))
    return "\n".join([*steps, f"concatenate(({uses}))"])


@pytest.mark.ci
@pytest.mark.parametrize("make", [bindings, lets, infix, sequence, backwards])
def test_many(make: object) -> None:
    assert callable(make)
    module = read(f"def @main(%x: Tensor[(4), float32]) {{ {make(COUNT)} }}")
    found = sum(op.name in ("relay.add", "relay.concatenate") for op in module.walk())
    assert found == COUNT
