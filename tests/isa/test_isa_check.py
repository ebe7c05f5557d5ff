"""`fleet isa check`: nothing to find in whole sets, and every planted wrong found, in one line with file and line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.errors import DeviceError
from fleet.isa import registry
from fleet.isa.checking.layouts import check_layout
from fleet.isa.checking.whole import check_set
from fleet.isa.registry import find_instruction_set
from fleet.sdk import Arrangement, Layout

ImportFrom = Callable[[Path], None]

EXECUTE = 'return [Write("ddr", fields["vadd_out"], (a + b).view("u1"))]'
READ_B = 'b = memory.view("ddr", fields["vadd_b"], size).view("<u4")'
LAST = 'return Arrangement.flat(elements, np.dtype("<i4"), -(-elements // beat) * beat)'

# File, text, what stands there instead, the finding.
WRONG: list[tuple[str, str, str, str]] = [
    (
        "semantics.py", EXECUTE, EXECUTE.replace('fields["vadd_out"]', 'fields["vadd_out"] + BEAT'),
        r"semantics\.py:\d+: vadd: writes bytes \[0x[0-9a-f]+, 0x[0-9a-f]+\) of ddr, which `writes` does not declare",
    ),
    (
        "semantics.py", EXECUTE, "a += b; " + EXECUTE.replace("a + b", "a"),
        r"semantics\.py:\d+: vadd: writes into memory itself \(ddr 0x",
    ),
    (
        "semantics.py", EXECUTE,
        "import random; " + EXECUTE.replace("a + b", "a + b + np.uint32(random.getrandbits(32))"),
        r"semantics\.py:\d+: vadd: is not deterministic: the same call",
    ),
    (
        "semantics.py", EXECUTE,
        "cls.calls = getattr(cls, 'calls', 0) + 1; " + EXECUTE.replace("a + b", "a + np.uint32(cls.calls // 64)"),
        r"semantics\.py:\d+: vadd: is not deterministic: a call gives another result after other calls",
    ),
    (
        "semantics.py", READ_B, READ_B.replace('fields["vadd_b"]', 'max(fields["vadd_b"], BEAT) - BEAT'),
        r"semantics\.py:\d+: vadd: depends on memory that `reads` does not declare: ddr 0x",
    ),
    (
        "semantics.py", EXECUTE, EXECUTE.replace("[Write", '[Write("reg", 0x30, a[:1].view("u1")), Write'),
        r"semantics\.py:\d+: vadd: writes register 0x30, its unit has no result register",
    ),
    (
        "semantics.py", EXECUTE, EXECUTE.replace("return [", 'return 2 * ['),
        r"semantics\.py:\d+: vadd: writes bytes in \[0x[0-9a-f]+, 0x[0-9a-f]+\) of ddr twice",
    ),
    (
        "semantics.py", EXECUTE, EXECUTE.replace("(a + b)", "(a + b[:-1])"),
        r"semantics\.py:\d+: vadd: a legal call fails: ValueError: ",
    ),
    (
        "semantics.py", "return 2 + 8 * fields", "return 0 * fields",
        r"semantics\.py:\d+: vadd: cost is 0, expected an integer above 0",
    ),
    (
        "semantics.py", 'if address + BEAT * beats > device.memory["ddr"]', "if False",
        r"semantics\.py:\d+: vadd: a legal call (reads|writes) \[0x[0-9a-f]+, 0x[0-9a-f]+\) of ddr, which has 0x10000 bytes",
    ),
    (
        "semantics.py", "return [why for _, why in", "1 // (fields['vadd_beats'] & 0xFF); return [why for _, why in",
        r"semantics\.py:\d+: vadd: `legal` fails: ZeroDivisionError",
    ),
    (
        "semantics.py", "if not 1 <= beats <= limit", "if not 1 <= beats < limit",
        r"semantics\.py:\d+: vadd: what its conformance source draws is not legal: vadd_beats is 16, expected 1 to 16",
    ),
    (
        "semantics.py", "return 2 + 8 * fields", "return -8 * fields",
        r"semantics\.py:\d+: vadd: cost is -\d+, expected an integer above 0",
    ),
    (
        "semantics.py", "return 2 + 8 * fields", "raise KeyError(fields) # ",
        r"semantics\.py:\d+: vadd: `cost` fails: KeyError: ",
    ),
    (
        "semantics.py", EXECUTE, "raise SystemExit(0)",
        r"semantics\.py:\d+: vadd: a legal call fails: SystemExit: 0",
    ),
    (
        "semantics.py", EXECUTE, "return None",
        r"semantics\.py:\d+: vadd: a legal call fails: TypeError: ",
    ),
    (
        "semantics.py", 'return [Range("ddr", fields["vadd_out"]', 'return 5; [Range("ddr", fields["vadd_out"]',
        r"semantics\.py:\d+: vadd: `writes` answers 5, expected a sequence of Range",
    ),
    (
        "semantics.py", "return [why for _, why in", "return 'no'; return [why for _, why in",
        r"semantics\.py:\d+: vadd: `legal` answers 'no', expected a sequence of lines",
    ),
    (
        "semantics.py", "    def cost(",
        "    def destination(cls, device, fields):\n        return [Range('ddr', fields['vadd_out'], BEAT, 0, (2,), (BEAT,))]\n\n"
        "    @classmethod\n    def cost(",
        r"semantics\.py:\d+: vadd: `destination` names other ranges than `writes`",
    ),
    (
        "semantics.py", "    def writes(",
        "    def writes(cls, device, fields):\n        return [Range('ddr', 0, 1, 0, (2,), (2,))]\n\n"
        "    @classmethod\n    def old_writes(",
        r"semantics\.py:\d+: vadd: `writes` answers .*, expected contiguous ranges",
    ),
    (
        "semantics.py", "return 2 + 8 * fields", "return 1 or fields",
        r"semantics\.py:\d+: vadd: \d+ bytes of ddr in the 1 cycles of `cost`; vector_tiny states ddr_bytes_per_cycle = 64 ",
    ),
    (
        "semantics.py", "    def cost(",
        "    def macs(cls, device, fields):\n        return 3, 2\n\n    @classmethod\n    def cost(",
        r"semantics\.py:\d+: vadd: `macs` answers \(3, 2\), expected \(useful, issued\)",
    ),
    (
        "layout.py", LAST, LAST.replace("elements", "max(elements - 1, 1)"),
        r"layout\.py:\d+: layout: a tensor \[2\] of int32 cannot be packed: ValueError: ",
    ),
    (
        "layout.py", LAST, 'return Arrangement(prod(shape[:-1]), shape[-1], shape[-1], 1, 1, elements + beat, np.dtype("<i4"))',
        r"layout\.py:\d+: layout: a tensor \[2, 2\] of int32 does not come back from memory: element \[0, 1\] is 2, expected 1",
    ),
    (
        "layout.py", "class VectorLayout(Layout):", "class VectorLayout(Layout):\n    size = lambda self, shape, dtype: 64\n",
        r"layout\.py:\d+: layout: a tensor \[17\] of int32 is packed into 128 bytes, `size` says 64",
    ),
    (
        "layout.py", LAST, LAST.replace("-(-elements // beat)", "(elements // beat)"),
        r"layout\.py:\d+: layout: a tensor \[1\] of int32 has no place: element \[0, 0\] leaves the 0 elements of ",
    ),
    (
        "conformance.py", "return Draw(", "return [] and Draw(",
        r"conformance\.py:\d+: vadd: its conformance source answers a list",
    ),
    (
        "__init__.py", 'conformance={"vadd": VectorAddSource()},', "",
        r'semantics\.py:\d+: vadd: no source in `conformance`: nothing can be drawn',
    ),
    (
        "rtl/generated/vector_add_pkg.sv", "16'h0021", "16'h0022",
        r"vector_add_pkg\.sv:\d+: is not what the description generates; run `python -m fleet\.isa\.export",
    ),
]  # fmt: skip


def planted(folder: Path, file: str, old: str, new: str) -> None:
    path = folder / "vector_add" / file
    text = path.read_text()
    assert text.count(old) == 1, f"'{old}' stands there {text.count(old)} times"
    text = text.replace(old, new)
    path.write_text(text.replace("from fleet.sdk", "import numpy as np\nfrom fleet.sdk", 1) if file == "semantics.py" else text)


def test_whole_sets_have_no_findings(installed_set: Path, import_from: ImportFrom) -> None:
    import_from(installed_set)
    for name in ("vector_add", "hbm0923"):
        found = find_instruction_set(name)
        device = min(found.devices.values(), key=lambda d: d.parameters["HbmPorts"])
        report = check_set(found, device, draws=6)
        assert [str(f) for f in report.findings] == []
        assert report.instructions == len(found.instructions)
        assert report.draws == 6 * report.instructions


def test_the_hardware_of_the_adder_refuses_what_its_model_refuses(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    import_from(installed_set)
    assert main(["isa", "check", "vector_add"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["conformance: 9 cases on iss and rtl, 0 failed", "PASS 0 findings"]


@pytest.mark.parametrize(("file", "old", "new", "message"), WRONG, ids=[w[3][-30:] for w in WRONG])
def test_a_planted_wrong_is_one_line(
    installed_set: Path, import_from: ImportFrom, file: str, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(installed_set, file, old, new)
    import_from(installed_set)
    assert main(["isa", "check", "vector_add", "--no-rtl"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert re.search(message, lines[0]), lines
    assert re.match(r"/.*:\d+: ", lines[0])
    assert lines[-1].endswith("FAIL 1 finding")


def test_a_limit_that_legality_lacks_shows_in_a_variant(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    """No drawn call has that many beats, and a variant of one does."""
    planted(installed_set, "semantics.py", "if not 1 <= beats <= limit", "if not 1 <= beats <= 2 * limit")
    planted(installed_set, "semantics.py", EXECUTE, "assert fields['vadd_beats'] <= 16, 'too long'; " + EXECUTE)
    import_from(installed_set)
    assert main(["isa", "check", "vector_add", "--no-rtl"]) == 1
    said = r"semantics\.py:\d+: vadd: a legal call fails: AssertionError: too long \(vadd_a=\S+ .*vadd_beats=0x1[1-9a-f] "
    assert re.search(said, capsys.readouterr().out)


def test_more_products_than_the_device_has_cells_are_found(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(installed_set, "devices/vector_tiny.toml", "macs_per_cycle = 0", "macs_per_cycle = 16")
    counted = "    def macs(cls, device, fields):\n        return 0, 10**6\n\n    @classmethod\n    def cost("
    planted(installed_set, "semantics.py", "    def cost(", counted)
    import_from(installed_set)
    assert main(["isa", "check", "vector_add", "--no-rtl"]) == 1
    said = (
        r"semantics\.py:\d+: vadd: 1000000 multiply-accumulates in the \d+ cycles of `cost`; vector_tiny states macs_per_cycle = 16"
    )
    assert re.search(said, capsys.readouterr().out)


class _Singles(Layout):
    """float32 alone."""

    def arrangement(self, shape: tuple[int, ...], dtype: np.dtype) -> Arrangement:
        if dtype != np.float32:
            raise DeviceError(f"float32, not {dtype}")
        return Arrangement.flat(int(np.prod(shape)), np.dtype("<f4"))


def test_a_layout_takes_the_dtype_of_its_traces() -> None:
    """Else the first run refuses a float32 model: it holds float32, not float16."""
    found = find_instruction_set("vgemm")
    (finding,) = check_layout(replace(found, layout=_Singles()))
    assert str(finding).endswith(
        "layout: takes float32, and not float16, in which traces keep its real tensors; "
        "set `real = np.dtype(np.float32)` in the class"
    )
    whole = type("Whole", (_Singles,), {"real": np.dtype(np.float32)})()
    assert list(check_layout(replace(found, layout=whole))) == []
    assert list(check_layout(found)) == []


def test_what_the_hardware_refuses_has_no_cost(installed_set: Path, import_from: ImportFrom) -> None:
    planted(installed_set, "semantics.py", "return 2 + 8 * fields", "assert 1 <= fields['vadd_beats'] <= 16; return 2 + 8 * fields")
    import_from(installed_set)
    assert main(["isa", "check", "vector_add"]) == 0


def test_a_cost_that_is_not_the_hardwares_is_found(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(installed_set, "semantics.py", "return 2 + 8 * fields", "return 4 + 9 * fields")
    import_from(installed_set)
    assert main(["isa", "check", "vector_add"]) == 1
    *_, found, ran, verdict = capsys.readouterr().out.splitlines()
    said = r"/.*semantics\.py:\d+: vadd: `cost` is \d+ cycles where the hardware took \d+ with ideal memory; "
    assert re.match(said + r"it is wrong in (\d+) of \1 calls, in the median by more than 10%$", found), found
    assert (ran, verdict) == ("conformance: 9 cases on iss and rtl, 0 failed", "FAIL 1 finding")


# What the description or the binding has: refused when the set is loaded, with exit code 2.
REFUSED: list[tuple[str, str, str, str]] = [
    ("vector_add.rdl", "error[1:1] = 0;\n    } irq_enable", "error[0:0] = 0;\n    } irq_enable", r"vector_add\.rdl:\d+: .*overlap"),
    ("vector_add.rdl", "vadd_beats @ 0x1C", "vadd_beats @ 0x1E", r"vector_add\.rdl:\d+: "),
    ("vector_add.rdl", "default regwidth = 32;", "default regwidth = 16;", r"vector_add\.rdl:\d+: "),
    ("vector_add.rdl", "} vadd_b @ 0x14", "} vadd_a @ 0x14", r"vector_add\.rdl:\d+: "),
    ("__init__.py", '{"vadd": VectorAdd},', "{},", r"vector_add\.rdl:\d+: .*described without a class: vadd"),
    (
        "__init__.py", '{"vadd": VectorAdd},', '{"vadd": VectorAdd, "vsub": type("S", (VectorAdd,), {"name": "vsub"})},',
        r"classes without a description: vsub",
    ),
    ("vector_add.rdl", "fleet_align = 64; } value[31:0] = 0;\n    } vadd_a", "fleet_align = 0; } value[31:0] = 0;\n    } vadd_a",
     r"vector_add\.rdl:\d+: value: fleet_align is 0"),
    ("vector_add.rdl", "fleet_opcode = 0x21;", "fleet_opcode = 0x121;",
     r"vector_add\.rdl:\d+: vadd: opcode 289 is outside 1 to 255"),
    ("vector_add.rdl", "fleet_start = 1;", "fleet_start = 0x100000000;", r"vector_add\.rdl:\d+: vadd: fleet_start sets bits"),
    ("vector_add.rdl", "fleet_start = 1;", "fleet_start = 1; fleet_beats = 3;",
     r"vector_add\.rdl:\d+: vadd: fleet_beats is 3, the binary form has 2"),
    ("vector_add.rdl", "addrmap vector_add {", "addrmap vector_add ", r"vector_add\.rdl:\d+: "),
    ("devices/vector_tiny.toml", "MaxBeats = 16", "MaxBeats = -16", r"vector_tiny\.toml:6: parameters\.MaxBeats is -16"),
    ("devices/vector_tiny.toml", "MaxBeats = 16", "MaxBeats = 16\nBeats = 2",
     r"vector_tiny\.toml:7: unknown key parameters\.Beats"),
    ("devices/vector_tiny.toml", "ddr =", "dram =", r"vector_tiny\.toml:\d+: memory\.ddr is missing"),
    ("devices/vector_tiny.toml", "clock_mhz = 100.0", "clock_mhz = ", r"vector_tiny\.toml:3: not TOML: "),
    ("__init__.py", "INSTRUCTION_SET =", "1 // 0\nINSTRUCTION_SET =",
     r"__init__\.py:\d+: .* cannot be imported \(ZeroDivisionError"),
    ("__init__.py", "INSTRUCTION_SET =", "raise SystemExit\nINSTRUCTION_SET =",
     r"__init__\.py:\d+: .* cannot be imported \(SystemExit"),
    ("__init__.py", "INSTRUCTION_SET =", "def f(:\nINSTRUCTION_SET =", r"__init__\.py:\d+: .* cannot be imported \(SyntaxError"),
    ("__init__.py", "INSTRUCTION_SET =", "import nowhere\nINSTRUCTION_SET =", r"__init__\.py:\d+: .*No module named 'nowhere'"),
    ("__init__.py", "INSTRUCTION_SET =", "SET =", r"__init__\.py:1: .*no attribute 'INSTRUCTION_SET'"),
    ("__init__.py", "patterns=(AddPattern(),)", "patterns=(AddPattern, 5)",
     r"__init__\.py:\d+: .*patterns\[1\] \(5\) has no match"),
    ("__init__.py", "layout=VectorLayout()", "layout=None", r"__init__\.py:\d+: .*layout is None, expected a Layout"),
    ("__init__.py", '{"vadd": VectorAdd},', '{"vadd": 5},', r"__init__\.py:\d+: .*instructions\['vadd'\] is 5"),
    ("semantics.py", "    def execute(", "    def executes(", r"__init__\.py:\d+: .*class VectorAdd has no execute"),
    ("semantics.py", 'name = "vadd"', 'name = "vsum"', r"semantics\.py:\d+: .*class VectorAdd calls itself 'vsum'"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "message"), REFUSED)
def test_a_wrong_description_is_refused_at_load(
    installed_set: Path, import_from: ImportFrom, file: str, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = installed_set / "vector_add" / file
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    import_from(installed_set)
    assert main(["isa", "check", "vector_add"]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error), error
    assert len(error.splitlines()) == 1


def test_an_address_without_a_space_is_refused_at_load(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    path = installed_set / "vector_add" / "vector_add.rdl"
    path.write_text(path.read_text().replace('fleet_space = "ddr"; ', "", 1))
    import_from(installed_set)
    assert main(["isa", "check", "vector_add"]) == 2
    assert re.search(r"vector_add\.rdl:\d+: value: an address field needs fleet_space", capsys.readouterr().err)


def test_hardware_of_another_description_is_refused_with_its_line(installed_set: Path, import_from: ImportFrom) -> None:
    from fleet.engines.rtl_sim.build import design_of

    path = installed_set / "vector_add" / "vector_add.rdl"
    path.write_text(path.read_text().replace("vadd_beats @ 0x1C", "vadd_beats @ 0x2C"))
    import_from(installed_set)
    found, device = registry.find_device("vector_tiny")
    with pytest.raises(DeviceError, match=r"vector_add\.vlt:4: generated from description [0-9a-f]{16}, vector_add\.rdl is now"):
        design_of(found, device)


def test_a_failing_conformance_case_names_its_replay(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    """The model refuses with a cause that its own case does not state: the sample says so, and how to run it again."""
    import_from(installed_set)
    from fleet.verify.conformance import sample

    assert [f for f in sample.run_sample("vector_tiny", sample.sample_names("vector_tiny", 2), rtl=False) if f] == []
    wrong = sample._on_iss("vector_tiny/vadd/directed/999", None)
    assert wrong is not None
    assert "there are 16 directed cases" in wrong.reason


def test_a_set_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["isa", "check", "nothing"]) == 2
    assert "no instruction set and no device is called 'nothing'; instruction sets: " in capsys.readouterr().err
    assert main(["isa", "check", "hbm0923", "--device", "none"]) == 2
    assert "has no device 'none'; it has " in capsys.readouterr().err


def test_a_stored_stream_of_another_description_is_refused_with_its_line(
    installed_set: Path, import_from: ImportFrom, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_from(installed_set)
    from fleet.streams.bundle import save_bundle
    from fleet.streams.case import Setting, StreamOutcome
    from fleet.verify.conformance.suite import make_case

    path = save_bundle(StreamOutcome(make_case("vector_tiny/vadd/directed/0"), Setting(), (), (), False, ("why",)), tmp_path)
    rdl = installed_set / "vector_add" / "vector_add.rdl"
    rdl.write_text(rdl.read_text().replace("vadd_beats @ 0x1C", "vadd_beats @ 0x2C"))
    assert main(["stream", "run", str(path)]) == 2
    assert re.search(r"stream\.json:\d+: made for description [0-9a-f]{16}, vector_tiny has", capsys.readouterr().err)
