"""The site builds without a warning, its links lead somewhere, nothing is fetched; what it generates is what the project has."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from browser import CHROMIUM, browser

from fleet.cli.listing import page as commands_page
from fleet.cli.looking.help import pages
from fleet.cli.main import fleet
from fleet.regress import cases
from fleet.sdk import device_file, dram

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "build_site.py"
MISSING = [name for name in ("sphinx", "myst_parser", "furo") if find_spec(name) is None]
check = runpy.run_path(str(SCRIPT))["check"]


@pytest.mark.nightly
@pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not installed (the extra `docs`)")
def test_the_site_builds_strictly_and_searches_without_a_server(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run([sys.executable, str(SCRIPT), str(site)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    built = {p.relative_to(site).with_suffix("") for p in site.rglob("*.html")}
    assert {p.relative_to(ROOT / "docs").with_suffix("") for p in (ROOT / "docs").rglob("*.md")} <= built
    index = (site / "searchindex.js").read_text()  # a script, which a page on a disk may load; a fetched file it may not
    found = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    assert {"golden", "pytorch", "systol"} <= set(found["terms"]) | set(found["titleterms"])
    assert "data-content_root" in (site / "search.html").read_text()
    options = (site / "_static" / "documentation_options.js").read_text()
    assert re.search(r"SHOW_SEARCH_SUMMARY: false", options)
    said = (site / "reference" / "commands.html").read_text()
    assert "fleet-cosim" in said
    assert "instruction_set = " in re.sub(r"<[^>]+>", "", (site / "reference" / "device-file.html").read_text())


GOOD = "<body><h1 id='a'>A</h1><a href='b.html#b'>b</a><a href='#a'>a</a><a href='https://example.org/x'>elsewhere</a></body>"


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ("<a href='c.html'>c</a>", "index.html:1: c.html: no such file"),
        ("<a href='b.html#c'>c</a>", "index.html:1: b.html#c: no such anchor"),
        (
            "<script src='https://example.org/x.js'></script>",
            "index.html:1: https://example.org/x.js: is fetched from another host",
        ),
        ("<link rel='stylesheet' href='//example.org/x.css'>", "index.html:1: //example.org/x.css: is fetched from another host"),
        ("<img src='gone.png'>", "index.html:1: gone.png: no such file"),
    ],
)
def test_what_is_wrong_with_a_site_is_found(planted: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "b.html").write_text("<p id='b'>b</p>")
    assert check(tmp_path) == []
    (tmp_path / "index.html").write_text(GOOD.replace("</body>", f"{planted}</body>"))
    assert check(tmp_path) == [said]


def test_a_style_that_fetches_and_a_folder_without_pages_are_found(tmp_path: Path) -> None:
    assert check(tmp_path) == [f"{tmp_path}: no pages"]
    (tmp_path / "index.html").write_text("<p>")
    (tmp_path / "a.css").write_text("@font-face { src: url('https://example.org/f.woff2') }")
    assert check(tmp_path) == ["a.css: https://example.org/f.woff2: is fetched from another host"]


def _commands(command: click.Command, name: str, above: click.Context | None = None) -> list[tuple[str, click.Command]]:
    context = click.Context(command, above, name)
    found = [(context.command_path, command)]
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            known = command.get_command(context, below)
            assert known is not None
            found += _commands(known, below, context)
    return found


def test_every_command_and_option_is_on_the_page_of_commands() -> None:
    text = commands_page()
    all_commands = _commands(fleet, "fleet")[1:]
    assert len(all_commands) > 50
    for path, command in all_commands:
        _, _, section = text.partition(f" `{path}`\n")
        assert section or command.hidden, path
        own = section.partition("\n#")[0]
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden and "--help" not in parameter.opts:
                assert all(option in own for option in parameter.opts), (path, parameter.opts)


def _keys(said: str) -> dict[str, set[str]]:
    """Table -> keys of the TOML that a reader's documentation shows. ids of keys that are comments do not count."""
    lines = [line.strip() for line in said.splitlines()]
    text = "\n".join(line for line in lines if re.match(r"(\w+\s*=|\[)", line))
    whole = tomllib.loads(text)
    tables = {"": set(whole)}
    for key, value in whole.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            tables[key] = set(value[0])
    return tables


def test_the_keys_of_files_are_those_that_their_readers_take() -> None:
    case = _keys(cases.__doc__ or "")
    assert case[""] == set(cases._TOP)
    assert case["runs"] <= set(cases._MATRIX)
    device = _keys(device_file.__doc__ or "")
    assert device[""] == {*device_file._TOP, "memories", "timing", "clock_estimate"}
    assert all(limit in (device_file.__doc__ or "") for limit in device_file.LIMITS)
    assert set(re.findall(r"\b[a-z]\w+\b", dram.__doc__ or "")) >= {*dram._CLOCKS, *dram._REAL, "map"}


def _slugs(path: Path) -> set[str]:
    """The anchors of a page's headings, as forges and MyST make them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.replace("`", "").lower()).replace(" ", "-") for head in heads}


def test_twenty_questions_have_an_answer_each() -> None:
    lines = (ROOT / "docs" / "questions.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][1:]
    assert len(rows) == 20
    assert len({question for question, _, _ in rows}) == 20
    for question, answer, page in rows:
        assert question.endswith("?") or "What now" in question, question
        assert answer.endswith("."), question
        links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", page)
        assert links, question
        for target, anchor in links:
            path = ROOT / "docs" / target
            assert path.is_file(), (question, target)
            assert not anchor or anchor in _slugs(path), (question, target, anchor)


def test_the_readme_is_short_and_ends_in_five_steps() -> None:
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") < 120
    steps = re.findall(r"^(\d)\. \[[^\]]*\]\(([^)]+)\)", text, re.M)
    assert [n for n, _ in steps] == list("12345")
    assert re.search(r"^5\. .*\n\Z", text, re.M), "nothing comes behind the steps"
    for target, anchor in re.findall(r"\]\(([^):#]+)(?:#([^)]+))?\)", text):
        assert (ROOT / target).exists(), target
        assert not anchor or anchor in _slugs(ROOT / target), (target, anchor)


def test_help_finds_pages_in_folders(capsys: pytest.CaptureFixture[str]) -> None:
    from fleet.cli.main import main

    files = list((ROOT / "docs").rglob("*.md"))
    assert len(pages()) == len(files)  # no two have one name
    assert main(["help", "docs/tutorial/first-run.md"]) == 0
    assert capsys.readouterr().out == (ROOT / "docs/tutorial/first-run.md").read_text()
    assert main(["help"]) == 0
    assert all(len(line.split(maxsplit=1)) == 2 for line in capsys.readouterr().out.splitlines())


@pytest.mark.nightly
@pytest.mark.skipif(bool(MISSING) or CHROMIUM is None, reason="the extra `docs` or chromium is not installed")
def test_the_site_opens_and_searches_from_a_disk(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run([sys.executable, str(SCRIPT), str(site)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with browser(tmp_path / "profile") as page:
        page.open(site / "index.html")
        page.ask(
            "(() => { const f = document.querySelector('form.sidebar-search-container'); f.q.value = 'pytorch'; f.submit(); })()"
        )
        page.until("location.pathname.endsWith('/search.html') && document.querySelectorAll('ul.search li a').length > 0")
        found = page.ask("[...document.querySelectorAll('ul.search li a')].map(a => a.getAttribute('href'))")
        assert any(address.startswith("onnx.html") for address in found)
        for width in (1300, 390):
            for name in ("index.html", "tutorial/first-run.html", "questions.html", "reference/commands.html"):
                page.open(site / name, width)
                assert page.ask("document.documentElement.scrollWidth") <= width, name
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        paper = page.ask("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)")
        assert max(paper) < 64
        assert not page.errors
        assert not [url for url in page.requests if not url.startswith(("data:", site.as_uri()))]
