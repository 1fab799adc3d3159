"""Compile a file, for a command."""

from ..passes.support.diagnostics import ReportingContext
from .compiler import Compiler, Loaded
from .diagnostics import Reporter
from .source import read_source


class Loader:
    """Loads programs; warnings and remarks are sent to `reporter`."""

    context: ReportingContext
    """That of the last one."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter

    def load(
        self,
        path: str,
        pipeline: str | None,
        frontend: str | None = None,
        allow_unregistered: bool = False,
        reads_memory: bool = False,
        entry: str | None = None,
        keeps_kernels: bool = False,
    ) -> Loaded:
        """
        Read the file at `path` ("-" is stdin) and compile it.

        The parameters are those of `Compiler.read` and `Compiler.compile`.
        """
        compiler = Compiler(self.reporter, allow_unregistered)
        self.context = compiler.context
        given = compiler.read(read_source(path), frontend)
        return compiler.compile(given, pipeline, entry, reads_memory, keeps_kernels)
