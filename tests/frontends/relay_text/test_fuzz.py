"""Programs with random changes: they are read, or are errors with a place; nothing hangs."""

import re
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from relay_corpus import PROGRAMS
from relay_programs import DATA, VERSION, context
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.relay_text import RelayTextError, parse_json, parse_module
from xrelay.passes.verifier import verify

MEMORY = (Path(__file__).parent / "programs" / "explicit_memory.relay").read_text()
SEEDS = [
    *(VERSION + program for program in PROGRAMS),
    (DATA / "meta_small.relay").read_text(),
    re.sub(r", virtual_device=meta\[VirtualDevice\]\[\d\]", "", MEMORY),
]
WORD = re.compile(r'\s+|"(?:[^"\\]|\\.)*"|[%@]?[A-Za-z_][\w./]*|%?\d+\w*|.', re.DOTALL)
WORDS = [
    *("(", ")", "{", "}", "[", "]", ",", ";", "=", "=>", "->", "<", "+", "*", "-", ".0", ".7"),
    *("let", "fn", "if", "else", "match", "match?", "def", "type", "ref", "ref_read", "ref_write"),
    *("True", "1", "2f", "-1", "3i64", "1e999f", "99999999999999999999", '"a"', "axis=1"),
    *("%x", "%0", "%1", "@main", "@map", "add", "split", "concatenate", "reshape", "Cons", "Nil"),
    *("memory.alloc_storage", "memory.alloc_tensor", "memory.kill", "vm.invoke_tvm_op", "%t"),
    *("vm.reshape_tensor", "vm.shape_of", "call_lowered", "Primitive=1", "%f", "?", "'a'"),
    *("_", "float32", "Tensor[(4), float32]", "List[int32]", "meta[relay.Constant][0]", "/*", '"'),
]
SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def error_in(read: Callable[[], ModuleOp]) -> RelayTextError | None:
    """The error that `read` ends in; without one, the module is valid and can be printed."""
    try:
        module = read()
    except RelayTextError as error:
        return error
    verify(module)
    str(module)
    return None


def require_a_place(text: str) -> None:
    """`text` is a valid module, or an error inside of it."""
    error = error_in(lambda: parse_module(context(), text, "fuzz.relay"))
    if error is not None:
        assert error.message
        assert 1 <= error.location.line.data <= text.count("\n") + 1
        assert error.location.column.data >= 1


@given(st.data())
@SETTINGS
def test_changed_words(data: st.DataObject) -> None:
    words = WORD.findall(data.draw(st.sampled_from(SEEDS)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        match data.draw(st.sampled_from(("drop", "replace", "insert", "swap", "repeat"))):
            case "drop":
                words[at] = ""
            case "replace":
                words[at] = data.draw(st.sampled_from([*WORDS, *words[:200]]))
            case "insert":
                words.insert(at, data.draw(st.sampled_from(WORDS)) + " ")
            case "swap":
                other = data.draw(st.integers(0, len(words) - 1))
                words[at], words[other] = words[other], words[at]
            case _:
                words[at:at] = words[at : at + data.draw(st.integers(1, 12))]
    require_a_place("".join(words))


@given(st.sampled_from(SEEDS), st.data())
@SETTINGS
def test_changed_characters(seed: str, data: st.DataObject) -> None:
    characters = list(seed)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(characters) - 1))
        characters[at] = data.draw(st.characters(codec="utf-8"))
    require_a_place("".join(characters))


@given(st.text(alphabet='%@()[]{}<>;:,.=+-*/ \n"#letfnifmach01x_', max_size=60))
@SETTINGS
def test_any_text(text: str) -> None:
    require_a_place(text)
    require_a_place(VERSION + text)


@given(st.data())
@SETTINGS
def test_changed_json(data: st.DataObject) -> None:
    text = (DATA / data.draw(st.sampled_from(("meta_small.json", "generics.json")))).read_text()
    numbers = list(re.finditer(r'"\d+"|\d+(?=[,\]])', text))
    for _ in range(data.draw(st.integers(1, 3))):
        found = numbers[data.draw(st.integers(0, len(numbers) - 1))]
        other = numbers[data.draw(st.integers(0, len(numbers) - 1))]
        digits = other[0].strip('"')
        new = f'"{digits}"' if found[0].startswith('"') else digits
        if len(new) == found.end() - found.start():
            text = text[: found.start()] + new + text[found.end() :]
    error = error_in(lambda: parse_json(context(), text, "fuzz.json"))
    assert error is None or error.message
