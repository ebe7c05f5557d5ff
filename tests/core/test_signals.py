"""SIGINT, SIGTERM and SIGHUP become one exception; what was ignored stays ignored; a raised KeyboardInterrupt is none of them."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from fleet.core.signals import ENDING, ending_signals, signals_told, uninterrupted


@pytest.fixture(autouse=True)
def as_before() -> object:
    """Every signal ends a process, also where this one was started with it ignored; a test leaves that as it was."""
    found = {n: signal.signal(n, signal.default_int_handler) for n in ENDING}
    yield
    left = {n: signal.signal(n, found[n]) for n in ENDING}
    assert left == dict.fromkeys(ENDING, signal.default_int_handler)


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_interrupts_and_is_told(number: signal.Signals) -> None:
    with ending_signals() as signals:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        assert signals.first is number
        os.kill(os.getpid(), signal.SIGTERM)  # while it cleans up: not again
        assert signals.first is number


def test_a_raised_one_is_not_told() -> None:
    def code() -> None:
        raise KeyboardInterrupt

    with ending_signals() as signals:
        assert signals_told() is signals
        with pytest.raises(KeyboardInterrupt):
            code()
    assert signals.first is None
    assert signals_told() is None


@pytest.mark.parametrize(("number", "ends"), [(signal.SIGINT, False), (signal.SIGHUP, False), (signal.SIGTERM, True)])
def test_what_is_ignored_at_the_start(number: signal.Signals, ends: bool) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with ending_signals() as signals:
            if ends:
                with pytest.raises(KeyboardInterrupt):
                    os.kill(os.getpid(), number)
            else:
                os.kill(os.getpid(), number)
        assert (signals.first is number) is ends
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", ENDING)
def test_it_waits_until_the_block_has_ended(number: signal.Signals) -> None:
    with ending_signals() as signals:
        done: list[bool] = []

        def block() -> None:
            with uninterrupted():
                os.kill(os.getpid(), number)
                done.append(True)

        with pytest.raises(KeyboardInterrupt):
            block()
        assert done
        assert signals.first is number


def test_other_threads_change_nothing() -> None:
    found: list[object] = []

    def work() -> None:
        with ending_signals() as signals, uninterrupted():
            found.extend((signals.first, signals_told()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [None, None]
