"""
Write the results of a benchmark to stdout, as JSON or a Markdown table: `from results import …`.

    options = parser_of("Networks against onnxruntime.", rounds=10).parse_args()

    write_results([{"network": "vgg19", "ms": 1234}], as_table=True)

    | network | ms |
    |---|---|
    | vgg19 | 1,234 |
"""

import json
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Facts: TypeAlias = Mapping[str, Any]
"""A row of a table: cells by the title of their columns."""


def parser_of(about: str, rounds: int) -> ArgumentParser:
    """Return a parser of the options `--rounds`, by default `rounds`, and `--table`."""
    parser = ArgumentParser(description=about)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--table", action="store_true", help="Markdown instead of JSON")
    return parser


def write_results(results: Sequence[Facts], as_table: bool, **about: object) -> None:
    """Write a table, or JSON with the facts `about` all results."""
    if as_table:
        print(table(results))
    else:
        print(json.dumps({**about, "results": results}, indent=1))


def table(results: Sequence[Facts]) -> str:
    """Format `results` as Markdown, with a column for each fact that any of them has."""
    titles = list(dict.fromkeys(title for facts in results for title in facts))
    rows = [titles, *([_cell(facts.get(title, "")) for title in titles] for facts in results)]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(titles), *lines[1:]])


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return f"{value:,}" if isinstance(value, int) else str(value)
