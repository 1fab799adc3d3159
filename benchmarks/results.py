"""
Write the results of a benchmark to stdout, as JSON or a Markdown table: `from results import …`.

    options = parser_of("Networks against onnxruntime.", 10, names=["vgg19", "vww"]).parse_args()

    write_results([{"network": "vgg19", "ms": 1234}], as_table=True)

    | network | ms |
    |---|---|
    | vgg19 | 1,234 |
"""

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

Facts: TypeAlias = Mapping[str, Any]
"""A row of a table: cells by the title of their columns."""


def parser_of(
    about: str,
    rounds: int,
    names: Iterable[str] = (),
    test: Callable[[str, str], bool] = str.__eq__,
) -> ArgumentParser:
    """
    Return a parser of the options `--rounds`, by default `rounds`, `--table`, and `--only`.

    The last is a list of those of `names` that `test` accepts with one of the words written, all by
    default.
    """
    choices = list(names)

    def chosen(text: str) -> list[str]:
        matches = {word: [n for n in choices if test(n, word)] for word in (text, *text.split(","))}
        whole = matches.pop(text) if "," in text else None  # a name may have commas
        unknown = next((word for word, names in matches.items() if not names), None)
        if unknown is not None and not whole:
            raise ArgumentTypeError(f"'{unknown}' is none of {', '.join(choices)}")
        return whole or list(dict.fromkeys(name for names in matches.values() for name in names))

    parser = ArgumentParser(description=about)
    if choices:
        parser.add_argument("--only", type=chosen, default=choices, help="names, with commas")
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
