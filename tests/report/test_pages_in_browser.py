"""One page of each kind in a real browser: narrow, dark, by clicks, and nothing is loaded from elsewhere.

FLEET_PICTURES=FOLDER leaves a picture of each at 1300 and at 390 px there.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import synthetic_results as synthetic
from browser import CHROMIUM, Page, browser
from synthetic_sweep import swept_outcome

sys.path.append(str(Path(__file__).parents[1] / "night"))
from nights_made import at, changed, failed, night_id, run, write

from fleet.compare.verdict import NotCompared
from fleet.cosim.result import CosimResult
from fleet.isa.registry import find_device
from fleet.llm.contestants import GenerateRequest, generate
from fleet.llm.load import load_model
from fleet.llm.models import ModelOptions
from fleet.night.collect import collect
from fleet.report.regression.campaign import CampaignEntry, write_campaign
from fleet.report.regression.conformance import write_conformance
from fleet.report.regression.coverage import write_coverage
from fleet.report.regression.faults import write_faults_report
from fleet.report.regression.mutants import write_mutants
from fleet.report.regression.night import write_night
from fleet.report.regression.streams import StreamReport, StreamRun, write_stream_report
from fleet.report.regression.sweep import write_sweep
from fleet.report.run.divergence import write_divergence
from fleet.report.run.generation import store_generation
from fleet.report.run.page import store_report
from fleet.report.run.why import find_failure
from fleet.verify.conformance.coverage import ConformanceCoverage, CostPoint, InstructionAccount, SettingAccount
from fleet.verify.coverage.bins import space_of
from fleet.verify.coverage.run import new_account
from fleet.verify.mutation.store import load_report

if CHROMIUM is None and os.environ.get("FLEET_REQUIRE_CHROMIUM") != "1":
    pytest.skip("chromium is not installed (apt-get install chromium)", allow_module_level=True)

ROOT = Path(__file__).parents[2]
SOURCE = "import numpy as np\n\n\ndef forward(x, w):\n" + "".join(f"    h{i} = np.maximum(x @ w[{i}], 0)\n" for i in range(30))
PAGES = {
    "passing": "passing/index.html",
    "failing": "failing/index.html",
    "not-proved": "not_proved/index.html",
    "large": "large/index.html",
    "campaign": "campaign/index.html",
    "night": "nights/index.html",
    "language-model": "answer/index.html",
    "streams": "streams/index.html",
    "faults": "faults/index.html",
    "coverage": "coverage/index.html",
    "mutants": "mutants/index.html",
    "conformance": "conformance/index.html",
    "sweep": "sweep/index.html",
    "divergence": "failing/why.html",
    "index": "index.html",
    "help": "help/reading-a-report.html",
}
WIDTH = 390


def with_source(result: CosimResult, folder: Path) -> CosimResult:
    """The same of a model whose file is there, with the scores of what flipped."""
    model = folder / "model.py"
    model.write_text(SOURCE)
    identity = replace(result.identity, model=f"{model}:forward", source_hash=hashlib.sha256(SOURCE.encode()).hexdigest())
    indexes = sorted({f.index for t in result.tasks for f in t.flips})
    rng = np.random.default_rng(3)
    scores = {f"flipped/scores/{e}": rng.normal(size=(len(indexes), 10)) for e in ("vm", "iss", "rtl")}
    return replace(result, identity=identity, arrays={**result.arrays, "flipped/index": np.asarray(indexes), **scores})


def not_proved() -> CosimResult:
    good = synthetic.passing()
    missing = (*good.not_compared, NotCompared("riscv", "not asked for"), NotCompared("mlir", "not asked for"))
    reason = "riscv-vs-vm: matmul.7: 3 elements not proved"
    return replace(good, verdict="not proved", reasons=(reason,), not_compared=missing)


def night(folder: Path) -> None:
    runs = [run(case, memory, seed) for case in ("digits", "gpt2_block") for memory in ("ideal", "timed") for seed in range(5)]
    for day in range(4):
        write(folder, day, runs)
        collect(folder / "night", folder / "night" / "nights" / night_id(day), folder / "none.toml")
    rows = [failed(runs[0]), changed(runs[1], cycles=3495.0), *runs[2:]]
    below = write(folder, 4, rows)
    write_night(collect(folder / "night", below, folder / "none.toml"), folder.parent / "reports" / "nights")
    assert at(4)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    out = folder / "reports"
    good = with_source(synthetic.passing(), folder)
    store_report(good, out / "passing", None)
    store_report(good, out / "passing", good)
    bad = with_source(synthetic.failing(), folder)
    store_report(bad, out / "failing", None)
    write_divergence(find_failure(str(out / "failing"), out), out / "failing" / "why.html")
    store_report(not_proved(), out / "not_proved", None)
    store_report(synthetic.large(200), out / "large", None)
    case = CampaignEntry("digits[tiny-ideal-0]", good, replay="fleet case run sim/cases/digits.toml", file="sim/cases/digits.toml")
    write_campaign([case, replace(case, result=bad, name="digits[tiny-stall-1]")], out / "campaign")
    night(folder / "work")
    plan = ModelOptions(tokens=8, positions=64)
    request = GenerateRequest(
        "tiny", "abcabcab", 3, ("vm", "iss"), "hbm_small", plan=plan, command="fleet generate x", date="2026-01-02"
    )
    store_generation(generate(load_model("tiny"), request), out / "answer")
    row = synthetic.commits(np.random.default_rng(0), 3)
    stream = StreamRun("aux", "ideal", "pass", (), row, 1100, 1536, 0.5, {"hbm_read_bytes": 1024.0})
    worse = replace(stream, memory="stall:1", verdict="fail", reasons=("commit 1: digest differs",))
    ops = {r.ops[-1]: "matrix products" for r in row}
    bounds = dict.fromkeys(ops, 80.0)
    write_stream_report(
        StreamReport("Two", "A stream.", "python x.py", "hbm_small", 280.0, (stream, worse), ops, bounds), out / "streams"
    )
    fault = {
        "name": "a", "class": "RTL", "what": "a bit is stuck", "place": "a.sv", "found": True, "test": "rtl-vs-iss",
        "localised": True, "seconds": 1.5, "right_place": "instruction 3 gemm", "named": "commit 3 (gemm)",
        "command": "fleet.cli.main stream run x", "exit_code": 1, "output": "FAIL x " * 40, "why_not": "",
    }  # fmt: skip
    write_faults_report([fault, {**fault, "name": "b", "found": False}], out / "faults", revision="a", descriptions={"d": "0" * 64})
    space = space_of(*find_device("vgemm_small"))
    write_coverage(space, new_account(space), None, out / "coverage")
    write_mutants(load_report(ROOT / "reports" / "mutants" / "mutants.json"), out / "mutants")
    costs = tuple(CostPoint("chip", "add", "ideal", 1000 + 10 * i, 1000) for i in range(30))
    met = {"add": InstructionAccount(cases=30, executed=30, modes={"relu": 20, "none": 10})}
    settings = {f"chip/{m}/regs/add": SettingAccount(30, 960, 0) for m in ("ideal", "stall", "timed")}
    write_conformance(ConformanceCoverage(met, settings, costs, cases=30, runs=90, kinds={"random": 30}), out / "conformance")
    write_sweep(swept_outcome(), out / "sweep")
    return out


@pytest.fixture(scope="module")
def shown(reports: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        opened.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        yield opened
        assert not opened.errors
        outside = [url for url in opened.requests if not url.startswith(("data:", reports.absolute().as_uri()))]
        assert not outside


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_fits_a_narrow_screen_in_the_dark(shown: Page, reports: Path, kind: str) -> None:
    page = reports / PAGES[kind]
    if (pictures := os.environ.get("FLEET_PICTURES")) is not None:
        for width in (1300, WIDTH):
            shown.open(page, width)
            shown.picture(Path(pictures) / f"{kind}-{width}.png")
    shown.open(page, WIDTH)
    shown.ask("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert shown.ask("document.documentElement.scrollWidth") <= WIDTH
    sideways = shown.ask(
        "[...document.querySelectorAll('main .scroll')].filter(e => e.querySelector('thead') && e.scrollWidth > e.clientWidth + 1)"
        ".map(e => `${e.ariaLabel}: ${e.scrollWidth}`)"
    )
    assert sideways == []
    cut = shown.ask(
        "[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll:not(:has(thead))') && !e.closest('svg')"
        f" && !e.closest('thead') && e.getBoundingClientRect().right > {WIDTH} + 1)"
        ".map(e => e.tagName + ': ' + e.textContent.slice(0, 60)).slice(0, 5)"
    )
    assert cut == []
    shown.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        ink, paper = (
            [int(n) for n in shown.ask(f"getComputedStyle(document.body).{of}.match(/\\d+/g).slice(0, 3)")]
            for of in ("color", "backgroundColor")
        )
        if pictures is not None:
            shown.picture(Path(pictures) / f"{kind}-dark.png")
    finally:
        shown.call("Emulation.setEmulatedMedia", features=[])
    assert max(paper) < 64
    assert min(ink) > 160


@pytest.mark.parametrize("kind", [k for k in PAGES if k != "index"])
def test_a_page_leads_up_and_to_the_documentation(shown: Page, reports: Path, kind: str) -> None:
    page = reports / PAGES[kind]
    shown.open(page)
    links = shown.ask("[...document.querySelectorAll('a[href]')].map(a => a.href).filter(h => h.startsWith('file:'))")
    assert (reports / "index.html").absolute().as_uri() in links
    missing = [link for link in links if "#" not in link and not Path(link.removeprefix("file://")).exists()]
    assert missing == []
    if kind != "help":
        assert any("/help/" in link for link in links)
        anchors = [link for link in links if "/help/" in link and "#" in link]
        for link in set(anchors):
            file, _, anchor = link.partition("#")
            assert f'id="{anchor}"' in Path(file.removeprefix("file://")).read_text(), link
    bare = shown.ask("[...document.querySelectorAll('pre[data-copy]')].filter(e => e.nextSibling?.tagName !== 'BUTTON').length")
    assert bare == 0


def test_every_report_is_listed(reports: Path) -> None:
    text = (reports / "index.html").read_text()
    missing = [address for kind, address in PAGES.items() if kind not in ("index", "help") and f'href="{address}"' not in text]
    assert missing == []


def test_from_an_operation_to_its_line_its_instructions_and_its_cycles(shown: Page, reports: Path) -> None:
    shown.open(reports / "passing" / "index.html")
    shown.click("#accuracy td.name b a")
    shown.until("location.hash.startsWith('#op-')")
    row = shown.ask("location.hash")
    assert shown.ask(f"document.querySelector('{row} td:nth-child(3)').textContent").strip()[0].isdigit()
    shown.click(f"{row} a[href^='#line-']")
    shown.until("location.hash.startsWith('#line-')")
    line = shown.ask("location.hash")
    assert shown.ask(f"document.querySelector('{line} code').textContent") in SOURCE
    shown.click(f"{line} a[href^='#op-']")
    shown.until(f"location.hash === '{row}'")
    shown.click(f"{row} a[href^='#commit-']")
    shown.until("location.hash.startsWith('#commit-')")
    assert shown.ask("document.querySelector(location.hash).closest('section').id") == "bits"
    shown.click(f"{shown.ask('location.hash')} a[href^='#op-']")
    shown.until(f"location.hash === '{row}'")


def test_from_a_changed_sample_to_the_scores_of_each_engine(shown: Page, reports: Path) -> None:
    shown.open(reports / "passing" / "index.html")
    shown.click("#flips a[href^='#sample-']")
    shown.until("document.querySelector(location.hash)?.open === true")
    assert shown.ask("[...document.querySelectorAll(`${location.hash} tbody tr`)].length") == 3


def test_copy_sort_and_anchors(shown: Page, reports: Path) -> None:
    shown.open(reports / "passing" / "index.html")
    shown.click("#reproduce pre + button")
    shown.until("document.querySelector('#reproduce pre + button').textContent === 'copied'")
    assert shown.ask("navigator.clipboard.readText()") == shown.ask("document.querySelector('#reproduce pre').textContent")
    cycles = "[...document.querySelectorAll('#cycles table')][0]"
    shown.click("#cycles thead th:nth-child(3)")
    found = shown.ask(f"[...{cycles}.tBodies[0].rows].map(r => Number(r.cells[2].innerText.split('\\n')[0].replaceAll(',', '')))")
    assert found == sorted(found, reverse=True)
    shown.click("#cycles thead th:nth-child(3)")
    again = shown.ask(f"[...{cycles}.tBodies[0].rows].map(r => Number(r.cells[2].innerText.split('\\n')[0].replaceAll(',', '')))")
    assert again == found[::-1]
    assert shown.ask("document.querySelector('#cycles h2 .anchor').getAttribute('href')") == "#cycles"


def test_the_order_of_a_run_s_page(shown: Page, reports: Path) -> None:
    shown.open(reports / "not_proved" / "index.html")
    order = shown.ask("[...document.querySelectorAll('main > section')].map(s => s.id)")
    wanted = ["verdict", "engines", "accuracy", "cycles", "not-compared"]
    assert [s for s in order if s in wanted] == wanted
    folded = shown.ask("[...document.querySelectorAll('#not-compared > details')].filter(d => !d.open).map(d => d.innerText)")
    assert any("not asked for" in text for text in folded)


def test_the_run_before_is_kept(shown: Page, reports: Path) -> None:
    shown.open(reports / "passing" / "index.html")
    shown.click("#verdict a[href='previous.html']")
    shown.until("location.pathname.endsWith('/previous.html')")


def test_a_page_of_200_operations_is_small(reports: Path) -> None:
    assert (reports / "large" / "index.html").stat().st_size < 300_000
