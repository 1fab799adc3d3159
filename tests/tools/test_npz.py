"""Damaged or malicious `.npz` files: an error that names the member."""

import io
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from xrelay.runtime.files import replace
from xrelay.tools.array_files import npz_pieces, open_npz
from xrelay.tools.errors import FileError
from xrelay.tools.run import run

DATA = Path(__file__).parents[1] / "data" / "faults"


def npy(descr: str = "'<f4'", shape: str = "(2,)", data: bytes = bytes(8)) -> bytes:
    """An array in NumPy's format, whatever its header says."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data


def archive(*members: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a duplicate name
        with zipfile.ZipFile(out, "w", compression) as file:
            for data in members:
                file.writestr("x.npy", data)
    return out.getvalue()


def patched(data: bytes, field: int, value: bytes) -> bytes:
    """`data` with a field of the entry in the zip's directory changed."""
    at = data.index(b"PK\1\2") + field
    return data[:at] + value + data[at + len(value) :]


ZEROS = npy(shape="(250000000,)", data=bytes(10**6))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (archive(npy(), npy()), "the file has another of this name"),
        (patched(archive(npy()), 8, b"\1\0"), "it is encrypted"),
        (patched(archive(npy()), 8, b"\x20\0"), "compressed patched data (flag bit 5)"),
        (
            patched(archive(npy()), 10, b"\x0e\0"),
            "its compression must be stored (0) or deflate (8), but is 14",
        ),
        (patched(archive(npy()), 16, b"abcd"), "Bad CRC-32 for file 'x.npy'"),
        (
            patched(archive(npy()), 24, struct.pack("<I", 2**31)),
            "it says that it has 2147483648 bytes, but its 75 compressed bytes hold 75 at most",
        ),
        (
            archive(ZEROS, compression=zipfile.ZIP_DEFLATED),
            "float32[250000000] and its header take 1000000075 bytes, but it has 1000075",
        ),
        (archive(npy(descr="'|O'")), "its elements are Python objects, which are never unpickled"),
        (
            archive(npy(descr="[('a', '<f4')]")),
            "its elements are records; give each field as an array of its own",
        ),
        (
            archive(npy(descr="'f4,f4'")),
            "its elements are records; give each field as an array of its own",
        ),
        (archive(npy(descr="'<q9'")), "its header is broken"),
        (archive(npy(shape="(-1, -2)")), "its header is broken"),
        (archive(npy(shape="(True, 2)")), "its header is broken"),
        (archive(npy(shape="(" * 999)), "its header is broken"),
        (archive(npy(shape="{[]: 1}")), "its header is broken"),
        (
            archive(npy(shape="(2**62, 2**62)".replace("2**62", str(2**62)))),
            f"float32[{2**62}, {2**62}] and its header take {2**126 + 105} bytes, but it has 113",
        ),
        (archive(b"\x93NUMPY\4\0" + bytes(99)), "its format must be 1.0, 2.0 or 3.0, but is 4.0"),
        (
            archive(b"\x93NUMPY\2\0\xff\xff\xff\xff"),
            "its header has 4294967295 bytes, above the 10000 allowed",
        ),
        (archive(b"text"), "it is not an array in NumPy's format"),
        (archive(b""), "it is not an array in NumPy's format"),
    ],
)
def test_a_member_that_cannot_be_read_says_why(tmp_path: Path, data: bytes, reason: str):
    path = tmp_path / "bad.npz"
    path.write_bytes(data)
    with pytest.raises(FileError) as found, open_npz(str(path)) as file:
        file.read("x")
    assert str(found.value) == f"member 'x.npy': {reason}"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("zlib", "Error -3 while decompressing data: invalid distance too far back"),
        ("method", "its compression must be stored (0) or deflate (8), but is 13064"),
        ("token", "its header is broken"),
    ],
)
def test_damaged_files_say_why(name: str, reason: str, capsys: pytest.CaptureFixture[str]):
    path, program = DATA / f"{name}.npz", DATA.parents[2] / "examples" / "mlp.mlir"
    assert run.main([str(program), "--inputs", str(path)]) == 1
    assert capsys.readouterr().err == f"{path}: error: member 'x.npy': {reason}\n"


@pytest.mark.parametrize(
    "values",
    [
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=np.float64).reshape(2, 3)),
        np.float32(1.5),
        np.zeros((0, 3), np.int8),
        np.array([True, False]),
    ],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_every_array_comes_back_in_c_order_and_native_bytes(
    tmp_path: Path, save: Callable[..., None], values: npt.NDArray[Any]
):
    path = tmp_path / "x.npz"
    save(path, x=values)
    with open_npz(str(path)) as file:
        found = file.read("x")
    assert found.flags.c_contiguous
    assert found.dtype == values.dtype.newbyteorder("=")
    np.testing.assert_array_equal(found, values, strict=values.dtype.isnative)


def test_truth_values_are_0_or_1(tmp_path: Path):
    path = tmp_path / "x.npz"
    path.write_bytes(archive(npy("'|b1'", shape="(3,)", data=b"\0\x02\xff")))
    with open_npz(str(path)) as file:
        assert file.read("x").view(np.uint8).tolist() == [0, 1, 1]


def test_any_name_can_be_written(tmp_path: Path):
    path = tmp_path / "x.npz"
    arrays = {name: np.arange(3) for name in ("file", "allow_pickle", "a/b", "")}
    replace(path, npz_pieces(arrays))
    with open_npz(str(path)) as file, np.load(path) as theirs:
        for name in arrays:
            assert file.read(name).tolist() == theirs[name].tolist() == [0, 1, 2]
