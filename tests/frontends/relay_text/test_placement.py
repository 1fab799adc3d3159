"""The regions in which graph bindings are computed."""

import pytest
from helpers.relay.relay_programs import body_of, error_of


def shape(text: str) -> str:
    """The operators of the body of `@main`, in order; braces are regions."""
    words: list[str] = []
    for line in body_of(text).split("\n"):
        line = line.strip()
        if line.startswith("}"):
            words.append("}")
        name = next((w for w in line.split() if w.startswith(("relay.", "func."))), "")
        kind = name.removeprefix("relay.")
        if kind not in ("yield", "func.return", "") and "%" + line[1:] == line:
            words.append(kind)
        if line.endswith("{"):
            words.append("{")
    return " ".join(words)


def main(body: str) -> str:
    return shape(f"def @main(%c: bool, %x: float32) {{ {body} }}")


def test_what_one_branch_uses_is_in_that_branch() -> None:
    assert main("%0 = exp(%x); if (%c) { %0 } else { %x }") == "if { exp } { }"


def test_what_both_branches_use_is_before() -> None:
    assert main("%0 = exp(%x); if (%c) { %0 } else { %0 }") == "exp if { } { }"


def test_what_is_bound_in_one_branch_and_used_in_the_other_is_before() -> None:
    text = "if (%c) { %0 = exp(%x); tanh(%0) } else { %0 }"
    assert main(text) == "exp if { tanh } { }"


def test_what_is_used_after_too_is_before() -> None:
    text = "%0 = exp(%x); let %y = if (%c) { %0 } else { %x }; add(%y, %0)"
    assert main(text) == "exp if { } { } add"


def test_a_use_in_a_binding_is_where_that_is() -> None:
    text = "%0 = exp(%x); %1 = tanh(%0); if (%c) { %1 } else { %x }"
    assert main(text) == "if { exp tanh } { }"


def test_a_binding_with_branches_is_used_in_a_branch() -> None:
    text = """
      %0 = exp(%x);
      %1 = if (%c) { tanh(%0) } else { sqrt(%0) };
      if (%c) { %1 } else { %x }
    """
    assert main(text) == "if { exp if { tanh } { sqrt } } { }"


def test_inner_branches_that_share_are_served_in_the_branch_around() -> None:
    text = "%0 = exp(%x); if (%c) { if (%c) { %0 } else { %0 } } else { %x }"
    assert main(text) == "if { exp if { } { } } { }"


def test_a_closure_is_a_region() -> None:
    text = "%0 = exp(%x); let %f = fn (%y) { add(%y, %0) }; %f(%x)"
    assert main(text) == "fn { exp add } call"


def test_what_a_closure_and_its_surroundings_use_is_before() -> None:
    text = "%0 = exp(%x); let %f = fn (%y) { add(%y, %0) }; %f(%0)"
    assert main(text) == "exp fn { add } call"


def test_uses_in_what_nothing_uses_do_not_count() -> None:
    text = "%0 = exp(%x); %1 = tanh(%0); if (%c) { %0 } else { %x }"
    assert main(text) == "if { exp } { }"


@pytest.mark.ci
def test_a_long_chain_through_branches_stays_flat() -> None:
    steps = [f"%{i} = if (%c) {{ tanh(%{i - 1}) }} else {{ %{i - 1} }};" for i in range(1, 1200)]
    found = main(" ".join(["%0 = exp(%x);", *steps, "%1199"]))
    assert found.split() == ["exp", *"if { tanh } { }".split() * 1199]


def test_a_binding_is_not_used_where_its_variables_are_unknown() -> None:
    text = """def @main(%c: bool, %x: float32) {
  if (%c) { let %y = exp(%x); %0 = tanh(%y); %0 } else { %0 }
}"""
    assert error_of(text) == (
        "2:41: %y is not in scope: the graph binding that uses it is itself used outside the scope "
        "of %y"
    )
