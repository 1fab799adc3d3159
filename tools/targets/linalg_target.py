"""
The target `linalg` of `xrelay-opt -t`: the whole program in upstream dialects, for other compilers.

    xrelay-opt old.relay -t linalg                        the pipeline linalg, then this text
    xrelay-opt old.onnx -t linalg{weights=arguments} -o new.mlir

Embedded weights follow the module, each as hex, 4 bytes of alignment before its own:

    {-#
      dialect_resources: {
        builtin: {
          conv1_w: "0x40000000…"
        }
      }
    #-}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import IO, ClassVar, Literal, cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseResourceAttr, ModuleOp

from ...dialects.relay.constants import PARAMS_FILE
from ...dialects.tensors import as_tensor, dtype_name
from ...dialects.xdsl_extras.walking import walk
from ...passes.support.diagnostics import PassError
from ...runtime.errors import MachineError
from ...runtime.weights.derived_weights import Weights, weights_in
from ..api.session import Given
from ..text.printing import PrintOptions, print_module, resource_key
from .file_target import FileTarget, Job, Written

ALIGNMENT = 64
"""The alignment in bytes of an embedded weight."""

CHUNK = 1 << 20
"""The number of bytes of a weight that are text at a time."""

Place = Literal["embedded", "arguments", "external"]


@dataclass(frozen=True)
class LinalgTarget(FileTarget):
    """Writes the whole program as linalg on tensors, text that `mlir-opt` accepts."""

    name: ClassVar[str] = "linalg"

    weights: Place = "embedded"
    """
    `embedded` writes them at the end of the text; `arguments` makes them arguments of the
    functions, by name; `external` names them as resources that the reader must have.
    """

    @property
    @override
    def pipeline(self) -> str:
        return "linalg{weights=arguments}" if self.weights == "arguments" else "linalg"

    @property
    @override
    def contains_weights(self) -> bool:
        return self.weights == "embedded"

    @property
    @override
    def writes_parts(self) -> bool:
        return True

    @override
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Write the module without weights."""
        print_module(ctx, module, output, PrintOptions())

    @override
    def written(self, job: Job) -> Written:
        """Return the text; a `PassError` at the first missing weight, before it is written."""
        module = job.program.module
        job.runner.run(job.context, module)
        resources = resources_of(module) if self.weights == "embedded" else []
        file = weights_of(job.program, resources) if resources else None
        body = StringIO()
        print_module(job.context, module, body, job.options)
        return Written(self._pieces(body.getvalue(), resources, file), is_text=True)

    def _pieces(
        self, text: str, resources: Sequence[arith.ConstantOp], file: Weights | None
    ) -> Iterator[bytes]:
        yield text.encode()
        if file is None:
            return
        yield b"\n{-#\n  dialect_resources: {\n    builtin: {\n"
        last = len(resources) - 1
        for i, op in enumerate(resources):
            name = resource_of(op)
            start = ALIGNMENT.to_bytes(4, "little").hex()
            yield f'      {resource_key(name)}: "0x{start}'.encode()
            data = file.array(name).reshape(-1).view("uint8").data
            for at in range(0, len(data), CHUNK):
                yield data[at : at + CHUNK].hex().upper().encode()
            yield b'"\n' if i == last else b'",\n'
        yield b"    }\n  }\n#-}\n"


def resource_of(op: arith.ConstantOp) -> str:
    """Return the name of the weight that `op` produces."""
    return cast(DenseResourceAttr, op.value).resource_handle.data


def resources_of(module: ModuleOp) -> list[arith.ConstantOp]:
    """Return an op for each weight that `module` names as a resource, in order of first use."""
    constants: dict[str, arith.ConstantOp] = {}
    for op in walk(module):
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, DenseResourceAttr):
            constants.setdefault(resource_of(op), op)
    return [*constants.values()]


def weights_of(program: Given, resources: Sequence[arith.ConstantOp]) -> Weights:
    """Open the weights of a program; a `PassError` if they are not all `resources`."""
    module, path = program.module, program.weights
    cure = (
        "with -t linalg{weights=arguments} they are arguments of the functions, with "
        "weights=external resources that the reader has"
    )
    if path is None:
        raise PassError(
            f"the program's weights are in no file ({PARAMS_FILE}): --params names one, "
            f"--random-weights draws them; {cure}",
            module,
        )
    try:
        file = weights_in(path)
    except MachineError as error:
        raise PassError(f"{error}; {cure}", module) from error
    where = f"'{path}'" if isinstance(path, Path) else "the given weights"
    for op in resources:
        name, type = resource_of(op), as_tensor(op.result.type)
        assert type is not None, "a weight is a tensor"
        if name not in file:
            raise PassError(f"weight '{name}' is missing in {where}", op)
        spec = file.spec(name)
        dtype = dtype_name(type.element_type)
        if spec.shape != type.get_shape() or spec.dtype.lstrip("u") != dtype:
            shape = "x".join(map(str, (*spec.shape, spec.dtype)))
            raise PassError(f"weight '{name}' is {type}, but in {where} it is {shape}", op)
    return file
