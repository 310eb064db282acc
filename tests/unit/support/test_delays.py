"""Injected delays: the same for the same seed, and as many as they say."""

from tests.support.delays import Delays


def waits(seed: str, calls: int) -> list[float]:
    slept = list[float]()
    delays = Delays(seed, slept.append)
    work = delays.delayed(lambda entry: entry, 0.1, 0.5)
    assert [work(number) for number in range(calls)] == list(range(calls))
    return slept


def test_about_the_given_share_of_the_calls_is_late() -> None:
    assert 70 < len(waits("1", 1000)) < 130
    assert set(waits("1", 1000)) == {0.5}


def test_the_same_seed_delays_the_same_calls() -> None:
    def late(seed: str) -> list[tuple[float, float]]:
        delays = Delays(seed)
        return [delays.late(0.1, 0.5) for _ in range(200)]

    assert late("7") == late("7") != late("8")
    assert {item for item in late("7") if any(item)} == {(0.5, 0.0), (0.0, 0.5)}


def test_calls_in_simulated_time_are_not_late() -> None:
    slept = list[float]()
    work = Delays("1", slept.append).delayed(lambda entry: entry, 1.0, 0.5, lambda entry: entry > 5)

    assert (work(5), slept) == (5, [])
    assert (work(6), slept) == (6, [0.5])


def test_a_call_that_raises_raises() -> None:
    delays = Delays("1", lambda _: None)

    def refuse(_: int) -> None:
        raise ValueError("no")

    for _ in range(50):
        try:
            delays.delayed(refuse, 0.5, 1.0)(1)
        except ValueError:
            continue
        raise AssertionError
