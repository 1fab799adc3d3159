"""Domains shaped by types: a function value has one for each of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class FunctionDomain:
    """The domains of a function value's parameters and result."""

    params: tuple[Domain, ...]
    result: Domain


Domain: TypeAlias = int | FunctionDomain
"""A number of `DeviceDomains`, or for a function value those of its parts."""


def leaves(domain: Domain) -> Iterator[int]:
    """The numbers in a domain: the result's first, then the parameters'."""
    if isinstance(domain, int):
        yield domain
    else:
        for part in (domain.result, *domain.params):
            yield from leaves(part)


def result_of(domain: Domain) -> int:
    """Where a function value "is": where its result is, however deep."""
    while isinstance(domain, FunctionDomain):
        domain = domain.result
    return domain
