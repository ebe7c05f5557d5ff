"""The page of a night in a real browser: filter, sort, copy, narrow screens, and nothing is loaded from elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from browser import CHROMIUM, Page, browser

sys.path.append(str(Path(__file__).parents[1] / "night"))
from nights_made import at, changed, failed, head, night_id, run, write

from fleet.night.collect import collect
from fleet.regress.night_records import End, Note, SessionPlan, Writer
from fleet.report.regression.night import write_night

if CHROMIUM is None and os.environ.get("FLEET_REQUIRE_CHROMIUM") != "1":
    pytest.skip("chromium is not installed (apt-get install chromium)", allow_module_level=True)

CASES = ("digits", "digits_conv_int8", "gpt2_block", "mvm4096")
LONG = "sim/conformance/test_conformance_streams.py::test_streams_of_every_instruction[hbm_small-stall-3-with-a-long-name]"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a night with everything: causes, moves, tests that did not run or were left out, notes, 300 runs, a month of history."""
    folder = tmp_path_factory.mktemp("night")
    runs = [run(case, memory, seed) for case in CASES for memory in ("ideal", "fixed", "stall", "timed") for seed in range(19)]
    for day in range(20):
        write(folder, day, [r if day else changed(r) for r in runs[: 60 + day]])
        collect(folder / "night", folder / "night" / "nights" / night_id(day), folder / "none.toml")
    rows = [*runs]
    rows[0] = failed(rows[0])
    rows[1] = failed(rows[1])
    rows[2] = failed(rows[2], "iss-vs-vm: result of matmul outside its bound")
    rows[25] = changed(rows[25], cycles=3495.0)
    rows[26] = changed(rows[26], cycles=1400.0)
    below = write(folder, 20, rows, planned=["sim/cases/digits.toml::digits[small-ideal-99]"], end=False)
    main = Writer(below, "one-main")
    main.write(head(20, at=at(20, 10)))
    main.write(SessionPlan({}, {LONG: "another seed of a run; needs 90.0 s, 0.0 s were left"}))
    main.write(Note(at(20, 11), "interrupted", f"{LONG}: fleet-1f32c2-12056-2 on n2 went away"))
    main.write(Note(at(20, 12), "node", "n2 is left out: 3 different runs failed there one after the other: a, b, c"))
    main.write(End(at(20, 30), "ended", 600.0))
    return write_night(collect(folder / "night", below, folder / "none.toml"), folder / "night").html


@pytest.fixture(scope="module")
def shown(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        opened.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        opened.open(page)
        yield opened
        assert not opened.errors
        outside = [url for url in opened.requests if not url.startswith(("data:", page.absolute().as_uri()))]
        assert not outside
        if (pictures := os.environ.get("FLEET_PICTURES")) is not None:
            for width in (1300, 390):
                opened.open(page, width)
                opened.picture(Path(pictures) / f"night-{width}.png")


def column(shown: Page, number: int) -> list[str]:
    return shown.ask(f"[...document.querySelectorAll('#runs tbody tr')].map(row => row.cells[{number}].textContent)")


def choose(shown: Page, outcome: str) -> None:
    shown.ask(f"document.getElementById('outcome').value = '{outcome}'")
    shown.ask("document.getElementById('outcome').dispatchEvent(new Event('input'))")


def test_what_failed_or_moved_comes_first(shown: Page) -> None:
    assert [word.partition(",")[0] for word in column(shown, 2)[:7]] == ["failed"] * 3 + ["not run"] + ["passed"] * 3
    assert column(shown, 0)[4:6] == ["digits[small-fixed-6]", "digits[small-fixed-7]"]


def test_filter(shown: Page) -> None:
    assert len(column(shown, 0)) == 200
    assert shown.ask("document.getElementById('count').textContent") == "200 of 305 shown"
    shown.click("#filter")
    shown.type("fixed gpt2")
    assert len(column(shown, 0)) == 19
    assert all("gpt2_block" in name and "fixed" in name for name in column(shown, 0))
    shown.ask("document.getElementById('filter').select()")
    shown.type("nothing of this name")
    assert column(shown, 0) == []
    assert shown.ask("document.getElementById('count').textContent") == "0 of 0 shown"
    shown.ask("document.getElementById('filter').select()")
    shown.type(" ")
    shown.ask(
        "(() => { const s = document.getElementById('outcome'); s.value = 'failed'; s.dispatchEvent(new Event('input')); })()"
    )
    assert len(column(shown, 0)) == 3
    assert {word.partition(",")[0] for word in column(shown, 2)} == {"failed"}
    choose(shown, "")
    shown.click("#more")
    assert len(column(shown, 0)) == 305


def test_sort(shown: Page) -> None:
    def cycles() -> list[float]:
        return [float(text.replace(",", "")) for text in column(shown, 5) if text]

    shown.click("button[data-column='6']")
    assert cycles() == sorted(cycles())
    assert len(set(cycles())) > 3
    assert shown.ask("document.querySelector('button[data-column=\"6\"]').parentElement.ariaSort") == "ascending"
    shown.click("button[data-column='6']")
    assert cycles() == sorted(cycles(), reverse=True)
    assert shown.ask("document.querySelectorAll('[aria-sort]').length") == 1
    shown.click("button[data-column='0']")
    names = column(shown, 0)
    assert names.index("digits[small-ideal-2]") < names.index("digits[small-ideal-10]")


def test_copy(shown: Page) -> None:
    shown.click("#causes .card pre + button")
    shown.until("document.querySelector('#causes .card pre + button').textContent === 'copied'")
    assert shown.ask("navigator.clipboard.readText()") == shown.ask("document.querySelector('#causes .card pre').textContent")
    assert "fleet case run" in shown.ask("navigator.clipboard.readText()")
    shown.click("#runs tbody tr button")
    name = column(shown, 0)[0]
    run_id = name.partition("[")[2].rstrip("]")
    shown.until(f"navigator.clipboard.readText().then(text => text.endsWith('--only {run_id}'))")


@pytest.mark.parametrize("width", [390, 1300])
def test_nothing_is_wider_than_the_screen(shown: Page, page: Path, width: int) -> None:
    shown.open(page, width)
    assert shown.ask("document.documentElement.scrollWidth") <= width
    wide = shown.ask(
        "[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll') && !e.closest('pre') && !e.closest('svg')"
        f" && e.getBoundingClientRect().right > {width} + 1).map(e => e.tagName + ': ' + e.textContent.slice(0, 60))"
    )
    assert wide == []


def test_what_was_left_out_and_what_befell_machines_is_said(shown: Page) -> None:
    text = shown.ask("document.body.innerText")
    for words in ("Left out by the budget", "needs 90.0 s", "n2 is left out", "1 left out by the budget", "This page is"):
        assert words in text
