"""`fleet try`: inspects a file, runs it on the golden and on the best device's functional model, and suggests the next command."""

from __future__ import annotations

import io
import shlex
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path

import click

from fleet.cli.looking.inspecting.command import CommandOutput, on_a_file
from fleet.cli.looking.inspecting.kinds import inspect
from fleet.cli.looking.inspecting.page import InspectRequest, Page
from fleet.core.codec import Json
from fleet.errors import ExitCode, FleetError

_EPILOG = """\b
Examples:
  fleet try model.onnx
  fleet try model.py:forward --weights w.npz --input x.npz
  fleet try smollm2.gguf
  fleet try sim/cases/digits.toml

What is not given is drawn with --seed. No hardware is simulated; `fleet cosim` does that. Models that would take longer than about
a minute get a smaller batch, or the command to type. Exit code 0: compared and agreed; 1: something differs; 2: fleet does not
read the file, with what to do; 4: nothing could be compared.
"""

_MAX_WORK = 1 << 29
_MAX_WEIGHTS = 1 << 25
_MAX_OPERATIONS = 1000
"""Limits of multiply-accumulates, weights and operations: within these a model is quantised, run and compared in half a minute."""
_MAX_LANGUAGE = 1 << 24
"""Limit of a language model's weights, for quantising and running a few tokens in that time."""


@click.command(name="try", epilog=_EPILOG)
@on_a_file(device="This device instead of the one that runs the largest share.")
def command(asked: InspectRequest, answer: CommandOutput) -> int:
    """Try FILE: what it is, whether vm and the best device's iss agree on it, and what to type next."""
    page = inspect(asked)
    if page.program is not None and page.program.macs > _MAX_WORK and asked.batch is None and asked.input_path is None:
        asked = replace(asked, batch=1)
        page = inspect(asked)
    answer.page = page
    answer.say(page.text())
    if page.problem is not None:
        raise page.problem
    trial = _Trial(page, asked, answer)
    answer.facts["tried"] = trial.facts
    code = answer.facts["exit_code"] = trial.run()
    answer.say()
    for i, line in enumerate(trial.commands[:3]):
        answer.say(f"{'next' if i == 0 else '':<6} {line}")
    return code


class _Trial:
    """One run of the file of a page. facts: JSON values of the run; commands: what to type next."""

    def __init__(self, page: Page, asked: InspectRequest, answer: CommandOutput) -> None:
        self.page, self.asked, self.say, self.quiet = page, asked, answer.say, answer.quiet
        self.facts: dict[str, Json] = {}
        own = f"fleet try {shlex.quote(page.spec if page.loaded is None else page.loaded.spec)}"
        self.commands = [line for line in page.commands if line != own and not line.startswith(f"{own} ")]

    def run(self) -> int:
        """Run it and return the exit code. Raises FleetError."""
        page = self.page
        if page.loaded is not None:
            return self._model()
        if page.kind in ("gguf", "language-model"):
            return self._language()
        if page.kind == "bytecode":
            return self._bytecode()
        if page.kind == "result":
            return self._verdict("agreed when it was made" if page.verdict == "pass" else "see the reasons", str(page.verdict))
        if page.installed is not None:
            return self._set(page.installed)
        return self._left("nothing in it runs by itself")

    def _silent(self) -> AbstractContextManager[object]:
        """Return a context that discards a command's output if JSON was requested."""
        return redirect_stdout(io.StringIO()) if self.quiet else nullcontext()

    def _left(self, why: str) -> int:
        """Return the exit code of a run in which nothing was compared, and say why."""
        self.facts |= {"verdict": "nothing compared", "reasons": [why]}
        self.say()
        self.say(f"verdict: NOTHING COMPARED\n  {why}")
        return ExitCode.INCOMPLETE

    def _verdict(self, why: str, verdict: str) -> int:
        self.facts |= {"verdict": verdict, "reasons": [why]}
        self.say()
        self.say(f"verdict: {verdict.upper()} ({why})")
        return {"pass": ExitCode.AGREED, "fail": ExitCode.DIFFERS}.get(verdict, ExitCode.INCOMPLETE)

    def _model(self) -> int:
        """Run vm, and iss on the best device; if no device runs anything, an independent engine on the host."""
        from fleet.cli.running.cosim import co_simulate
        from fleet.cli.table import as_json
        from fleet.cosim.options import CosimOptions
        from fleet.cosim.run_request import RunRequest
        from fleet.cosim.what_ran import DataProvenance

        loaded, facts = self.page.loaded, self.page.program
        assert loaded is not None
        assert facts is not None
        if not loaded.program.outputs:
            return self._script()
        best = facts.best
        operations = sum(facts.operators.values())
        if facts.macs > _MAX_WORK or facts.weight_numbers > _MAX_WEIGHTS or operations > _MAX_OPERATIONS:
            limit = f"{_MAX_WORK:,} multiply-accumulates, {_MAX_WEIGHTS:,} weights or {_MAX_OPERATIONS:,} operations"
            return self._left(f"more than {limit} would take longer than a minute: the first command below runs it")
        engines = ["vm", "iss" if best is not None else self._second()]
        device = best.device if best is not None else None
        words = ["--engines", ",".join(engines), *(["--device", device] if device else []), "--seed", str(self.asked.seed)]
        again = RunRequest("fleet", ("cosim", *self._named().arguments(*words)))
        given = str(self.asked.input_path) if self.asked.input_path else None
        rows = next((int(a.shape[0]) for a in loaded.inputs.values() if a.ndim), 1)
        options = CosimOptions(
            model=loaded.spec, device=device, seed=self.asked.seed, request=again,
            data=DataProvenance("random" if loaded.random else "real", rows, given, None, loaded.banner),
        )  # fmt: skip
        self.say()
        result = co_simulate(loaded, None, engines, options, self.quiet)
        self.facts |= as_json(result, {})
        if result.divergence is not None:
            self.commands.insert(0, "fleet why")
        self.commands += ["fleet report --last", "fleet help reading-a-report"]
        return result.exit_code

    def _script(self) -> int:
        """Run a script without results: compare what it prints on the golden and on another engine."""
        from fleet.engines.base import RunOptions
        from fleet.engines.registry import find_engine

        loaded = self.page.loaded
        assert loaded is not None
        names = ("vm", self._second())
        options = RunOptions(seed=self.asked.seed, keep_tensors=False)
        printed = {n: str(find_engine(n).engine.run(loaded.program, loaded.inputs, options).meta.get("stdout", "")) for n in names}
        self.commands += ["fleet help numpy", "fleet help bytecode"]
        self.facts["printed"] = printed
        if not any(printed.values()):
            return self._left("it returns nothing and prints nothing")
        self.say()
        self.say(printed["vm"].rstrip("\n"))
        agreed = len(set(printed.values())) == 1
        self.facts["verdict"] = "pass" if agreed else "fail"
        self.say()
        self.say(
            f"verdict: {'PASS' if agreed else 'FAIL'} ({' and '.join(names)} print {'the same' if agreed else 'different texts'})"
        )
        return ExitCode.AGREED if agreed else ExitCode.DIFFERS

    def _named(self) -> InspectRequest:
        loaded = self.page.loaded
        return self.asked if loaded is None else replace(self.asked, spec=loaded.spec)

    def _second(self) -> str:
        """Return an installed engine that is independent of the golden."""
        from fleet.engines.registry import find_engine
        from fleet.frontend.source import is_mlir, is_onnx

        loaded = self.page.loaded
        assert loaded is not None
        own = "onnxruntime" if is_onnx(loaded.spec) else "riscv" if is_mlir(loaded.spec) else "cpython"
        for name in (own, "riscv"):
            try:
                if find_engine(name).engine.available() is None:
                    return name
            except FleetError:
                continue
        return "interp"

    def _language(self) -> int:
        """Generate a few tokens."""
        from fleet.cli.running.generate import command as generate

        model = self.page.language
        assert model is not None
        if model.weights > _MAX_LANGUAGE or model.device is None:
            long = f"{model.weights:,} weights take longer than a minute to quantise and run"
            why = "no device holds it" if model.device is None else long
            return self._left(f"{why}: the first command below asks it")
        self.say()
        context = click.get_current_context()
        with self._silent():
            code: int = context.invoke(
                generate, spec=self.asked.spec, prompt="Hello", engines="vm,iss", device=self.asked.device or model.device,
                tokens=2, seed=self.asked.seed,
            )  # fmt: skip
        self.facts["verdict"] = {0: "pass", 1: "fail"}.get(code, "nothing compared")
        self.commands.insert(1, "fleet report --last")
        return code

    def _bytecode(self) -> int:
        """Run the VM on drawn or given inputs: without a source there is no second engine."""
        import numpy as np

        from fleet.cli.outputs import print_outputs
        from fleet.cosim.models.data import load_arrays, random_like
        from fleet.targets.bytecode.module import ByteCodeModule
        from fleet.targets.bytecode.vm import VM

        module = ByteCodeModule.load(Path(self.asked.spec))
        batch = self.asked.batch or 8
        inputs = load_arrays(self.asked.input_path, what="input") if self.asked.input_path else {}
        missing = {
            a.name: (tuple(n if n >= 0 else batch for n in a.shape), np.dtype(a.dtype))
            for a in module.arguments
            if a.kind == "input" and a.name not in inputs
        }
        outputs = VM(module, echo=(lambda *_, **__: None) if self.quiet else print).run(
            {**inputs, **random_like(missing, self.asked.seed)}
        )
        if not self.quiet:
            click.echo()
            print_outputs(outputs)
        self.facts["outputs"] = {name: {"dtype": a.dtype.name, "shape": list(a.shape)} for name, a in outputs.items()}
        drawn = f" on drawn {', '.join(missing)}" if missing else ""
        return self._left(f"the vm ran it{drawn}; a second engine needs the model's source")

    def _set(self, name: str) -> int:
        """Check the set against its contract, on the functional model."""
        from fleet.cli.sets.check import check_installed

        self.say()
        with self._silent():
            code = check_installed(name, self.asked.device, draws=6, sample=1, seed=self.asked.seed, rtl=False)
        self.facts["verdict"] = "fail" if code else "pass"
        self.commands = [f"fleet isa check {name} --rtl", f"fleet isa fuzz {name}", "fleet help bring-your-own"]
        return code
