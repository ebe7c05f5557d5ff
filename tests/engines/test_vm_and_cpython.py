"""Engines vm and cpython on the same program; what the subprocess may and may not do; the registry."""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.cpython import ENGINE as CPYTHON
from fleet.engines.cpython import CpythonEngine
from fleet.engines.registry import engine_names, engines, find_engine
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM_ENGINE
from fleet.errors import ComparisonFailure, ModelError, SetupError, SourceError
from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter

TEXT = """import numpy as np

def act(v):
    t = np.tanh(v)
    return t * 2

def forward(x: "f32[N, 4]", w: "f32[4, 3]", /, b: "f32[3]", *, eps=1e-3):
    h = act(x @ w + b)
    n = h.shape[0] * 2
    h = h / (np.sum(h * h, axis=1, keepdims=True) + eps)
    alias = h
    print(n, h.dtype) if False else print(n)
    return h, np.argmax(h, axis=1), n
"""
TEXT = TEXT.replace("print(n, h.dtype) if False else print(n)", "print(n)")


@pytest.fixture
def case(tmp_path):
    (tmp_path / "m.py").write_text(TEXT)
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((4, 3)).astype(np.float32), "b": rng.standard_normal(3).astype(np.float32)}
    inputs = {"x": rng.standard_normal((5, 4)).astype(np.float32)}
    return load(f"{tmp_path / 'm.py'}:forward", weights, inputs), inputs


def changed(program, text: str):
    from dataclasses import replace

    return replace(program, source=text)


def test_vm_and_cpython_agree_bit_for_bit(case, tmp_path) -> None:
    program, inputs = case
    vm, cpython = (e.run(program, inputs, RunOptions()) for e in (VM_ENGINE, CPYTHON))
    assert vm.complete
    assert cpython.complete
    assert vm.program_hash == cpython.program_hash == program.hash
    assert list(vm.outputs) == list(cpython.outputs) == ["h", "out1", "n"]
    for name, value in vm.outputs.items():
        assert value.dtype == cpython.outputs[name].dtype
        np.testing.assert_array_equal(value, cpython.outputs[name])
    assert set(cpython.tensors) == {"h.1", "argmax.0", "n"} & set(vm.tensors)  # not the first h, nor t of the inner function
    for name, value in cpython.tensors.items():
        assert value.dtype == vm.tensors[name].dtype
        np.testing.assert_array_equal(value, vm.tensors[name])
    assert vm.meta["stdout"] == cpython.meta["stdout"] == "10\n"
    for trace in (vm, cpython):
        trace.save(tmp_path / "t.npz")
        assert Trace.load(tmp_path / "t.npz").meta == trace.meta


def test_tensors_are_optional(case) -> None:
    program, inputs = case
    assert not VM_ENGINE.run(program, inputs, RunOptions(keep_tensors=False)).tensors
    assert len(VM_ENGINE.run(program, inputs, RunOptions()).tensors) > 5


def test_the_vm_does_not_touch_the_terminal(case, capfd) -> None:
    program, inputs = case
    VM_ENGINE.run(program, inputs, RunOptions())
    CPYTHON.run(program, inputs, RunOptions())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("raise ValueError('too\\nbad')", r"m\.py:12: running the file fails: ValueError: too$"),
        ("import os; os._exit(3)", "ended with status 3 and left no result"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended with signal 11"),
        ("raise SystemExit('bye')", "SystemExit: bye"),
        ("return 1", "returned 1 values, the program has 3"),
        ("return object(), 1, 2", "returned value 0 is no array of numbers"),
        ("input()", "EOFError"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_fails_is_one_clear_line(case, statement: str, says: str) -> None:
    program, inputs = case
    with pytest.raises(ComparisonFailure, match=says) as caught:
        CPYTHON.run(changed(program, TEXT.replace("print(n)", statement)), inputs, RunOptions())
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("statement", ["import no_such_module", "raise MemoryError"])
def test_a_file_that_lacks_a_package_or_memory_is_bad_input(case, statement: str) -> None:
    program, inputs = case
    with pytest.raises(ModelError, match="running the file fails"):
        CPYTHON.run(changed(program, TEXT.replace("print(n)", statement)), inputs, RunOptions())


def test_a_file_that_hangs_is_ended_with_its_children(case, tmp_path) -> None:
    program, inputs = case
    pids = tmp_path / "pid"
    told = f"os.write(os.open({str(pids)!r}, os.O_CREAT | os.O_WRONLY), str(p.pid).encode())"
    hang = f"import os, subprocess; p = subprocess.Popen(['sleep', '60']); {told}; p.wait()"
    start = time.monotonic()
    with pytest.raises(ModelError, match="took longer than 6 s"):  # the child's start counts too
        CpythonEngine(timeout_s=6).run(changed(program, TEXT.replace("print(n)", hang)), inputs, RunOptions())
    assert time.monotonic() - start < 30
    deadline = time.monotonic() + 10
    while _alive(int(pids.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(int(pids.read_text()))


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_scripts_leave_their_globals(tmp_path) -> None:
    (tmp_path / "s.py").write_text("import numpy as np\na = 3\nb = a + 40\nc = np.sqrt(b) * 2\nprint(b, c)\n")
    program = load(str(tmp_path / "s.py"), {}, {})
    vm, cpython = (e.run(program, {}, RunOptions()) for e in (VM_ENGINE, CPYTHON))
    assert {n: (v.dtype.name, v.item()) for n, v in cpython.tensors.items() if n in "bc"} == {
        "b": ("int32", 43), "c": ("float64", np.sqrt(43) * 2)
    }  # fmt: skip
    assert vm.tensors["c"] == cpython.tensors["c"]
    assert vm.meta["stdout"] == cpython.meta["stdout"]


@pytest.mark.parametrize(
    "text",
    [
        "if True:\n    import os\n    os.system(WRITE)\n",
        "for i in range(1):\n    for j in range(1):\n        __import__('os').system(WRITE)\n",
        "if True:\n    def g(y=__import__('os').system(WRITE)):\n        return y\n",
        "g = lambda y=__import__('os').system(WRITE): y\n",
        "__import__('os').system(WRITE).x: int\n",
        "class C:\n    def g(self, y=__import__('os').system(WRITE)):\n        return y\n",
        "class C:\n    x: __import__('os').system(WRITE) = 1\n",
    ],
)
def test_what_stands_around_the_function_and_is_not_read_is_not_run(tmp_path, text: str) -> None:
    written = tmp_path / "written"
    text = text.replace("WRITE", repr(f"touch {written}"))
    (tmp_path / "m.py").write_text(f"{text}def forward(x: 'f32[2]'):\n    return x + 1\n")
    x = np.ones(2, np.float32)
    program = load(f"{tmp_path / 'm.py'}:forward", {}, {"x": x})
    assert CPYTHON.run(program, {"x": x}, RunOptions()).complete
    assert not written.exists()


@pytest.mark.parametrize("head", ["def forward(x: 'f32[2]'):\n    def g(y=BAD):\n        return y\n    return x + 1\n", ""])
def test_a_default_that_python_would_evaluate_is_read_or_refused(tmp_path, head: str) -> None:
    (tmp_path / "m.py").write_text((head or "def g(y=BAD):\n    return y\nprint(1)\n").replace("BAD", "__import__('os').getcwd()"))
    with pytest.raises(SourceError, match="F20"):
        load(str(tmp_path / "m.py") + (":forward" if head else ""), {}, {"x": np.ones(2, np.float32)} if head else {})


def test_the_main_guard_of_a_model_is_not_run(case) -> None:
    program, inputs = case
    guarded = changed(program, TEXT + "\nif __name__ == '__main__':\n    raise RuntimeError('run as a script')\n")
    assert CPYTHON.run(guarded, inputs, RunOptions()).complete


def test_the_registry_lists_without_loading() -> None:
    assert {"vm", "cpython"} <= set(engine_names())
    assert engines()["vm"].engine is VM_ENGINE
    assert find_engine("cpython").engine.name == "cpython"
    with pytest.raises(SetupError, match=r"no engine is called nope; engines are .*vm"):
        find_engine("nope")


def test_a_broken_plug_in_is_a_clear_message(tmp_path, monkeypatch) -> None:
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fleet.engines]\nbroken = other_engine:ENGINE\nhollow = os:path\n")
    (tmp_path / "other_engine.py").write_text("import a_module_that_is_not_there\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    names = engine_names()
    assert {"broken", "hollow", "vm"} <= set(names)
    assert engines()["vm"].engine is VM_ENGINE
    with pytest.raises(SetupError, match=r"engine broken \(other_engine:ENGINE, of other\) cannot be loaded: ModuleNotFoundError"):
        find_engine("broken")
    with pytest.raises(SetupError, match=r"engine hollow .* lacks name"):
        find_engine("hollow")
    sys.modules.pop("other_engine", None)


def test_the_child_gets_no_input_and_reads_where_the_command_does(case) -> None:
    program, inputs = case
    text = TEXT.replace("print(n)", "import os, sys; print(sys.stdin.read() == '', os.getcwd() == " + repr(os.getcwd()) + ")")
    assert CPYTHON.run(changed(program, text), inputs, RunOptions()).meta["stdout"] == "True True\n"


def test_what_the_front_end_did_not_follow_is_not_run(tmp_path) -> None:
    """A branch that is not taken may name anything: nothing of it is run, not even a decorator or a global's call."""
    witness = tmp_path / "written"
    write = f"open({str(witness)!r}, 'w').write('x')"
    text = (
        f"import numpy as np\nG = {write}\nDEBUG = False\nW = np.arange(3.0)\nW[0] = 7\nprint('loading', W)\n"
        f"def deco(f):\n    {write}\n    return f\n@deco\ndef helper(x):\n    return G\n"
        "def scaled(x, s=2.0):\n    return x * s\n"
        "def forward(x: 'f64[3]'):\n    if DEBUG:\n        return helper(x) + G\n    y = scaled(x) + W\n    return y\n"
    )
    path = tmp_path / "model.py"
    path.write_text(text)
    x = {"x": np.ones(3)}
    program = load(f"{path}:forward", {}, x)
    by_python = CpythonEngine().run(program, x, RunOptions(keep_tensors=True))
    assert not witness.exists()
    assert (by_python.outputs["y"] == [9, 3, 4]).all()
    assert by_python.meta["stdout"] == ""
    (by_vm,) = VM(ByteCodeConverter(program).convert()).run(x).values()
    assert (by_vm == by_python.outputs["y"]).all()
