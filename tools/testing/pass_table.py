"""
The table of passes in a Markdown file, generated from the passes.

    python -m xrelay.tools.testing.pass_table README.md

rewrites the text between these two lines:

    <!-- passes: begin -->
    <!-- passes: end -->
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..registry import OptionInfo, named_pipelines, pass_infos

BEGIN, END = "<!-- passes: begin -->", "<!-- passes: end -->"


def table() -> str:
    """Return our passes in their order, each with its options, then the named pipelines."""
    return "\n".join((*_pass_rows(), "", *_pipeline_rows()))


def _pass_rows() -> Iterator[str]:
    yield "| pass | what it does | options |"
    yield "|---|---|---|"
    for info in pass_infos():
        options = "; ".join(map(_option_text, info.options))
        yield f"| `{info.name}` | {_cell(info.description)} | {_cell(options)} |"


def _option_text(option: OptionInfo) -> str:
    if option.default is None:
        return f"`{option.name}`"
    return f"`{option.name}={option.default}`"


def _pipeline_rows() -> Iterator[str]:
    yield "| pipeline | passes |"
    yield "|---|---|"
    for name, text in named_pipelines().items():
        yield f"| `{name}` | `{_cell(text.replace(',', ', '))}` |"


def _cell(text: str) -> str:
    """Escape `text` for a cell of a table."""
    return text.replace("|", "\\|")


def with_table(text: str) -> str:
    """Return `text` with the current table; ValueError when it has no place for it."""
    before, begin, rest = text.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"there are no lines '{BEGIN}' and '{END}'")
    return f"{before}{begin}{table()}\n{end}{after}"


def main(argv: Sequence[str] | None = None) -> int:
    """Update the tables of the files; return the exit status."""
    for name in sys.argv[1:] if argv is None else argv:
        try:
            path = Path(name)
            path.write_text(with_table(path.read_text(encoding="utf-8")), encoding="utf-8")
        except (OSError, ValueError) as error:
            print(f"{name}: error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
