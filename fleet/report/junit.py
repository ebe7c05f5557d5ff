"""The result as JUnit XML, the form that every CI server reads: one suite a comparison, one case an operation or commit."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from fleet.cosim.result import Comparison, CosimResult
from fleet.report.headline import engine_title

__all__ = ["junit"]


def junit(result: CosimResult) -> str:
    """XML text. Failures carry the reason and the one command that makes the run again."""
    name = result.identity.case or result.identity.model
    suites = [
        _engines(result),
        *(_comparison(c, result) for c in result.comparisons if c.kind != "info"),
        _task(result),
        _whole(result),
    ]
    suites = [s for s in suites if len(s)]
    total = sum(len(s) for s in suites)
    failures = sum(1 for s in suites for case in s if case.find("failure") is not None)
    root = ET.Element("testsuites", name=_clean(name), tests=str(total), failures=str(failures), errors="0", skipped="0")
    for suite in suites:
        failed = sum(1 for case in suite if case.find("failure") is not None)
        suite.attrib |= {"tests": str(len(suite)), "failures": str(failed), "errors": "0", "skipped": "0"}
        root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(name: str) -> ET.Element:
    return ET.Element("testsuite", name=_clean(name))


def _case(suite: ET.Element, name: str, failure: str | None, result: CosimResult, seconds: float = 0.0) -> None:
    case = ET.SubElement(suite, "testcase", classname=suite.attrib["name"], name=_clean(name), time=f"{seconds:.3f}")
    if failure is not None:
        element = ET.SubElement(case, "failure", message=_clean(failure))
        element.text = _clean(f"{failure}\nreplay: {result.identity.command}")


def _engines(result: CosimResult) -> ET.Element:
    suite = _suite("engines")
    for engine in result.engines:
        if engine.status != "not asked":
            failure = None if engine.status == "ran" else engine.error or "did not run"
            _case(suite, f"{engine_title(engine.name)} runs", failure, result, engine.elapsed_s)
    return suite


def _comparison(comparison: Comparison, result: CosimResult) -> ET.Element:
    suite = _suite(comparison.name)
    for row in comparison.operations:
        _case(suite, row.op, (row.reason or "failed") if row.verdict == "fail" else None, result)
    for row in comparison.commits:
        text = f"{row.reference_digest} expected, {row.other_digest} found"
        _case(suite, f"commit {row.seq} {row.instruction}", None if row.equal else text, result)
    reason = "; ".join(comparison.reasons) or comparison.verdict
    _case(suite, "verdict", None if comparison.verdict == "pass" else reason, result)
    return suite


def _task(result: CosimResult) -> ET.Element:
    suite = _suite("task")
    for task in result.tasks:
        if task.must_agree:
            failure = f"{len(task.flips)} of {task.samples} samples have another class than the golden" if task.flips else None
            _case(suite, f"{engine_title(task.engine)} agrees with the golden", failure, result)
    return suite


def _whole(result: CosimResult) -> ET.Element:
    suite = _suite("run")
    _case(suite, "verdict", None if result.verdict == "pass" else "; ".join(result.reasons) or result.verdict, result)
    return suite


def _clean(text: str) -> str:
    """Without the characters that XML 1.0 cannot hold."""
    return "".join(
        c if c in "\n\t" or (c >= " " and c not in "\ufffe\uffff" and not "\ud800" <= c <= "\udfff") else "?" for c in text
    )
