"""The tables of passes and pipelines, generated from their definitions."""

from collections.abc import Iterator

from xrelay.tools.registry import OptionInfo, PassInfo, named_pipelines, pass_info, pass_infos


def table() -> str:
    """Return our passes in their order, each with its options, then the named pipelines."""
    return "\n".join((*_pass_rows(), "", *_pipeline_rows()))


def _pass_rows() -> Iterator[str]:
    yield "| pass | what it does | options |"
    yield "|---|---|---|"
    for info in pass_infos():
        yield f"| [`{info.name}`](#{info.name}) | {_cell(info.description)} | {_options(info)} |"


def _options(info: PassInfo) -> str:
    return _cell("; ".join(map(_option_text, info.options)))


def _option_text(option: OptionInfo) -> str:
    if option.default is None:
        return f"`{option.name}`"
    return f"`{option.name}={option.default}`"


def _pipeline_rows() -> Iterator[str]:
    yield "| pipeline | passes | options |"
    yield "|---|---|---|"
    for name, cls in named_pipelines().items():
        passes = _cell(cls().text.replace(",", ", "))
        yield f"| [`{name}`](#{name}) | `{passes}` | {_options(pass_info(name, cls))} |"


def _cell(text: str) -> str:
    """Escape `text` for a cell of a table."""
    return text.replace("|", "\\|")
