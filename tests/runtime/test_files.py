"""Files that are written as a whole, what they may replace, and large ones that are mapped."""

import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from xrelay.runtime.errors import MachineError
from xrelay.runtime.files import inside, replace
from xrelay.runtime.weights.derived_weights import aligned
from xrelay.runtime.weights.tensor_file import TensorFile, write_side_file


def test_permissions_are_those_of_the_umask(tmp_path: Path):
    before = os.umask(0o027)
    try:
        replace(tmp_path / "new", [b"text"])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_failure_leaves_the_earlier_file(tmp_path: Path):
    (tmp_path / "out").write_text("earlier")

    def pieces():
        yield b"x" * 1000
        raise ValueError("broken")

    with pytest.raises(MachineError, match="broken"):
        replace(tmp_path / "out", pieces())
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "earlier"


@pytest.mark.parametrize(
    "old", [b"\x08\x07\x12\x00onnx", b"\x7fELF", b"\x89XRX\r\n", b"PK\x03\x04"]
)
def test_another_kind_is_not_replaced(tmp_path: Path, old: bytes):
    path = tmp_path / "out"
    path.write_bytes(old)
    with pytest.raises(MachineError, match="it exists and is"):
        replace(path, [b"module {}"])
    assert path.read_bytes() == old
    replace(path, [b"module {}"], overwrite=True)
    assert path.read_bytes() == b"module {}"


def test_weights_that_no_earlier_run_wrote_stay(tmp_path: Path):
    path, arrays = tmp_path / "m.safetensors", {"w": np.arange(4)}
    write_side_file(path, arrays, "m.mlir")
    write_side_file(path, {"w": np.arange(5)}, "m.mlir")
    with pytest.raises(MachineError, match="not what an earlier run wrote"):
        write_side_file(path, arrays, "m.xrx")
    assert TensorFile(path).array("w").tolist() == [0, 1, 2, 3, 4]


def test_paths_that_lead_out_of_a_folder(tmp_path: Path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "w")
    for name in ("../w", "/etc/passwd", "link", "", "."):
        assert inside(folder, name) is None
    assert inside(folder, "w") == folder / "w"


def test_offsets_above_4_gib(tmp_path: Path):
    """A sparse file: its holes take no room."""
    path, start = tmp_path / "large.safetensors", 5 << 30
    header = {
        "hole": {"dtype": "U8", "shape": [start], "data_offsets": [0, start]},
        "w": {"dtype": "F32", "shape": [2], "data_offsets": [start, start + 8]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.seek(8 + len(text) + start)
        file.write(np.array([1.5, 2.5], np.float32).tobytes())
    found = TensorFile(path)
    assert found.array("w").tolist() == [1.5, 2.5]
    assert found.array("hole").shape == (start,)


def test_an_array_at_an_odd_address_is_copied():
    data = np.arange(17, dtype=np.uint8)
    odd = data[1:].view(np.float32)
    found = aligned(odd)
    assert found.flags.aligned
    assert found.tobytes() == odd.tobytes()
    assert aligned(found) is found
