"""Files that a source reads while it is read; what it writes is kept by nobody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.cpython import ENGINE as CPYTHON
from fleet.engines.vm import ENGINE as VM
from fleet.errors import ModelError, SourceError
from fleet.frontend.source import load
from fleet.ir.program import Program

W = np.arange(6, dtype=np.float32).reshape(3, 2)
TABLE = "a,b,label\n1.5,2,0\n3,4.25,1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    np.savez(tmp_path / "w.npz", w=W, b=np.ones(2, np.float32))
    np.save(tmp_path / "x.npy", W.T)
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


def script(folder: Path, text: str) -> Program:
    (folder / "model.py").write_text(f"import os\nfrom pathlib import Path\nimport numpy as np\n{text}\n")
    return load(str(folder / "model.py"), {}, {})


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("HERE = os.path.dirname(os.path.abspath(__file__))\nprint(np.load(os.path.join(HERE, 'x.npy')))", f"{W.T}\n"),
        ("z = np.load(Path(__file__).parent / 'w.npz')\nprint(z['w'] + z['b'], sorted(z.files), 'b' in z, len(z))", None),
        ("with np.load(Path(__file__).with_name('w.npz')) as z:\n    print({k: v.shape for k, v in z.items()})", None),
        ("print(np.loadtxt(Path(__file__).parent / 'table.csv', delimiter=',', skiprows=1).sum(0))", "[4.5  6.25 1.  ]\n"),
        ("print(np.genfromtxt('../table.csv', delimiter=',', skip_header=1)[:, 1])", "[2.   4.25]\n"),
        ("with open(__file__.replace('model.py', 'table.csv')) as f:\n    print(next(f).strip(), [r.split(',') for r in f])", None),
        (
            "p = Path(__file__).parent\nprint((p / 'table.csv').read_text().count(','), (p / 'no').exists(), p.is_dir())",
            "6 False True\n",
        ),
        ("try:\n    open('none.txt')\nexcept FileNotFoundError as e:\n    print(e)", None),
        (
            "p = Path('a/b.tar.gz')\nprint(p, p.name, p.stem, p.suffix, p.parent, p / 'c', [p], p == Path('a', 'b.tar.gz'))",
            None,
        ),
    ],
)
def test_what_is_read_is_what_python_reads(folder: Path, text: str, printed: str | None) -> None:
    program = script(folder, text)
    found, expected = VM.run(program, {}, RunOptions()), CPYTHON.run(program, {}, RunOptions())
    assert found.meta["stdout"] == expected.meta["stdout"]
    assert printed is None or found.meta["stdout"] == printed


def test_an_archive_of_weights_is_constants_of_a_model(folder: Path) -> None:
    (folder / "model.py").write_text(
        "import numpy as np\nP = np.load(__file__.replace('model.py', 'w.npz'))\n"
        "def forward(x: 'float32[4, 3]'):\n    return np.maximum(x @ P['w'] + P['b'], 0)\n"
    )
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
    program = load(f"{folder / 'model.py'}:forward", {}, {"x": x})
    for engine in (VM, CPYTHON):
        (found,) = engine.run(program, {"x": x}, RunOptions()).outputs.values()
        assert np.array_equal(found, np.maximum(x @ W + 1, 0))
    assert [f.path for f in program.files] == [str(folder / "w.npz")]


def test_nothing_is_written(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    program = script(
        folder,
        "out = Path(__file__).parent / 'out'\nout.mkdir(exist_ok=True)\nos.makedirs('made', exist_ok=True)\n(out / 't').touch()\n"
        "np.save('a.npy', np.ones(2))\nnp.savez(out / 'b.npz', x=np.ones(2))\nnp.savetxt('c.txt', np.ones(2))\n"
        "with open('d.txt', 'w') as f:\n    f.write('x')\n    print('y', file=f)\n    f.writelines(['z'])\nprint('done')",
    )
    for engine in (VM, CPYTHON):
        assert engine.run(program, {}, RunOptions()).meta["stdout"] == "done\n"
    assert sorted(p for p in folder.rglob("*") if p.name != "model.py") == before


def test_a_file_elsewhere_is_refused(folder: Path) -> None:
    with pytest.raises(SourceError, match="F204 /etc/hostname lies elsewhere; a source reads files below its own folder"):
        script(folder, "print(open('/etc/hostname').read())")
    with pytest.raises(SourceError, match="F204"):
        script(folder, "print(np.load('../../../x.npy'))")
    (folder / "link.csv").symlink_to("/etc/hostname")
    with pytest.raises(SourceError, match="F204"):
        script(folder, "print(open('../link.csv').read())")


def test_pickles_and_damaged_files_are_refused(folder: Path) -> None:
    np.save(folder / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    (folder / "torn.npz").write_bytes((folder / "w.npz").read_bytes()[:50])
    for name in ("objects.npy", "torn.npz"):
        with pytest.raises(SourceError, match=f"F703 np.load of {name}"):
            script(folder, f"print(np.load('../{name}', allow_pickle=True))")


def test_a_file_that_changes_between_reading_and_running_is_found(folder: Path) -> None:
    program = script(folder, "print(np.loadtxt('../table.csv', delimiter=',', skiprows=1))")
    (folder / "table.csv").write_text(TABLE.replace("3", "5"))
    with pytest.raises(ModelError, match=r"table\.csv: has changed since the source was read"):
        CPYTHON.run(program, {}, RunOptions())


@pytest.mark.parametrize(
    "text",
    [
        "np.save('new', np.ones(2))\nprint(np.load('new.npy'))",
        "np.savez('new.npz', a=np.ones(2))\nprint(os.path.exists('new.npz'))",
        "open('log', 'w').write('x')\ntry:\n    print(open('log').read())\nexcept FileNotFoundError:\n    print('lost')",
        "Path('made').mkdir()\nprint(Path('made').exists())",
        "np.savetxt('t.txt', np.ones(2))\nprint(np.loadtxt('t.txt'))",
    ],
)
def test_what_the_source_has_written_is_not_taken_for_absent(folder: Path, text: str) -> None:
    """Python would find it."""
    with pytest.raises(SourceError, match="was written by the source, and what a source writes is left aside"):
        script(folder, text)


def test_a_folder_that_is_there_may_be_made_again(folder: Path) -> None:
    program = script(folder, "os.makedirs('..', exist_ok=True)\nprint(np.load('../x.npy').shape)")
    assert VM.run(program, {}, RunOptions()).meta["stdout"] == "(2, 3)\n"


@pytest.mark.parametrize("options", ["encoding='latin-1'", "encoding='utf-8', errors='ignore'", "newline=''"])
def test_a_text_is_read_as_utf_8(folder: Path, options: str) -> None:
    (folder / "text.txt").write_bytes("é\r\n".encode())
    with pytest.raises(SourceError, match="F506 a text file is read as UTF-8"):
        script(folder, f"print(open('../text.txt', {options}).read())")
    program = script(folder, "print(open('../text.txt', encoding='utf-8').read(), Path('../text.txt').read_text(encoding='UTF-8'))")
    assert VM.run(program, {}, RunOptions()).meta["stdout"] == CPYTHON.run(program, {}, RunOptions()).meta["stdout"]
