"""`fleet generate`: a language model answers a prompt on several engines, token by token, with every step compared."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.model import riscv_choice, riscv_options, rtl_jobs_option, rtl_sample_option
from fleet.cli.progress import ProgressLine
from fleet.cli.request import own_request
from fleet.errors import ExitCode
from fleet.llm.config import PRESETS

if TYPE_CHECKING:
    from fleet.cosim.generation import GenerationResult, TokenRow
    from fleet.llm.generate import GenerationWatch
    from fleet.llm.sessions.session import TokenStep

_EPILOG = """\b
Examples:
  fleet generate --model tiny --prompt "abcabcab" --engines vm,iss,rtl,riscv --device hbm_small --tokens 4
  fleet models fetch smollm2
  fleet generate --model smollm2 --prompt "What is the capital of France?" --engines vm,iss \\
      --device DEVICE --tokens 12 --report reports/france
  fleet generate --model smollm2 --prompt "What is the capital of France?" --engines vm,iss,rtl,riscv \\
      --device DEVICE --memory timed --tokens 8

The engines named read the same tokens, those that the first of vm, iss, rtl, riscv, cvm chooses.

Exit codes: 0 engines were compared and agreed; 1 they did not, or nothing was compared; 2 bad input or a missing tool;
130 interrupted; 141 nobody read the output.
"""


@click.command(name="generate", epilog=_EPILOG)
@click.option("--model", "spec", help="smollm2, tiny, a .gguf file, or a folder with safetensors.")
@click.option(
    "--shape",
    type=click.Choice(list(PRESETS)),
    help="The shape of a published model, with random INT4 weights, in place of a model.",
)
@click.option("--prompt", help="The prompt; put into the model's chat template if it has one. With --shape: one token a byte.")
@click.option("--engines", default="vm,iss", show_default=True, help="Comma-separated: vm, iss, rtl, riscv, cvm.")
@click.option("--device", help="Device for iss and rtl (`fleet devices` lists them).")
@click.option("--memory", default="ideal", show_default=True, help="ideal, fixed[:cycles], stall[:seed] or timed[:seed].")
@click.option("--tokens", type=click.IntRange(min=1), default=16, show_default=True, help="Maximum number of tokens to generate.")
@click.option("--temperature", type=float, default=0.0, show_default=True, help="0 is greedy.")
@click.option("--top-k", type=int, default=0, show_default=True, help="Draw from this many of the likeliest tokens; 0: all.")
@click.option("--top-p", type=float, default=1.0, show_default=True, help="Likeliest tokens of this total probability.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of sampling and memory.")
@click.option("--group", type=click.Choice(["32", "64", "128"]),
              help="Inputs that share one weight scale. Default: 64; of sparse weights 128.")  # fmt: skip
@click.option("--sparse", "--strategy", "strategy", default="", metavar="STRATEGY",
              help="Matrices with sparse weights, on a device that has them: 4, 2 or 1 of 8 for all, parts as in "
                   "attention=4,mlp=2, or a named strategy (`fleet help language-model-weights`).")  # fmt: skip
@click.option("--rounding", type=click.Choice(["absmax", "search", "weighted", "compensated", "corrected"]), default="corrected",
              show_default=True, help="Rounding of weights to INT4 (`fleet help language-models`).")  # fmt: skip
@click.option("--host-layers", "host_layers", default="", help="Layers that stay FP16 on the host, comma-separated: head.")
@click.option(
    "--issue", type=click.Choice(["regs", "aux"]), default="aux", show_default=True,
    help="Write every instruction's registers, or let the hardware fetch a binary.",
)  # fmt: skip
@click.option("--sequence", type=click.Choice(["short", "classic"]), default="short", show_default=True,
              help="14 instructions a block with short-lived tensors on chip, or the 17 of the published compiler.")  # fmt: skip
@click.option(
    "--chunk", type=click.IntRange(min=1), default=32, show_default=True, help="Maximum number of prompt tokens per step."
)
@click.option("--positions", type=click.IntRange(min=2), default=512, show_default=True, help="Slots of the KV cache.")
@riscv_options
@click.option("--perplexity", type=click.IntRange(min=0), default=0, show_default=True,
              help="Afterwards measure vm, the rounded golden and iss on so many tokens of the bundled text.")  # fmt: skip
@click.option("--emit-host", "host", type=click.Path(path_type=Path, file_okay=False),
              help="Write a C++ host program that answers the same prompt into this folder.")  # fmt: skip
@click.option("--report", "folder", type=click.Path(path_type=Path, file_okay=False), help="Write result and page here.")
@rtl_jobs_option
@rtl_sample_option
@click.option("--no-stop", is_flag=True, help="Run a step of rtl to its end, even after its first commit that differs.")
@click.option("--json", "machine", is_flag=True, help="The result as JSON on standard output, nothing else.")
def command(
    spec: str | None, shape: str | None, prompt: str | None, engines: str, device: str | None, memory: str, tokens: int,
    temperature: float, top_k: int, top_p: float, seed: int, group: str | None, strategy: str, rounding: str, host_layers: str,
    issue: str, sequence: str, chunk: int, positions: int, riscv_isa: str, riscv_emulator: str | None, perplexity: int,
    host: Path | None, folder: Path | None, rtl_jobs: int, rtl_sample: str, no_stop: bool, machine: bool,
) -> int:  # fmt: skip
    """Let a language model answer on several engines and compare every step."""
    from dataclasses import replace

    from fleet.core.files import check_writable
    from fleet.cosim.last_run import keep
    from fleet.llm.contestants import GenerateRequest, generate
    from fleet.llm.load import load_model, load_shape
    from fleet.llm.models import CLASSIC, SHORT
    from fleet.llm.quantisation import Quantisation
    from fleet.llm.sampling import Sampling
    from fleet.llm.sparsity import Sparsity

    if (spec is None) == (shape is None):
        raise click.UsageError("name a model with --model, or a shape with --shape")
    if spec is not None and prompt is None:
        raise click.UsageError("Missing option '--prompt'.")
    names = tuple(name.strip() for name in engines.split(",") if name.strip())
    kept = tuple(layer.strip() for layer in host_layers.split(",") if layer.strip())
    sparse = Sparsity.of(strategy)
    size = int(group or sparse.group)
    asked = own_request()
    request = GenerateRequest(
        name=spec or f"shape {shape}", prompt=prompt or "a", tokens=tokens, engines=names, device=device, memory=memory,
        seed=seed, issue=issue,
        sampling=Sampling(temperature, top_k, top_p, seed),
        plan=replace(SHORT if sequence == "short" else CLASSIC, tokens=min(chunk, positions), positions=positions),
        quantisation=Quantisation(size, "absmax" if shape else rounding, kept, sparse),
        riscv=riscv_choice(riscv_isa, riscv_emulator) if "riscv" in names else {},
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), command=str(asked or ""),
        request=asked,
        host=host,
        perplexity=perplexity, stop=not no_stop, rtl_jobs=rtl_jobs, rtl_sample=rtl_sample,
    )  # fmt: skip
    loaded = load_shape(shape, group=size, seed=seed, sparse=sparse) if shape else load_model(str(spec))
    for place in (folder, host):
        if place is not None:
            check_writable(place)
    if loaded.note:
        click.echo(f"fleet: {loaded.name}: {loaded.note}", err=True)
    told = _Told(machine, request.device, memory)
    result = generate(loaded, request, told.watch(), told.announce)
    told.done()
    keep(result)
    page: Path | None = None
    if folder is not None:
        from fleet.report.run.generation import store_generation

        _, page = store_generation(result, folder)
    if host is not None and not machine:
        click.echo(f"host program: fleet host build {host}/answer.cpp -I {host} -o {host}/answer; "
                   f"fleet host run --device {device} --engines iss {host}/answer {host} {tokens}")  # fmt: skip
    if machine:
        click.echo(json.dumps(result.to_json(), indent=1))
    else:
        _print_end(result)
        if page is not None:
            click.echo(f"report: {page}")
    if result.verdict == "nothing compared":
        return ExitCode.INCOMPLETE
    return ExitCode.AGREED if result.verdict == "pass" else ExitCode.DIFFERS


class _Told:
    """Prints tokens as they come, with progress in between."""

    def __init__(self, quiet: bool, device: str | None, memory: str) -> None:
        self.quiet, self._device, self._memory = quiet, device, memory
        self._line: ProgressLine | None = None
        self._engine = ""
        self._head = False
        self._clock = 0.0

    def watch(self) -> GenerationWatch:
        """Return the callbacks of the run."""
        from fleet.llm.generate import GenerationWatch

        if self._device is not None:
            from fleet.isa.registry import find_device

            self._clock = find_device(self._device)[1].clock_mhz
        return GenerationWatch() if self.quiet else GenerationWatch(self._prefilled, self._token, self._progress)

    def announce(self, line: str) -> None:
        """Print a line before a slow step."""
        if not self.quiet:
            print(f"{line} ...", file=sys.stderr, flush=True)

    def done(self) -> None:
        """Remove the progress from the terminal."""
        if self._line is not None:
            self._line.__exit__(None, None, None)
            self._line = None
        self._engine = ""

    def _progress(self, engine: str, fraction: float, words: str) -> None:
        if engine != self._engine or self._line is None:
            self.done()
            self._engine, self._line = engine, ProgressLine(engine)
        self._line(fraction, words)

    def _prefilled(self, engine: str, step: TokenStep) -> None:
        self.done()
        cycles = "" if step.ran.cycles is None else f", {step.ran.cycles:,} cycles"
        count = len(step.tokens)
        click.echo(f"prompt, {engine}: {count} token{'s' * (count > 1)} behind {step.position} in {step.seconds:.2f} s{cycles}")

    def _token(self, row: TokenRow, steps: Mapping[str, TokenStep]) -> None:
        self.done()
        if not self._head:
            self._head = True
            click.echo(f"{'token':<18}{'others':<26}{'cycles':>10} {'on device':>10}  wall")
        clocked = next((s for s in steps.values() if s.ran.cycles is not None), None)
        cycles = simulated = ""
        if clocked is not None and clocked.ran.cycles is not None:
            cycles = f"{clocked.ran.cycles:,}"
            simulated = f"{clocked.ran.cycles / self._clock / 1e3:.3f} ms" if self._clock else ""
        wall = ", ".join(f"{name} {step.seconds:.3f} s" for name, step in steps.items())
        off = [f"{name} {row.own_text[name]!r}" for name, own in row.own.items() if own != row.token]
        others = ", ".join(off) or "all the same"
        click.echo(f"{row.text!r:<18}{others:<26}{cycles:>10} {simulated:>10}  {wall}")


def _print_end(result: GenerationResult) -> None:
    from fleet.report.frame.text import SYMBOLS

    click.echo(f"\n{result.text}\n({result.reference}; {result.stop})")
    for e in result.engines:
        if e.own_text and e.own_text != result.text:
            click.echo(f"{e.name} by itself: {e.own_text}")
    for c in result.comparisons:
        if c.kind == "bits":
            figures = f"{c.commits:,} commits, {c.bytes:,} bytes"
        elif c.steps:
            same = sum(s.same_token for s in c.steps)
            figures = f"SQNR of the logits {min(s.sqnr_db for s in c.steps):.1f} dB at worst, same token {same} of {len(c.steps)}"
        else:
            figures = "no step"
        click.echo(f"{c.name:<18} {SYMBOLS[c.verdict if c.kind != 'info' else 'info']:<10} {figures}")
    for q in result.quantisation:
        iss = "" if q.iss_perplexity is None else f", iss {q.iss_perplexity:.2f}"
        click.echo(f"perplexity of {q.tokens} tokens, {q.choice}: {q.perplexity:.2f}{iss}")
    for reason in result.reasons:
        click.echo(f"  {reason}")
    for e in result.engines:
        if e.cut and f"{e.name}: {e.cut}" not in result.reasons:
            click.echo(f"{e.name}: {e.cut}")
    sampled = next((f" ({e.name}: a sample)" for e in result.engines if "sampled.commits" in e.counters), "")
    click.echo(f"verdict: {result.verdict.upper()}{sampled}")
