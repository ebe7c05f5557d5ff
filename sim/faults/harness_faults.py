"""Faults in the harness itself: a comparison, a tolerance, a waiver, a cache or an exit code that hides what it should show.

What guards a guard is a test; it is run as a user would run it.
"""

from __future__ import annotations

from functools import partial

from data import DEVICE, DRAWN, SEEDS, STALLS, digits
from planting import Edit, Fault, by_test
from software_faults import RUN_CASE
from vgemm_faults import streams

_fault = partial(by_test, only=False)

FAULTS = (
    _fault(
        "waiver-of-any-case",
        "waivers: one case's exceptions count for every case",
        "tests/regress/test_cases.py",
        "test_waivers",
        Edit("fleet/regress/waivers.py", "mine = [w for w in waivers if w.case == case]", "mine = list(waivers)"),
    ),
    _fault(
        "waiver-outlives",
        "waivers: an exception holds to the end of the year in which it expires",
        "tests/regress/test_cases.py",
        "test_waivers",
        Edit(
            "fleet/core/exemption.py",
            "self.expires is not None and self.expires < today",
            "self.expires is not None and self.expires.year < today.year",
        ),
    ),
    _fault(
        "exit-code",
        "fleet stream run: exits with 0 whatever it found",
        "tests/streams/test_streams.py",
        "test_the_command_fails_stores_explains_and_plays_again",
        Edit(
            "fleet/cli/running/stream.py",
            "failed += _told(r, outcome, folder)\n    return 1 if failed else 0",
            "failed += _told(r, outcome, folder)\n    return 0",
        ),
    ),
    _fault(
        "images-not-compared",
        "streams: the memories of both sides are not held against each other at the end",
        "tests/streams/test_streams.py",
        "test_a_byte_outside_the_destination_is_found",
        Edit("fleet/streams/images.py", "if len(differing) < most and not", "if len(differing) < 0 and not"),
    ),
    _fault(
        "cache-stale",
        "build cache: the sources' contents are not in the key, so that a stale simulation is used",
        "tests/engines/rtl/test_rtl_build.py",
        "test_everything_that_matters_makes_another_build",
        Edit(
            "fleet/engines/rtl_sim/build.py",
            '        digest.update(f"\\0{name}\\0{len(content)}\\0".encode())\n        digest.update(content)\n',
            '        digest.update(f"\\0{name}\\0".encode())\n',
        ),
    ),
    _fault(
        "other-program",
        "comparison: traces of different programs are compared",
        "tests/compare/test_compare.py",
        "test_traces_that_do_not_belong_together_are_refused",
        Edit("fleet/compare/traces.py", "if same_program and reference", "if not same_program and reference"),
    ),
    _fault(
        "digest-not-compared",
        "comparison: a commit's digest is not looked at, only its bytes and its result",
        "tests/compare/test_compare.py",
        "test_any_difference_is_the_first_divergence",
        Edit("fleet/compare/traces.py", "c.ops, c.digest, c.bytes_written", "c.ops, c.bytes_written"),
    ),
    _fault(
        "tolerance-product",
        "tolerance: the bound of a product is a thousand times as wide",
        "tests/compare/test_tolerance.py",
        "test_a_softmax_has_a_bound_however_wide_its_logits_bound_is",
        Edit(
            "fleet/compare/rules/arithmetic.py",
            "    (a, b), (ea, eb) = s.x, s.e\n    shape =",
            "    (a, b), (ea, eb) = s.x, [1024 * e for e in s.e]\n    shape =",
        ),
    ),
    _fault(
        "classes-may-flip",
        "comparison: predicted classes need not agree",
        "tests/cosim/test_campaign.py",
        "test_a_class_that_only_rounding_flips_must_not_flip_either",
        Edit("fleet/cosim/comparisons.py", "classes_must_agree=True", "classes_must_agree=False"),
    ),
    _fault(
        "nothing-compared-passes",
        "pytest: a case that compared nothing passes",
        "tests/regress/test_pytest_plugin.py",
        "test_a_run_that_compares_nothing_is_red_and_incomplete",
        Edit("fleet/regress/pytest_plugin.py", 'if result.verdict != "pass":', 'if result.verdict == "fail":'),
        only=True,
    ),
    _fault(
        "seed-of-programs",
        "random programs: none depends on its number",
        "tests/verify/test_drawn_programs.py",
        "test_a_program_depends_on_its_number",
        Edit(
            "fleet/verify/conformance/suite.py", "rng = np.random.default_rng([number, zlib", "rng = np.random.default_rng([0, zlib"
        ),
        only=True,
    ),
    Fault(
        "seed-of-data",
        "random inputs: the seed is ignored",
        ("fleet.cli.main", "case", "run", SEEDS),
        "drew the same inputs: the seed is ignored",
        (r"difference.py:forward: seeds 0 and 1 drew the same inputs: the seed is ignored",),
        (Edit("fleet/frontend/source.py", "rng = np.random.default_rng(seed)", "rng = np.random.default_rng(0)"),),
        at="the inputs of seeds 0 and 1",
        kind="harness",
    ),
    Fault(
        "seed-of-weights",
        "random weights: the seed is ignored",
        ("fleet.cli.main", "case", "run", DRAWN),
        "drew the same weights: the seed is ignored",
        (r"difference.py:forward: seeds 0 and 1 drew the same weights: the seed is ignored",),
        (Edit("fleet/cosim/models/data.py", "default_rng([seed, ", "default_rng([0, "),),
        at="the weights of seeds 0 and 1",
        kind="harness",
    ),
    Fault(
        "seed-of-stalls",
        "rtl: the seed of a memory that stalls is ignored",
        ("fleet.cli.main", "case", "run", STALLS),
        "stalled rtl at the same cycles",
        (r"seeds 0 and 1 stalled rtl at the same cycles: the memory's seed is ignored",),
        (Edit("fleet/engines/rtl.py", 'return f"{memory}:{seed % 2**64}"', 'return f"{memory}:0"'),),
        at="the stalls of seeds 0 and 1",
        kind="harness",
    ),
    Fault(
        "memory-model-ignored",
        "rtl: runs on ideal memory whatever was asked for",
        digits("--engines", "vm,iss,rtl", *DEVICE, "--memory", "timed"),
        "rtl did not run",
        (r"memory timed was asked for and no row of a DRAM was counted: another memory answered",),
        (Edit("fleet/engines/rtl.py", "self._model = memory_model(options.memory, options.seed)", 'self._model = "ideal"'),),
        at="the memory of engine rtl",
        kind="harness",
    ),
    Fault(
        "memory-model-ignored-streams",
        "streams: run on ideal memory whatever was asked for",
        streams("finish/directed/1", options=("--memory", "timed:1")),
        "FAIL ",
        (r"memory timed:1 was asked for and no row of a DRAM was counted: another memory answered",),
        (Edit("fleet/streams/run.py", "model = memory_model(setting.memory, seed)", 'model = "ideal"'),),
        at="the memory of the stream",
        kind="harness",
        nightly=True,
    ),
    Fault(
        "digest-collapses",
        "digest: a factor is 0 on both sides, so that all commits have the same digest",
        RUN_CASE,
        "FAIL      vm-vs-golden",
        (r"hbm_small: commit 0 \(h1\): stored mvm_bn \w+ -, now mvm_bn 0000000000000000 -",),
        (
            Edit("fleet/isa/digest.py", "0x9E3779B97F4A7C15", "0x0"),
            Edit("rtl_models/memory/digest.h", "0x9E3779B97F4A7C15ull", "0x0ull"),
        ),
        at="commit 0, h1",
        kind="harness",
    ),
)
