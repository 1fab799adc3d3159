"""Executable files: what is written is read, and nothing else is."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from hashlib import sha256
from importlib.metadata import EntryPoint, version
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, cast, get_args, get_origin

import numpy as np
import pytest
from helpers.machine.program_contents import contents, locations
from helpers.programs.machine_programs import call, f32, function, kernel, program
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

from xrelay.operators.named_dims import Bounds
from xrelay.operators.records import record
from xrelay.runtime import files
from xrelay.runtime.codec.notes import at_least
from xrelay.runtime.codec.plain import ATTRIBUTES, PLAIN, stored_fields
from xrelay.runtime.errors import Location, MachineError
from xrelay.runtime.executable import (
    VERSION,
    ExecutableError,
    ExecutableFile,
    PlannedMemory,
    executable_of,
    load_weights,
    read_executable,
    write_executable,
)
from xrelay.runtime.executable.executable_files import RECORDS, decode, flags_of, sections_of
from xrelay.runtime.executable.layout import OPTIONAL, header_of, laid_out
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.data_types import (
    Constructor,
    DataType,
    DataTypes,
    Definition,
    OpaqueType,
    TensorType,
    TupleType,
    TypeParameter,
)
from xrelay.runtime.program.program import (
    Array,
    Function,
    Kernel,
    Late,
    Param,
    Program,
    Step,
    TensorSpec,
    WeightFunction,
)
from xrelay.runtime.weights import late_bound
from xrelay.runtime.weights.late_bound import GROUP


def written(executable: ExecutableFile) -> bytes:
    out = BytesIO()
    write_executable(out, executable)
    return out.getvalue()


def everything() -> Program:
    """A program with all that a file can hold."""
    here = Location("a/é.mlir", 3, 7)
    attrs = {
        "a": -1,
        "b": 0.1,
        "c": -0.0,
        "d": float("inf"),
        "e": True,
        "f": "x\ny",
        "g": (),
        "h": (1 << 62, -5),
        "i": False,
    }
    main = Function(
        "main",
        (
            Param("x", TensorSpec("float32", (None, 4)), 1, ("n", ""), 0),
            Param("", None),
            Param("s", TensorSpec("bool", ())),
        ),
        9,
        (
            vm.LoadConst(3, 2, 1),
            vm.LoadConsti(4, -(1 << 63)),
            vm.AllocStorage(5, vm.Reg(4), 64),
            vm.AllocTensor(6, 5, 0, (2, 0), "int8"),
            vm.Pack(3, (4,), 64, (0, 1), (vm.Reg(4),), (0, 0, 1)),
            vm.ReshapeTensor(3, 3, vm.Reg(4)),
            vm.ReshapeTensor(3, 3, (2,)),
            vm.If(2, None, 1, 2),
            vm.If(2, 2, 1, -1),
            vm.Require("eq", 4, 4, "{0} is {1}", (4,)),
            vm.InvokePacked(0, (0,), (0,)),
            vm.Ret(0),
        ),
        (None, here, here, None, *[Location("b", 0, 1)] * 7, None),
        {"n": Bounds(1, 9)},
        (Param("y", None, 0, (), 3), Param("", TensorSpec("int8", (None,)), 1, ("m",))),
    )
    other = Function("other", (), 1, (vm.Fatal(),), (), {}, ())
    step = Step("plugin.op", attrs, (0, 1), (2,), here)
    constants = (
        np.arange(6, dtype=np.float16).reshape(2, 3),
        Late("w", TensorSpec("float64", (None, 2))),
        np.array(True),
        np.zeros((0, 5), np.int64),
        np.arange(40_000, dtype=np.int32),
        Late("w", TensorSpec("float64", (None, 2))),
    )
    spec = f32(None, 4)
    array = np.array([[1, 2, 3]], np.int16)
    kernels = (Kernel("k", (spec,), (array,), (spec,), (step,), (2,), (0,)),)
    types = DataTypes(
        (
            Definition("List", 1, (Constructor("Nil", ()), Constructor("Cons", (2, 4)))),
            Definition("None", 0, ()),
        ),
        (
            OpaqueType(),
            TupleType((0, 0)),
            TypeParameter(0),
            DataType(0, (1,)),
            DataType(0, (2,)),
            TensorType("float32", (None, 4)),
        ),
    )
    return Program((main, other), constants, kernels, ("cpu:0", "cuda:1"), types)


def small() -> Program:
    """A program that adds a constant of its own and a late-bound one to its input."""
    add = kernel("add", [f32(4), f32(4)], f32(4))
    code = [
        vm.LoadConst(1, 0),
        vm.LoadConst(2, 1),
        *call(0, [0, 1], 3, 4),
        *call(0, [3, 2], 5, 4),
        vm.Ret(5),
    ]
    constants = (np.arange(4, dtype=np.float32), Late("w", f32(4)))
    return program(function([f32(4)], *code), kernels=[add], constants=constants)


def test_everything_is_read_as_it_was_written():
    memory = PlannedMemory("main", "cpu:0", 3, 1, (12, ""), (None, "4*n"), (8, "n"))
    said = {"pipeline": "vm", "": "é"}
    given = ExecutableFile(
        *(everything(), "me 1.0", "w.safetensors", ("a", "b")),
        memory=(memory,),
        weights=(doubled(),),
        metadata=said,
        added={"demo": b"\0x"},
    )
    data = written(given)
    found = decode(memoryview(data))
    assert contents(found.program) == contents(given.program)
    assert locations(found.program) == locations(given.program)
    results = [[f.results for f in p.functions] for p in (found.program, given.program)]
    assert results[0] == results[1]
    parts = ("producer", "weights_file", "unused", "checksums", "memory", "metadata", "added")
    assert [getattr(found, p) for p in parts] == [getattr(given, p) for p in parts]
    assert [repr(f) for f in found.weights] == [repr(f) for f in given.weights]
    assert written(found) == data


def doubled(**changes: Any) -> WeightFunction:
    """The weight `w` as `v` + `v`, or a kernel that differs."""
    add = Kernel(
        *("weight", (f32(4),), (), (f32(4),)), (Step("relay.add", {}, (0, 0), (1,)),), (1,)
    )
    return WeightFunction("w", ("v",), replace(add, **changes))


X = np.array([1, -2, 3, 0.5], np.float32)
W = np.array([10, 20, 30, 40], np.float32)
WANTED = X + np.arange(4, dtype=np.float32) + W


def weights_file(folder: Path, **tensors: Array) -> Path:
    path = folder / "m.safetensors"
    save_file({"w": W} | tensors, path)
    return path


def test_a_file_runs(tmp_path: Path):
    path = tmp_path / "m.xrx"
    weights = weights_file(tmp_path)
    write_executable(path, executable_of(small(), weights))
    executable = read_executable(path, verify=True)
    assert executable.producer == f"xrelay {version('xrelay')}"
    assert executable.weights_file == "m.safetensors"
    machine = Machine(executable.program, load_weights(executable, weights, verify=True))
    np.testing.assert_array_equal(machine.run("main", X)[0], WANTED)


def test_constants_and_weights_are_views_of_their_files(tmp_path: Path):
    path, weights = tmp_path / "m.xrx", weights_file(tmp_path)
    write_executable(path, executable_of(small(), weights))
    executable = read_executable(path)
    for array in (executable.program.constants[0], load_weights(executable, weights)["w"]):
        assert isinstance(array, np.ndarray)
        assert not array.flags.owndata
        assert not array.flags.writeable
        assert array.ctypes.data % 8 == 0


def test_embedded_weights_need_no_file(tmp_path: Path):
    executable = executable_of(small(), {"w": W}, embed=True)
    program = read_executable(written(executable)).program
    assert program.late_constants == ()
    np.testing.assert_array_equal(Machine(program).run("main", X)[0], WANTED)


def test_same_program_same_bytes(tmp_path: Path):
    weights = weights_file(tmp_path)
    first = written(executable_of(small(), weights))
    assert first == written(executable_of(small(), weights))
    assert first == written(read_executable(first))


def test_extra_tensors_of_the_original_file_are_known(tmp_path: Path):
    weights = weights_file(tmp_path, unused=W)
    executable = read_executable(written(executable_of(small(), weights)))
    assert executable.unused == ("unused",)
    assert list(load_weights(executable, weights)) == ["w"]


def other_values(at: int = 0) -> Array:
    changed = W.copy()
    changed[at] += 1
    return changed


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"w": W[:3]}, r"'w' must be float32\[4\], but is float32\[3\]"),
        ({"w": W.astype(np.float64)}, r"'w' must be float32\[4\], but is float64\[4\]"),
        ({"w": other_values()}, "values of 'w' are not those that the program was compiled"),
        ({"x": W}, "has 'x', which the file that the program was compiled with lacks"),
    ],
)
def test_weights_that_do_not_fit(tmp_path: Path, tensors: dict[str, Array], message: str):
    executable = executable_of(small(), weights_file(tmp_path))
    with pytest.raises(ExecutableError, match=message):
        load_weights(executable, weights_file(tmp_path, **tensors))


def test_weights_that_are_missing(tmp_path: Path):
    executable = executable_of(small(), weights_file(tmp_path))
    save_file({"v": W}, tmp_path / "v.safetensors")
    with pytest.raises(ExecutableError, match="lacks 'w', which the program needs"):
        load_weights(executable, tmp_path / "v.safetensors")
    with pytest.raises(MachineError, match="No such file"):
        load_weights(executable, tmp_path / "none.safetensors")
    with pytest.raises(ExecutableError, match="cannot embed 'w': weights must be given"):
        executable_of(small(), embed=True)


def test_any_values_fit_when_none_were_known(tmp_path: Path):
    executable = read_executable(written(executable_of(small())))
    (value,) = load_weights(executable, weights_file(tmp_path, w=other_values(), x=W)).values()
    np.testing.assert_array_equal(value, other_values())


def large() -> tuple[Program, int]:
    """A program with a constant that is sampled, and the index of a byte not in the sample."""
    array = np.zeros(1 << 20, np.uint8)
    return program(function([f32()], vm.Ret(0)), constants=[array]), 1 << 19


def test_samples_are_compared_by_default_and_all_bytes_on_request():
    made, between = large()
    data = bytearray(written(executable_of(made)))
    start = len(data) - (1 << 20)
    data[start + between] = 1
    read_executable(bytes(data))
    with pytest.raises(ExecutableError, match=f"byte {start}: constant 0: the checksum"):
        read_executable(bytes(data), verify=True)
    data[start] = 1
    with pytest.raises(ExecutableError, match=f"byte {start}: constant 0: the checksum"):
        read_executable(bytes(data))


def test_a_weight_may_be_a_function_of_others(tmp_path: Path):
    """The executable says how; no name is parsed, and values under its own name come first."""
    made = replace(executable_of(small()), weights=(doubled(),), weights_file="v.safetensors")
    file = read_executable(written(made))
    save_file({"v": W / 2}, tmp_path / "v.safetensors")
    (value,) = load_weights(file, tmp_path / "v.safetensors").values()
    np.testing.assert_array_equal(value, W)
    np.testing.assert_array_equal(load_weights(file, {"v": W / 2})["w"], W)
    save_file({"v": W, "w": X}, tmp_path / "v.safetensors")
    np.testing.assert_array_equal(load_weights(file, tmp_path / "v.safetensors")["w"], X)
    save_file({"v": W[:2]}, tmp_path / "v.safetensors")
    with pytest.raises(MachineError, match=r"'v' must be float32\[4\]"):
        load_weights(file, tmp_path / "v.safetensors")


def test_formulas_become_functions(tmp_path: Path):
    formula = "=relay.add('v', relay.negative('u'))"
    code = [vm.LoadConst(1, 0), vm.Ret(1)]
    made = program(function([f32(4)], *code), constants=[Late(formula, f32(4))])
    save_file({"v": W, "u": X, "x": X}, tmp_path / "w.safetensors")
    file = read_executable(written(executable_of(made, tmp_path / "w.safetensors")))
    (stored,) = file.weights
    assert (stored.name, stored.names) == (formula, ("v", "u"))
    assert [step.op for step in stored.kernel.steps] == ["relay.negative", "relay.add"]
    np.testing.assert_array_equal(load_weights(file, tmp_path / "w.safetensors")[formula], W - X)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ins": ()}, "it must have a name for each input"),
        ({"locals": ()}, "a step for each value"),
        ({"results": (0,)}, "its result must be the last value"),
        ({"steps": (Step("relay.add", {}, (0, 0), (0,)),)}, "must compute the next value"),
        ({"steps": (Step("relay.add", {}, (0, 1), (1,)),)}, "reads value 1 before it is computed"),
        ({"steps": (Step("relay.add", {}, (0, -1), (1,)),)}, "reads value -1 before"),
        ({"locals": (f32(None),)}, "its values must have static shapes"),
        ({"locals": (f32(5),)}, r"step 0 \(relay.add\): .*"),
    ],
)
def test_functions_that_are_none(changes: dict[str, Any], message: str):
    made = replace(executable_of(small()), weights=(doubled(**changes),))
    with pytest.raises(MachineError, match=f"weight w: .*{message}"):
        read_executable(written(made))


def test_a_function_cannot_take_long_or_grow(tmp_path: Path):
    """Operators must do linear work, and results may not be much larger than what they are from."""
    save_file({"v": np.zeros((64, 64), np.float32)}, tmp_path / "v.safetensors")
    square, wide = TensorSpec("float32", (64, 64)), TensorSpec("float32", (64, 64 << 10))
    dense = Step("relay.nn.dense", {}, (0, 0), (1,))
    tile = Step("relay.tile", {"reps": (1, 1 << 10)}, (0,), (1,))
    for step, spec, message in ((dense, square, "may take long"), (tile, wide, "has a result of")):
        kernel = Kernel("weight", (square,), (), (spec,), (step,), (1,))
        late = program(
            function([f32()], vm.LoadConst(1, 0), vm.Ret(1)), constants=[Late("w", spec)]
        )
        made = replace(executable_of(late), weights=(WeightFunction("w", ("v",), kernel),))
        file = read_executable(written(made))
        with pytest.raises(MachineError, match=message):
            load_weights(file, tmp_path / "v.safetensors")


def test_a_file_is_replaced_as_a_whole(tmp_path: Path):
    path = tmp_path / "m.xrx"
    write_executable(path, executable_of(small()))
    before = path.read_bytes()
    mapped = read_executable(path)
    bad = executable_of(program(function([], vm.LoadConsti(0, 1 << 63), vm.Ret(0))))
    with pytest.raises(ExecutableError, match="code': 9223372036854775808 needs more than 64"):
        write_executable(path, bad)
    assert path.read_bytes() == before
    write_executable(path, executable_of(large()[0]))
    assert contents(mapped.program) == contents(small())
    assert [file.name for file in tmp_path.iterdir()] == ["m.xrx"]


def test_permissions_are_those_of_the_user(tmp_path: Path):
    before = os.umask(0o027)
    try:
        write_executable(tmp_path / "m.xrx", executable_of(small()))
    finally:
        os.umask(before)
    assert (tmp_path / "m.xrx").stat().st_mode & 0o777 == 0o640


def test_files_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(MachineError, match="No such file"):
        read_executable(tmp_path / "none.xrx")
    with pytest.raises(MachineError, match="not a file"):
        read_executable(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(files, "WRITER_WAIT", 0.0)
    with pytest.raises(MachineError, match="no process writes to this pipe"):
        read_executable(tmp_path / "pipe")
    with pytest.raises(MachineError, match="No such file"):
        write_executable(tmp_path / "none" / "m.xrx", executable_of(small()))
    (tmp_path / "empty").touch()
    with pytest.raises(ExecutableError, match="not an executable: the file is empty"):
        read_executable(tmp_path / "empty")
    with pytest.raises(ExecutableError, match="not an executable"):
        read_executable(b"PK\3\4 something else")


def file_of(
    contents: dict[str, list[memoryview]],
    version: tuple[int, int] = VERSION,
    added: dict[str, int] | None = None,
) -> bytes:
    """A file of these sections, as a version writes it; those `added` have these flags."""
    flags = {name: flags_of(name) for name in contents} | (added or {})
    layout = replace(laid_out(contents, flags), version=version)
    file = bytearray(header_of(layout))
    for section in layout.sections:
        file += bytes(section.offset - len(file))
        for piece in contents[section.name]:
            file += piece
    return bytes(file)


def of_version(version: tuple[int, int], added: dict[str, int]) -> bytes:
    """A small file as another version writes it, with sections `added`, of these flags."""
    contents = sections_of(executable_of(small()))
    data = contents.pop("data")
    more = {name: [memoryview(b"12345678")] for name in added}
    return file_of({**contents, **more, "data": data}, version, added)


def test_versions_with_the_same_sections_are_read():
    assert of_version(VERSION, {}) == written(executable_of(small()))
    for minor in (0, 1, 9):
        found = read_executable(of_version((VERSION[0], minor), {}))
        assert contents(found.program) == contents(small())


def test_a_later_version_may_add_what_readers_may_ignore():
    found = read_executable(of_version((VERSION[0], 9), {"hints": OPTIONAL}))
    assert contents(found.program) == contents(small())
    message = r"section 'hints', byte \d+: unknown section .* format 7.9; use a newer xrelay"
    with pytest.raises(ExecutableError, match=message):
        read_executable(of_version((VERSION[0], 9), {"hints": 0}))


@pytest.mark.parametrize("major", [VERSION[0] - 1, VERSION[0] + 1])
def test_another_major_version_is_refused(major: int):
    with pytest.raises(ExecutableError, match=rf"version {major}.0, .* compile the model again"):
        read_executable(of_version((major, 0), {}))


@record
class Aligned(TensorSpec):
    """A tensor type with one more field, as a record may get."""

    alignment: Annotated[int, at_least(1)] = 1


def test_a_field_of_a_record_is_one_place():
    """It is in JSON and in attributes, and what is read is checked."""
    made = Aligned("int8", (None, 2), 16)
    plain = {"dtype": "int8", "shape": [None, 2], "alignment": 16}
    assert PLAIN.of(Aligned).put(made) == plain
    assert PLAIN.of(Aligned).take(plain) == made
    assert PLAIN.of(Aligned).take({"dtype": "int8", "shape": []}) == Aligned("int8", ())
    with pytest.raises(ValueError, match="alignment: must be at least 1, but is -4"):
        PLAIN.of(Aligned).take({**plain, "alignment": -4})
    with pytest.raises(ValueError, match="alignment: expected int, but got True"):
        PLAIN.of(Aligned).take({**plain, "alignment": True})
    assert ATTRIBUTES.of(Aligned).put(replace(made, alignment=1)) == {
        "dtype": "int8",
        "shape": [-1, 2],
    }


LAYOUT = ((7, 2), "1765cd8ee517d89b")
"""The version of the format, and a digest of what its sections are made of."""


def parts_of(hint: Any) -> str:
    """The text of a type, with the names and fields of records."""
    if get_origin(hint) is Annotated:
        return parts_of(get_args(hint)[0])
    if is_dataclass(hint):
        fields = stored_fields(cast(Any, hint))
        parts = ", ".join(f"{field.name}: {parts_of(type)}" for field, type in fields)
        return f"{getattr(hint, '__name__', '')}({parts})"
    if hasattr(hint, "_fields"):
        return f"({', '.join(f'{n}: {parts_of(t)}' for n, t in hint.__annotations__.items())})"
    kind = getattr(get_origin(hint) or hint, "__name__", "...").removesuffix("Type")
    inner = () if kind == "ndarray" else get_args(hint)
    return f"{kind}[{', '.join(map(parts_of, inner))}]" if inner else kind


def test_the_version_rises_when_a_record_changes():
    """
    Raise the major version if a field was renamed, and record both here.

    If one was added that older readers may ignore, the minor version is enough.
    """
    text = "\n".join(f"{name}: {parts_of(hint)}" for name, hint in RECORDS.items())
    assert (VERSION, sha256(text.encode()).hexdigest()[:16]) == LAYOUT, text


NAMES = "its name must be up to 16 ASCII letters, digits and -, and not be taken"


def test_plug_ins_add_sections(monkeypatch: pytest.MonkeyPatch):
    """A section has the name of the entry point; what cannot be one is skipped with a warning."""
    functions: dict[str, Callable[[Program], object]] = {
        "demo": lambda program: program.devices[0].encode(),
        "none": lambda program: None,
        "text": lambda program: "text",
        "code": lambda program: b"",
        "a name that is longer": lambda program: b"",
        "fails": lambda program: 1 // 0,
    }
    plugin = SimpleNamespace(**{name.replace(" ", "_"): f for name, f in functions.items()})
    monkeypatch.setitem(sys.modules, "a_plug_in", plugin)
    entries = [EntryPoint(n, f"a_plug_in:{n.replace(' ', '_')}", GROUP) for n in functions]
    monkeypatch.setattr(late_bound, "entry_points_of", {GROUP: entries}.get)
    with pytest.warns(UserWarning, match="section of plug-in") as warned:
        file = executable_of(small())
    assert [str(w.message).removeprefix("section of plug-in ") for w in warned] == [
        f"'a name that is longer' is skipped: {NAMES}",
        f"'code' is skipped: {NAMES}",
        "'fails' is skipped: ZeroDivisionError: integer division or modulo by zero",
        "'text' is skipped: it must return bytes or None, but returned str",
    ]
    assert read_executable(written(file)).added == {"demo": b"cpu:0"}


def changed(section: str, path: str, value: object) -> bytes:
    """The file of a small program, with `value` at a path in the JSON of a section."""
    contents = sections_of(executable_of(small()))
    plain = holder = json.loads(bytes(contents[section][0]))
    *keys, last = [int(key) if key.isdecimal() else key for key in path.split()]
    for key in keys:
        holder = holder[key]
    holder[last] = value
    contents[section] = [memoryview(json.dumps(plain).encode())]
    return file_of(contents)


def test_fields_with_a_default_may_be_missing_and_unknown_ones_are_ignored():
    """So that an earlier version and a later minor one can be read."""
    for value in ({"dst": 1, "constant": 0}, {"dst": 1, "constant": 0, "hint": 7}):
        data = changed("code", "0 0 LoadConst", value)
        assert contents(read_executable(data).program) == contents(small())


HOSTILE: list[tuple[str, str, object, str]] = [
    ("code", "0 0", {"Ret": {}}, "code', byte .* result: it is missing"),
    ("code", "0 0", {"Jump": {}}, "'Jump' is unknown: use a newer version"),
    ("code", "0 0", {}, "section 'code'"),
    ("code", "0", 5, "expected list, but got 5"),
    ("functions", "0 register_count", -1, "needs at least 1 registers"),
    ("functions", "0 register_count", 1 << 63, "needs more than 64 bits"),
    ("functions", "0 name", "\ud800", "name: .* surrogates not allowed"),
    ("functions", "0 params 0 dims", ["n", 1], "params: dims: expected str, but got 1"),
    ("functions", "0 params 0 spec shape", [-2], "shape: must be at least 0, but is -2"),
    ("functions", "0 params 0 spec shape", [1] * 65, "shape: must have 0 to 64 items"),
    ("kernels", "0 name", None, "name: expected str, but got None"),
    ("info", "weights_file", "../w", "weights_file: must be the name of a file beside"),
    ("constants", "0 InFile checksums sha256", "00", "sha256: must have 32 to 32 items"),
    ("constants", "0 InFile spec shape", [5], r"constant 0: float32\[5\] has 20 bytes, but"),
    ("constants", "0 InFile spec shape", [None], "a constant must have a static shape"),
    ("constants", "0 InFile spec dtype", "object", "unsupported element type object"),
    ("locations", "numbers", [[]], "there are locations for 1 lists, not 2"),
    ("locations", "numbers 0", [-2] * 9, r"a location is out of range \[-1, 0\)"),
    ("locations", "numbers 0", [-1], "there are 1 locations for 9 items"),
    ("locations", "table", [["f", -1, 0]], "table: must have a line and column from 0 on"),
]


@pytest.mark.parametrize(("section", "path", "value", "message"), HOSTILE)
def test_hostile_sections(section: str, path: str, value: object, message: str):
    with pytest.raises(MachineError, match=message):
        read_executable(changed(section, path, value))


def test_code_of_other_functions():
    contents = sections_of(executable_of(small()))
    contents["code"] = [memoryview(b"[]")]
    with pytest.raises(ExecutableError, match="there is code of 0 functions, not 1"):
        read_executable(file_of(contents))


@pytest.mark.parametrize("text", [b"[" * 100_000, b"1" * 10_000, b"[NaN]", b"\xff", b"", b"{"])
def test_hostile_json(text: bytes):
    contents = sections_of(executable_of(small()))
    contents["functions"] = [memoryview(text)]
    with pytest.raises(ExecutableError, match="section 'functions'"):
        read_executable(file_of(contents))
