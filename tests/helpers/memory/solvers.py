"""The answers of solvers to files of SMT-LIB 2, one for each query."""

from typing import Any

import pytest

TIMEOUT = 20_000
"""Milliseconds for a query."""


def answers_of_z3(text: str) -> list[str]:
    z3: Any = pytest.importorskip("z3")
    preamble, *claims = text.split("(push 1)")
    solver = z3.SolverFor("QF_LIA")
    solver.set("timeout", TIMEOUT)
    solver.from_string(preamble)
    declared = "\n".join(
        line for line in preamble.splitlines() if line.startswith(("(declare", "(define"))
    )
    answers: list[str] = []
    for claim in claims:
        asserts = "\n".join(line for line in claim.splitlines() if line.startswith("(assert"))
        solver.push()
        solver.add(z3.parse_smt2_string(f"{declared}\n{asserts}"))
        answers.append(str(solver.check()))
        solver.pop()
    return answers


def answers_of_cvc5(text: str) -> list[str]:
    cvc5: Any = pytest.importorskip("cvc5")
    solver = cvc5.Solver()
    solver.setOption("incremental", "true")
    solver.setOption("tlimit-per", str(TIMEOUT))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "plan")
    answers: list[str] = []
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, parser.getSymbolManager()).strip()
        if answer:
            answers.append(answer)
    return answers


SOLVERS = {"z3": answers_of_z3, "cvc5": answers_of_cvc5}
