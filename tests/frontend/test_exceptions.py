"""`try`: exceptions that reading shows are caught as Python catches them; what only the run knows is refused."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest
from helpers_source import program_of

from fleet.engines.base import RunOptions
from fleet.engines.cpython import ENGINE as CPYTHON
from fleet.errors import SourceError
from fleet.frontend.interpreter import run
from fleet.targets.bytecode import VM, ByteCodeConverter

CAUGHT = {
    "division": """
try:
    print(1 / 0)
except ZeroDivisionError as e:
    print('no', e)
""",
    "float division": """
try:
    print(1.0 % 0.0)
except ArithmeticError as e:
    print(repr(e))
""",
    "text": """
for t in ['1', 'x', '2.5']:
    try:
        print(float(t))
    except ValueError as e:
        print(e)
""",
    "key": """
d = {'a': 1}
try:
    d['b']
except KeyError as e:
    print(e, e.args, str(e), repr(e))
""",
    "place": """
try:
    [1, 2][5]
except IndexError as e:
    print(e)
""",
    "tuple": """
try:
    (1, 2)[5]
except LookupError as e:
    print(e)
""",
    "pop": """
try:
    [].pop()
except IndexError as e:
    print(e)
""",
    "next": """
it = iter([1])
next(it)
try:
    next(it)
except StopIteration:
    print('end')
""",
    "index": """
try:
    [1, 2].index(7)
except ValueError as e:
    print(e)
""",
    "math": """
import math
try:
    math.sqrt(-1)
except ValueError as e:
    print(e)
""",
    "assert": """
try:
    assert 1 > 2, 'one'
except AssertionError as e:
    print(e)
""",
    "message of an assertion": """
said = []
def note(x):
    said.append(x)
    return f'note {x}'
assert 2 > 1, note('holds')
try:
    assert 1 > 2, note('fails')
except AssertionError as e:
    print(e, e.args)
print(said)
""",
    "raise": """
try:
    raise ValueError('a', 2)
except ValueError as e:
    print(e, e.args)
""",
    "class alone": """
try:
    raise RuntimeError
except Exception as e:
    print(repr(e), type(e).__name__)
""",
    "several kinds": """
try:
    raise KeyError('k')
except (TypeError, KeyError) as e:
    print(e)
""",
    "second clause": """
try:
    raise KeyError('k')
except TypeError:
    print(1)
except KeyError:
    print(2)
except:
    print(3)
""",
    "else and finally": """
try:
    x = 1
except ValueError:
    x = 2
else:
    x = 3
finally:
    print('end')
print(x)
""",
    "finally": """
try:
    try:
        raise ValueError(1)
    finally:
        print('first')
except ValueError:
    print('second')
""",
    "again": """
try:
    try:
        raise ValueError('v')
    except ValueError:
        print('in')
        raise
except ValueError as e:
    print('out', e)
""",
    "other in handler": """
try:
    try:
        1 / 0
    except ZeroDivisionError as e:
        raise ValueError('v') from e
except ValueError as e:
    print(e)
""",
    "what was done": """
a = np.zeros(3)
l = []
try:
    a[0] = 1
    l.append(1)
    a[1] = l[7]
except IndexError:
    print(a, l)
""",
    "own class": """
class E(ValueError):
    pass
try:
    raise E('mine')
except ValueError as e:
    print(e, isinstance(e, E))
""",
    "own init": """
class E(Exception):
    def __init__(self, n):
        super().__init__(f'n={n}')
        self.n = n
try:
    raise E(3)
except E as e:
    print(e, e.n)
""",
    "out of a call": """
def f(n):
    if n < 0:
        raise ValueError('negative')
    return n
for n in (1, -1, 2):
    try:
        print(f(n))
    except ValueError as e:
        print(e)
        continue
    print('ok')
""",
    "return": """
def f(d, k):
    try:
        return d[k]
    except KeyError:
        return None
print(f({1: 2}, 1), f({}, 1))
""",
    "break": """
for i in range(5):
    try:
        if i == 3:
            raise StopIteration
    except StopIteration:
        break
print(i)
""",
    "values of the run": """
x = np.sqrt(np.arange(3.0))
try:
    raise ValueError(f'{x.sum():.3f}')
except ValueError as e:
    print('got', e)
""",
    "generator": """
def g():
    try:
        yield 1
        raise ValueError('g')
    except ValueError as e:
        print(e)
        yield 2
print(list(g()))
""",
    "retries": """
n = 0
while True:
    try:
        n += 1
        if n < 3:
            raise RuntimeError
        break
    except RuntimeError:
        pass
print(n)
""",
    "its expression is read once": """
def why():
    print('asked')
    return 'why'
names = iter('ab')
try:
    raise ValueError(why(), next(names))
except ValueError as e:
    print(e, next(names))
""",
    "the code that it ends with": """
def main():
    print('once')
    return 0
try:
    raise SystemExit(main())
except SystemExit as e:
    print('ended', e)
""",
}


def test_main_runs_once_where_its_code_is_what_the_script_exits_with(tmp_path) -> None:
    text = "def main():\n    print('once')\nif __name__ == '__main__':\n    raise SystemExit(main())\n"
    program = program_of(tmp_path, text, None)
    printed = io.StringIO()
    VM(ByteCodeConverter(program).convert(), echo=lambda *v, end="\n": print(*v, end=end, file=printed)).run()
    assert printed.getvalue() == "once\n"
    assert run(str(tmp_path / "model.py")).printed == "once\n"


def said(text: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "model.py", "exec"), {})
    return printed.getvalue()


@pytest.mark.parametrize("name", CAUGHT)
def test_what_reading_shows_is_caught(tmp_path, name: str) -> None:
    text = "import numpy as np" + CAUGHT[name]
    printed = io.StringIO()
    program = program_of(tmp_path, text, None)
    VM(ByteCodeConverter(program).convert(), echo=lambda *v, end="\n": print(*v, end=end, file=printed)).run()
    assert printed.getvalue() == said(text)
    assert CPYTHON.run(program, {}, RunOptions()).meta["stdout"] == said(text)
    assert run(str(tmp_path / "model.py")).printed == said(text)


REFUSED = {
    "the run decides": (
        """
try:
    if x.sum() > 0:
        raise ValueError
except ValueError:
    x = x + 1
return x
""",
        "F502",
    ),
    "a deeper decision": (
        """
try:
    if x.sum() > 0:
        x = x + [1, 2][int('a')]
except ValueError:
    x = x + 1
return x
""",
        "F703",
    ),
    "what fleet lacks": (
        """
try:
    x = np.busday_offset(x)
except Exception:
    x = x + 1
return x
""",
        "F502",
    ),
    "no class": (
        """
try:
    raise ValueError
except x:
    x = x + 1
return x
""",
        "F502",
    ),
    "nobody takes it": (
        """
try:
    raise ValueError('v')
except KeyError:
    x = x + 1
return x
""",
        "F701",
    ),
    "its name ends": (
        """
try:
    raise ValueError('v')
except ValueError as e:
    pass
return x + len(e.args)
""",
        "F202",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_rest_is_refused(tmp_path, name: str) -> None:
    body, code = REFUSED[name]
    text = "import numpy as np\ndef forward(x):\n" + "".join(f"    {line}\n" for line in body.strip().split("\n"))
    with pytest.raises(SourceError) as caught:
        program_of(tmp_path, text, x=np.ones(3))
    assert caught.value.code == code
