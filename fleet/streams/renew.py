"""Stored streams as tests: check that one does what it expects, and make it again for another description."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fleet.compare.signature import other_than_expected
from fleet.errors import ModelError
from fleet.isa.codec import description_of, words_of
from fleet.isa.registry import find_device
from fleet.streams.bundle import Bundle, load_bundle, save_bundle
from fleet.streams.case import StreamOutcome
from fleet.streams.run import StreamRunner
from fleet.streams.stream_signature import of_outcome


def unexpected(bundle: Bundle, outcome: StreamOutcome) -> str:
    """Return in one line how the outcome of a bundle's stream differs from the expected one; empty if it does not."""
    if bundle.expect is None:
        return "the bundle does not say what is expected of it"
    return other_than_expected(bundle.expect, bundle.signature, of_outcome(outcome), outcome.reasons)


def moved(bundle: Bundle, outcome: StreamOutcome, where: str) -> str:
    """Return in one line where the functional model's commits differ from the stored ones; empty if they agree.

    Empty as well if the bundle is not a test.
    """
    if bundle.expect is None:
        return ""
    now, then = [[c.architectural for c in commits] for commits in (outcome.expected, bundle.expected)]
    if now == then:
        return ""
    n = next((n for n, (a, b) in enumerate(zip(now, then, strict=False)) if a != b), min(len(now), len(then)))
    told = [f"{c[n]}" if n < len(c) else "none" for c in (now, then)]
    fields = "instruction, cause, digest, bytes, result"
    return (
        f"the functional model's commit {n} ({fields}) is {told[0]}, the bundle stores {told[1]}; "
        f"if that is meant: fleet stream renew {where}"
    )


def renew_bundle(path: Path) -> str:
    """Run a bundle's stream on the installed description and, if the outcome is as expected, store it in place of the bundle.

    Returns how the outcome differs from the expected one; empty if the bundle was written. Raises ModelError if the bundle is not
    a test, CodecError if one of its instructions or registers no longer exists, DeviceError, SetupError, BuildError.
    """
    bundle, arrays = load_bundle(path)
    if bundle.expect is None:
        raise ModelError("the bundle does not say what is expected of it", where=str(path), hint="make it with `fleet shrink`")
    case = bundle.case(arrays, str(path), any_description=True)
    instruction_set, _ = find_device(case.device)
    for call in case.calls:
        words_of(description_of(instruction_set), call, strict=False)
    with StreamRunner(case.device, power_on=bundle.power_on) as runner:
        (outcome,) = runner.run(case, [bundle.setting])
    wrong = unexpected(bundle, outcome)
    if not wrong:
        folder = path if path.is_dir() else path.parent
        save_bundle(
            replace(outcome, case=case), folder, power_on=bundle.power_on, expect=bundle.expect, story=bundle.story, folder_name="."
        )  # fmt: skip
    return wrong
