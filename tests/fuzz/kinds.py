"""The kinds of input, each with its seeds, its mutator and its check."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random

from onnx import ModelProto

from . import checks, executables, seeds, structures
from .mutate import TOKEN, mutate_bytes, mutate_text

Mutate = Callable[[Random, bytes, bytes], bytes]


@dataclass(frozen=True)
class Kind:
    """
    A kind of input.

    `check` returns whether a file is accepted, or raises `FindingError`. `reduced` yields smaller
    inputs to try, the smallest first. `command` reproduces a finding.
    """

    name: str
    extension: str
    command: str
    seeds: Callable[[], list[bytes]]
    mutate: Mutate
    check: Callable[[Path], bool]
    reduced: Callable[[bytes], Iterator[bytes]]

    @cache
    def all_seeds(self) -> list[bytes]:
        """The seeds, computed once."""
        return self.seeds()

    def mutant(self, random: Random) -> bytes:
        """A mutant of one of the seeds."""
        return self.mutate(random, random.choice(self.all_seeds()), random.choice(self.all_seeds()))


def _text(random: Random, data: bytes, other: bytes, words: Sequence[str] = ()) -> bytes:
    if random.randrange(40) == 0:
        return mutate_bytes(random, data, other)
    text = mutate_text(random, data.decode(), other.decode(), words)
    return text.encode("utf-8", "surrogatepass")


def _program(random: Random, data: bytes, other: bytes) -> bytes:
    text = data.decode()
    edits = structures.mutate_fields(random, checks.program_of(text))
    return "\n".join([text, *(json.dumps(edit) for edit in edits)]).encode()


def _cuts(pieces: list[str] | list[bytes], count: int) -> Iterator[tuple[int, int]]:
    """Ranges to remove, the longest first."""
    size = count
    while size:
        yield from ((at, at + size) for at in range(0, count, size))
        size //= 2


def _smaller_text(data: bytes) -> Iterator[bytes]:
    """Yield `data` without some lines, then without some tokens."""
    text = data.decode("utf-8", "surrogateescape")
    for pieces in (text.splitlines(keepends=True), TOKEN.findall(text)):
        for start, stop in _cuts(pieces, len(pieces)):
            yield "".join(pieces[:start] + pieces[stop:]).encode("utf-8", "surrogateescape")


def _smaller_program(data: bytes) -> Iterator[bytes]:
    file, *lines = data.splitlines()
    for start, stop in _cuts(lines, len(lines)):
        yield b"\n".join([file, *lines[:start], *lines[stop:]])


def _smaller_bytes(data: bytes) -> Iterator[bytes]:
    for start, stop in _cuts([], len(data)):
        yield data[:start] + data[stop:]


def _smaller_model(data: bytes) -> Iterator[bytes]:
    """Yield a model without one of its fields or elements."""
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except Exception:
        yield from _smaller_bytes(data)
        return
    for where, message in enumerate(structures.messages(model)):
        for field, value in message.ListFields():
            for element in range(len(value)) if field.is_repeated else (None,):
                copy = ModelProto()
                copy.CopyFrom(model)
                target = structures.messages(copy)[where]
                if element is None:
                    target.ClearField(field.name)
                else:
                    del getattr(target, field.name)[element]
                yield copy.SerializeToString()


_PRINT = "xrelay-opt FILE | xrelay-opt"
_RUN = "xrelay-run FILE --random-seed 0 [--evaluate]"
_ALONE = "python tests/fuzz --kind {} --input FILE"


def _ir(level: str) -> Kind:
    made = partial(seeds.ir_seeds, level)
    command = f"{_PRINT}; {_RUN}"
    return Kind(f"ir-{level}", "mlir", command, made, _text, checks.check_ir, _smaller_text)


KINDS = {
    kind.name: kind
    for kind in (
        *(_ir(level) for level in seeds.LEVELS),
        Kind(
            "relay-text",
            "relay",
            f"xrelay-opt FILE -t relay-text; {_RUN}",
            seeds.relay_text_seeds,
            partial(_text, words=seeds.RELAY_WORDS),
            checks.check_relay_text,
            _smaller_text,
        ),
        Kind(
            "json",
            "json",
            f"xrelay-opt FILE --allow-unregistered-dialect; {_RUN}",
            seeds.json_seeds,
            structures.mutate_json,
            checks.check_import,
            _smaller_bytes,
        ),
        Kind(
            "onnx",
            "onnx",
            f"{_PRINT}; {_RUN}",
            seeds.onnx_seeds,
            structures.mutate_onnx,
            checks.check_import,
            _smaller_model,
        ),
        Kind(
            "program",
            "txt",
            _ALONE.format("program"),
            seeds.program_seeds,
            _program,
            checks.check_program,
            _smaller_program,
        ),
        Kind(
            "executable",
            "xrx",
            _ALONE.format("executable"),
            seeds.executable_seeds,
            executables.mutate,
            checks.check_executable,
            _smaller_bytes,
        ),
        Kind(
            "npz",
            "npz",
            _ALONE.format("npz"),
            seeds.npz_seeds,
            structures.mutate_npz,
            checks.check_npz,
            _smaller_bytes,
        ),
        Kind(
            "safetensors",
            "safetensors",
            _ALONE.format("safetensors"),
            seeds.safetensors_seeds,
            structures.mutate_safetensors,
            checks.check_safetensors,
            _smaller_bytes,
        ),
        Kind(
            "csv",
            "csv",
            "xrelay-plan FILE -o plan.csv; xrelay-plan --check FILE plan.csv",
            seeds.csv_seeds,
            _text,
            checks.check_csv,
            _smaller_text,
        ),
        Kind(
            "pipeline",
            "txt",
            'xrelay-opt examples/classifier.mlir -p "$(cat FILE)"',
            seeds.pipeline_seeds,
            _text,
            checks.check_pipeline,
            _smaller_text,
        ),
    )
}
