"""Programs of files: `from helpers.programs.compiled_files import compile_file`."""

import io

from xrelay.tools.api.loaded import Loaded, compile_program
from xrelay.tools.api.session import Session
from xrelay.tools.api.source import read_source
from xrelay.tools.messages import Reporter


def compile_file(path: str, pipeline: str = "vm", reads_memory: bool = False) -> Loaded:
    """Read and compile the file at `path`."""
    session = Session(Reporter(io.StringIO()))
    return compile_program(session, session.read(read_source(path)), pipeline, None, reads_memory)
