"""The order of the tests where several processes share them (tests/plugin/order.py).

Sweep:    one to four processes; more and fewer tests that run a tool than a process's share
Stimulus: made-up lists of tests with their modules, some of them long
Checks:   no test is lost or comes twice; the pieces that `--dist worksteal` cuts begin with their share of the long
          tests and end with short ones; the tests of a module stay together and in their order
Timing:   none
"""

from __future__ import annotations

from random import Random

import pytest

from tests.plugin.order import deal

Made = tuple[int, int, bool]
"""A module, a number in it, and whether the test is long."""


def made(random: Random, modules: int, share: float) -> list[Made]:
    """Tests by module; with a share of long ones, the first of a module is one."""
    return [
        (module, number, random.random() < share or (share > 0 and number == 0))
        for module in range(modules)
        for number in range(20)
    ]


def dealt(tests: list[Made], processes: int) -> list[list[Made]]:
    """The pieces that worksteal cuts: of what is left, an equal part for each process that has nothing."""
    order, pieces = deal(tests, processes, lambda test: test[0], lambda test: test[2]), []
    for number in range(processes):
        size = len(order) // (processes - number)
        pieces.append(order[:size])
        order = order[size:]
    return pieces


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 1])
@pytest.mark.parametrize("processes", [1, 2, 3, 4])
def test_no_test_is_lost_and_a_module_keeps_its_order(seed: int, processes: int, share: float) -> None:
    tests = made(Random(seed), 7, share)
    order = [test for piece in dealt(tests, processes) for test in piece]
    assert sorted(order) == sorted(tests)
    for module in range(7):
        for long in (False, True):
            own = [test for test in order if test[0] == module and test[2] == long]
            assert own == sorted(own)


@pytest.mark.parametrize("processes", [2, 3, 4])
def test_each_process_begins_with_its_share_of_the_long_tests(seed: int, processes: int) -> None:
    pieces = dealt(made(Random(seed), 12, 0.2), processes)
    for number, piece in enumerate(pieces):
        long = [test for test in piece if test[2]]
        assert piece[: len(long)] == long
        assert [test[0] for test in long] == sorted(test[0] for test in long)
        assert {test[0] for test in long} == set(range(number, 12, processes))
        assert not piece[-1][2]
