"""The table of mutants fits the sources; `python tests/mutants` runs it."""

import ast
import shlex
from pathlib import Path

from mutants.table import MUTANTS

ROOT = Path(__file__).parents[1]


def test_what_a_mutant_replaces_stands_once():
    for mutant in MUTANTS:
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, mutant.name
        ast.parse(text.replace(mutant.old, mutant.new))  # else any test would catch it


def test_names_tell_mutants_apart():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_nets_are_tests():
    for mutant in MUTANTS:
        assert mutant.nets, mutant.name
        for net in mutant.nets:
            file = shlex.split(net)[0].partition("::")[0]
            assert (ROOT / file).is_file(), net
