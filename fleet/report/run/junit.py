"""Results as JUnit XML, which every CI server reads: one suite per comparison, one test case per operation, commit or test.

A test case's classname begins with the name of its run, and pairs of classname and name are unique.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from fleet.compare.verdict import Comparison
from fleet.cosim.result import CosimResult
from fleet.report.frame.text import engine_title


def junit(result: CosimResult) -> str:
    """Return the XML text of one result. Failures carry the reason and the command that repeats the run."""
    name = result.identity.case or result.identity.model
    document = JunitDocument(name)
    document.add_result(result, name, result.identity.model.partition(":")[0])
    return document.text()


class JunitDocument:
    """A document to which runs and tests are added."""

    def __init__(self, name: str) -> None:
        self._root = ET.Element("testsuites", name=_clean(name))
        self._keys: set[tuple[str, str]] = set()
        self._suites: dict[str, ET.Element] = {}

    def add_result(self, result: CosimResult, run: str, file: str, failure: str | None = None) -> None:
        """Add all results of a run. file: what it came from. failure: why the run failed in addition to its verdict."""
        command = result.identity.command
        one = _Suite(self, "engines", run, file, command)
        for engine in result.engines:
            if engine.status != "not asked":
                wrong = None if engine.status == "ran" else engine.error or "did not run"
                one.case(f"{engine_title(engine.name)} runs", wrong, engine.elapsed_s)
        for comparison in result.comparisons:
            if comparison.kind != "info":
                self._comparison(comparison, _Suite(self, comparison.name, run, file, command))
        one = _Suite(self, "task", run, file, command)
        for task in result.tasks:
            if task.must_agree:
                wrong = f"{len(task.flips)} of {task.samples} samples have another class than the golden" if task.flips else None
                one.case(f"{engine_title(task.engine)} agrees with the golden", wrong)
        reasons = [*([failure] if failure else []), *(result.reasons if result.verdict != "pass" else ())]
        wrong = None if result.verdict == "pass" and not failure else "; ".join(reasons) or result.verdict
        _Suite(self, "run", run, file, command).case("verdict", wrong, sum(e.elapsed_s for e in result.engines))

    def add_test(
        self, kind: str, name: str, file: str, seconds: float, *, failure: str | None = None, skipped: str | None = None,
        replay: str = "",
    ) -> None:  # fmt: skip
        """Add one test of a kind ("conformance"). failure: why it failed, or None. skipped: why it was skipped, or None."""
        _Suite(self, kind, "", file, replay).case(name, failure, seconds, skipped)

    def text(self) -> str:
        """Return the XML."""
        totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
        for suite in self._root:
            counts = {
                "tests": len(suite), "failures": len(suite.findall("testcase/failure")), "errors": 0,
                "skipped": len(suite.findall("testcase/skipped")),
            }  # fmt: skip
            suite.attrib |= {key: str(count) for key, count in counts.items()}
            totals = {key: count + counts[key] for key, count in totals.items()}
        self._root.attrib |= {key: str(count) for key, count in totals.items()}
        ET.indent(self._root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(self._root, encoding="unicode") + "\n"

    def _comparison(self, comparison: Comparison, suite: _Suite) -> None:
        for row in comparison.operations:
            suite.case(row.op, (row.reason or "failed") if row.verdict in {"fail", "not proved"} else None)
        for row in comparison.commits:
            text = f"{row.reference_digest} expected, {row.other_digest} found"
            suite.case(f"commit {row.seq} {row.instruction}", None if row.equal else text)
        reason = "; ".join(comparison.reasons) or comparison.verdict
        suite.case("verdict", None if comparison.verdict == "pass" else reason)

    def element(self, suite: str, classname: str, name: str) -> ET.Element:
        """Add a test case to a suite, under a name that is unique in its class."""
        unique, n = name, 2
        while (classname, unique) in self._keys:
            unique, n = f"{name} ({n})", n + 1
        self._keys.add((classname, unique))
        if suite not in self._suites:
            self._suites[suite] = ET.SubElement(self._root, "testsuite", name=suite)
        return ET.SubElement(self._suites[suite], "testcase", classname=classname, name=unique)


class _Suite:
    """The test cases of one kind of one run; a suite without any is not written."""

    def __init__(self, document: JunitDocument, kind: str, run: str, file: str, replay: str) -> None:
        self._document, self._file, self._replay = document, file, replay
        self._name, self._class = (f"{run}: {kind}", f"{run}.{kind}") if run else (kind, kind)

    def case(self, name: str, failure: str | None, seconds: float = 0.0, skipped: str | None = None) -> None:
        case = self._document.element(_clean(self._name), _clean(self._class), _clean(name))
        case.attrib |= {"file": _clean(self._file), "time": f"{seconds:.3f}"}
        if failure is not None:
            element = ET.SubElement(case, "failure", message=_clean(failure))
            element.text = _clean(f"{failure}\nreplay: {self._replay}" if self._replay else failure)
        elif skipped is not None:
            ET.SubElement(case, "skipped", message=_clean(skipped))


def _clean(text: str) -> str:
    """Replace the characters that XML 1.0 cannot hold."""
    return "".join(
        c if c in "\n\t" or (c >= " " and c not in "\ufffe\uffff" and not "\ud800" <= c <= "\udfff") else "?" for c in text
    )
