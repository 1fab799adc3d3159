"""All cases of one test run, and the error says which fail."""

import pytest
from helpers.programs.every_case import every

SEEN: list[tuple[int, int]] = []


@every(("one", "other"), [(1, 2), (3, 3), (5, 6), (7, 7)])
def differ(one: int, other: int):
    SEEN.append((one, other))
    assert one != other


@every("one", [1, 2, 3])
def is_not_two(one: int):
    assert one != 2


def test_every_failure_names_its_case():
    with pytest.raises(ExceptionGroup, match="2 of 4 cases") as raised:
        differ()
    assert SEEN == [(1, 2), (3, 3), (5, 6), (7, 7)]
    notes = [error.__notes__ for error in raised.value.exceptions]
    assert notes == [[f"in the case {{'one': {n}, 'other': {n}}}"] for n in (3, 7)]


def test_a_single_failure_is_raised_as_it_is():
    with pytest.raises(AssertionError) as raised:
        is_not_two()
    assert raised.value.__notes__ == ["in the case {'one': 2}"]


@pytest.mark.parametrize("other", [5])
@every("one", [1, 2])
def test_other_parameters_are_those_of_pytest(one: int, other: int):
    assert one < other


def test_a_name_that_is_no_parameter_is_an_error():
    with pytest.raises(AssertionError, match="other parameters"):
        every("two", [1])(is_not_two)
