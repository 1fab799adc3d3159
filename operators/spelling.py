"""Suggestions for misspelled names."""

from collections.abc import Iterable


def known_names(wrong: str, known: Iterable[str]) -> str:
    """Return the names `known`, "none" if there are none, and the one nearest to `wrong`."""
    names = list(known)
    return f"{', '.join(names) or 'none'}{did_you_mean(wrong, names)}"


def did_you_mean(wrong: str, known: Iterable[str], sigil: str = "", most: int = 1) -> str:
    """Return "; did you mean 'x' or 'y'?" for the names nearest to `wrong`, or an empty string."""
    from difflib import get_close_matches  # only errors need it

    *others, last = [f"'{sigil}{n}'" for n in get_close_matches(wrong, list(known), n=most)] or [""]
    return f"; did you mean {', '.join(others)}{' or ' * bool(others)}{last}?" if last else ""
