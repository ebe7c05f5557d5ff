"""`fleet isa`: makes, extends, checks, documents, exports, fuzzes and compares instruction sets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from fleet.cli.grammar import Duration
from fleet.isa.scaffold.kinds import KINDS
from fleet.isa.scaffold.operations import OPERATIONS


@click.group(name="isa")
def command() -> None:
    """Instruction sets: a working template, one more instruction, checks, manual, exports, random programs, what a change means."""


@command.command(
    name="new",
    epilog="\b\nExamples:\n  fleet isa new mine\n  fleet isa new cube --kind systolic\n  fleet isa new more --extends mine",
)
@click.argument("name")
@click.option(
    "--kind", type=click.Choice(["vector", "systolic"]), default="vector", show_default=True,
    help="The first instructions: one on vectors in DDR, or an INT8 systolic array with memories and configuration on chip.",
)  # fmt: skip
@click.option(
    "--in",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("sets"),
    show_default=True,
    help="Folder to write to.",
)
@click.option("--instruction", default="", help="vector: name of its first instruction; default: v and the operation.")
@click.option(
    "--op", "operation", type=click.Choice(list(OPERATIONS)), help="vector: what it computes, to begin with.  [default: add]"
)
@click.option("--extends", "base", metavar="SET", help="Start with all of the installed SET, to extend it with `fleet isa add`.")
def new(name: str, kind: str, folder: Path, instruction: str, operation: str | None, base: str | None) -> int:
    """Write the instruction set NAME: it passes its own conformance at once. Change it from there."""
    from fleet.isa.scaffold.new_extension import new_extension
    from fleet.isa.scaffold.new_set import new_set
    from fleet.isa.scaffold.new_systolic import new_systolic

    if kind == "systolic" and (instruction or operation or base):
        raise click.UsageError("--instruction, --op and --extends are for --kind vector")
    if base:
        files = new_extension(name, base, folder)
    else:
        files = new_systolic(name, folder) if kind == "systolic" else new_set(name, folder, instruction, operation or "add")
    for file in files:
        click.echo(f"wrote {file}")
    click.echo(f"next: pip install -e {folder / name} && fleet isa check {name}")
    return 0


@command.command(
    name="add",
    epilog="\b\nExamples:\n  fleet isa add mine vsub --op sub && fleet isa check mine\n  fleet isa add cube mvin_planes --like mvin"
    "\n  fleet isa add cube config_bias --kind configuration",
)
@click.argument("set_name", metavar="SET")
@click.argument("name")
@click.option("--op", "operation", type=click.Choice(list(OPERATIONS)), help="Vector template: what it computes, to begin with.")
@click.option("--like", metavar="INSTRUCTION", help="The instruction of SET which it begins as, in all its parts.")
@click.option("--kind", type=click.Choice(KINDS), help="Like --like, with SET's first instruction of that kind.")
def add(set_name: str, name: str, operation: str | None, like: str | None, kind: str | None) -> int:
    """Add the instruction NAME to the installed SET, the compiler's pattern included; says which files it touched.

    It works at once, on hardware too: whatever SET's own files decide by the constants of --like they decide for NAME. In a set
    that extends another the base's hardware refuses it until a file under rtl/ knows it.
    """
    from fleet.isa.scaffold.add import add_instruction

    if sum(map(bool, (operation, like, kind))) > 1:
        raise click.UsageError("--op, --like and --kind exclude each other")
    added = add_instruction(set_name, name, operation or "", like or "", kind or "")
    click.echo(f"touched {len(added.touched)} files:")
    for file in added.touched:
        click.echo(f"  {file}")
    for place, count in Counter(file.parent for file in added.generated).items():
        click.echo(f"generated again: {count} files in {place}")
    click.echo(f"next: fleet isa check {set_name}")
    return 0


@command.command(name="generate", epilog="\b\nExamples:\n  fleet isa generate mine\n  fleet isa generate mine/mine.rdl --check")
@click.argument("source", metavar="SET|FILE.rdl")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Of the operands alone; default: operands.py, and state.py where there is state, beside FILE.rdl.",
)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit code 1 where the file is not current.")
def generate(source: str, output: Path | None, only_check: bool) -> int:
    """Write the operands of every instruction as typed Python classes with `encode` and `decode`; and the state.

    SET may be one that refuses to load because its operands are not current.
    """
    from fleet.cli.sets.target import find_description
    from fleet.core.files import write_atomically
    from fleet.isa.generate.modules import check_module, python_modules
    from fleet.isa.generate.operands import OPERANDS_FILE
    from fleet.isa.reading.cache import load

    description = load(source if source.endswith(".rdl") else find_description(source))
    texts = {description.path.with_name(name): text for name, text in python_modules(description).items()}
    if output is not None:
        texts = {output: texts[description.path.with_name(OPERANDS_FILE)]}
    for path, text in texts.items():
        if only_check:
            check_module(description, path, text)
            click.echo(f"{path}: current")
        else:
            write_atomically(path, text.encode())
            click.echo(f"wrote {path}")
    return 0


@command.command(name="check", epilog="\b\nExamples:\n  fleet isa check mine\n  fleet isa check mine --draws 200 --no-rtl")
@click.argument("name", metavar="SET|DEVICE")
@click.option("--device", help="Device to draw for; default: the set's smallest.")
@click.option("--draws", default=24, show_default=True, type=click.IntRange(1), help="Calls of every instruction.")
@click.option("--sample", default=2, show_default=True, type=click.IntRange(1), help="Conformance cases of every kind.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of what is drawn.")
@click.option("--rtl/--no-rtl", default=None, help="Run the sample on the hardware too; default: where the set has hardware.")
@click.option(
    "--report", "folder", type=click.Path(path_type=Path, file_okay=False), default="reports/streams", show_default=True,
    help="Folder for streams that fail, which `fleet why` explains.",
)  # fmt: skip
def check(name: str, device: str | None, draws: int, sample: int, seed: int, rtl: bool | None, folder: Path) -> int:
    """Check the installed instruction set SET, or that of DEVICE: a line with file and line for everything that is wrong.

    The description and the binding of classes are checked when the set is loaded (exit code 2); here: generated files, semantics
    (destinations, determinism, undefined state), legality, refusals, cost, codec, and a sample of its conformance.
    """
    from fleet.cli.sets.check import check_installed

    return check_installed(name, device, draws, sample, seed, rtl, folder)


@command.command(name="doc", epilog="\b\nExample:\n  fleet isa doc mine -o MANUAL.md")
@click.argument("name", metavar="SET|DEVICE")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="The file to write; default: standard output."
)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit code 1 where the file is not current.")
def doc(name: str, output: Path | None, only_check: bool) -> int:
    """Write the reference manual of SET, or of DEVICE's, out of its description: registers, instructions, encodings, causes."""
    from fleet.cli.sets.target import find_set
    from fleet.core.files import write_atomically
    from fleet.isa.manual import check, manual

    description = find_set(name)[0].description
    if only_check:
        if output is None:
            raise click.UsageError("--check needs -o FILE")
        check(description, output)
        click.echo(f"{output}: current")
    elif output is None:
        click.echo(manual(description), nl=False)
    else:
        write_atomically(output, manual(description).encode())
        click.echo(f"wrote {output}")
    return 0


@command.command(
    name="export",
    epilog="\b\nExamples:\n  fleet isa export mine --format ipxact\n  fleet isa export mine --format c --report software/include",
)
@click.argument("name", metavar="SET|DEVICE")
@click.option(
    "--format",
    "form",
    required=True,
    type=click.Choice(["ipxact", "uvm", "c", "html", "sv"]),
    help="IP-XACT component, UVM register model, C headers, pages to browse, or SystemVerilog (register block, packages).",
)
@click.option(
    "--report", "output", type=click.Path(path_type=Path, file_okay=False),
    help="Folder where it goes; default: exports/SET/FORMAT. A file there that no export wrote is not replaced.",
)  # fmt: skip
def export(name: str, form: str, output: Path | None) -> int:
    """Write the registers and instructions of SET, or of DEVICE's, for other tools.

    What is in each: `fleet help instruction-sets`.

    ipxact, uvm, c and html are written by PeakRDL's exporters (pip install 'fleet-cosim[exports]').
    """
    from fleet.cli.sets.export import run_export

    return run_export(name, form, output)


@command.command(
    name="fuzz",
    epilog="\b\nExamples:\n  fleet isa fuzz mine --budget 10m\n  fleet isa fuzz mine --seed 7 --budget 3h --instructions 100000",
)
@click.argument("name", metavar="SET|DEVICE")
@click.option("--device", help="Device; default: the set's smallest.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 10**9), help="Seed of all programs.")
@click.option(
    "--budget", "seconds", type=Duration(),
    help="Time limit (90s, 5m, 1h); default: 60s, no limit with --count or --instructions.",
)  # fmt: skip
@click.option("--count", type=click.IntRange(1), help="Maximum number of programs in this run.")
@click.option("--instructions", type=click.IntRange(1), help="Instructions of this run; the last program is finished.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Programs at a time; default: one per processor, at most 8.")
@click.option(
    "--report", "folder", type=click.Path(path_type=Path, file_okay=False), default="reports/fuzz", show_default=True,
    help="Folder for state and failing streams; a run with the same seed continues where the last one ended.",
)  # fmt: skip
@click.option("--steer", is_flag=True, help="Aim at coverage bins that no program of this seed met; says how many are left.")
@click.option(
    "--undefined", is_flag=True,
    help="Programs may read memory that nothing wrote; what depends on it is left out of the comparison, and counted.",
)  # fmt: skip
def fuzz(
    name: str, device: str | None, seed: int, seconds: float | None, count: int | None, instructions: int | None, jobs: int | None,
    folder: Path, *, steer: bool, undefined: bool,
) -> int:  # fmt: skip
    """Run random legal and illegal programs of SET, or on DEVICE, on iss and rtl; every commit and every byte is compared."""
    from fleet.cli.sets.fuzz import run_fuzz

    return run_fuzz(name, device, seed, seconds, count, instructions, jobs, folder, steer=steer, undefined=undefined)


@command.command(
    name="mutants",
    epilog="\b\nExamples:\n  fleet isa mutants mine_tiny --count 40 --over rtl --seed 7\n"
    "  fleet isa mutants mine_tiny --only d3c168a0d2 --effort all",
)
@click.argument("device", metavar="SET|DEVICE|WORKSPACE")
@click.option("--count", default=60, show_default=True, type=click.IntRange(1), help="Mutants, shared equally among the places.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the draw.")
@click.option("--over", default="rtl,semantics,passes", show_default=True, help="Places, comma-separated.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1, 64), help="Number of mutants tested at once.")
@click.option("--resume", is_flag=True, help="Take results that the working folder has for the same sources.")
@click.option(
    "--effort", default="usual", show_default=True, type=click.Choice(["quick", "usual", "all"]),
    help="Streams: those that find most, some of every kind, or all of the regression's.",
)  # fmt: skip
@click.option(
    "--dir", "work", type=click.Path(path_type=Path, file_okay=False), default=".fleet/mutants", show_default=True,
    help="Working folder: instrumented hardware, recorded streams, results.",
)  # fmt: skip
@click.option(
    "--survivors", type=click.Path(path_type=Path, dir_okay=False), default="sim/mutants/survivors.toml", show_default=True,
    help="The list of survivors that are explained.",
)  # fmt: skip
@click.option("--report", type=click.Path(path_type=Path, file_okay=False), help="Add to mutants.json and the page in this folder.")
@click.option("--only", help="The id of one mutant: show it and look for it again.")
def mutants(
    device: str, count: int, seed: int, over: str, jobs: int, resume: bool, effort: str, work: Path, survivors: Path,
    report: Path | None, only: str | None,
) -> int:  # fmt: skip
    """Change hardware, functional model and compiler of DEVICE in small ways, one at a time, and see that each change is found.

    In its place a folder of adopted hardware: its hardware is changed, and its tests, monitors and functional model look for the
    change; its list of survivors is survivors.toml in that folder.

    Exit code 1 where a mutant survives that the list of survivors does not explain.
    """
    from fleet.cli.sets.mutants import Wanted, run_mutants
    from fleet.cli.sets.target import find_target

    if (Path(device) / "adopt.toml").is_file():
        from fleet.cli.sets.adopt_mutants import run_adopted_mutants

        return run_adopted_mutants(Path(device), count, seed, only)

    return run_mutants(Wanted(find_target(device)[1].name, count, seed, over, jobs, resume, effort, work, survivors, report, only))


@command.command(
    name="coverage",
    epilog="\b\nExamples:\n  fleet isa coverage mine_tiny --budget 5m\n  fleet isa coverage mine_tiny --budget 5m --no-steer "
    "--report reports/plain\n  fleet isa coverage mine_tiny --budget 0 --merge a/account.json --merge b/account.json",
)
@click.argument("device", metavar="SET|DEVICE")
@click.option(
    "--budget", "seconds", default="5m", show_default=True, type=Duration(zero=True), help="Time limit; 0: only show --merge."
)
@click.option(
    "--until", type=click.FloatRange(0, 100, min_open=True), metavar="PERCENT", help="End when this share of the bins is met."
)
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1, 64), help="Simulations side by side.")
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0, 10**6),
    help="Seed of the first job; the next job has the next seed.",
)
@click.option("--steer/--no-steer", default=True, show_default=True, help="Aim at bins that were not met, or draw as `fuzz` does.")
@click.option("--rtl", is_flag=True, help="Count lines, branches, toggles and assertions of the hardware too (another build).")
@click.option(
    "--report", "folder", type=click.Path(path_type=Path, file_okay=False), default=Path("reports/isa_coverage"), show_default=True,
    help="Folder for account, page and failing streams.",
)  # fmt: skip
@click.option(
    "--merge", "accounts", multiple=True, type=click.Path(path_type=Path, dir_okay=False),
    help="Accounts of earlier runs: their bins count, and are not aimed at again.",
)  # fmt: skip
def coverage(
    device: str, seconds: float, until: float | None, jobs: int, seed: int, steer: bool, rtl: bool, folder: Path,
    accounts: tuple[Path, ...],
) -> int:  # fmt: skip
    """Run streams on DEVICE, on iss and rtl, and account for what they met: fields, values, results, hazards, crosses.

    Exit code 1 where a comparison failed. The page shows what was not met, and what cannot be met and why.
    """
    from fleet.cli.sets.coverage import CoverageRequest, run_isa_coverage
    from fleet.cli.sets.target import find_target

    share = None if until is None else until / 100
    name = find_target(device)[1].name
    return run_isa_coverage(CoverageRequest(name, seconds, jobs, seed, steer, rtl, folder, accounts, share))


@command.command(
    name="diff",
    epilog="\b\nExamples:\n  fleet isa diff mine@HEAD mine\n  fleet isa diff old.rdl new.rdl --folder reports\n"
    "  fleet isa diff mine@v1.0 mine@main --model models/a.py:forward --json",
)
@click.argument("old")
@click.argument("new")
@click.option("--device", help="Whose sizes count; default: the new side's smallest.")
@click.option(
    "--cases", default=4, show_default=True, type=click.IntRange(1), help="Conformance cases of every kind that are drawn."
)
@click.option("--model", "models", multiple=True, help="path.py:function, may be repeated; default: the models of the set's cases.")
@click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False, exists=True), default=".", show_default=True,
    help="Folder to search for stored streams, results and generated files.",
)  # fmt: skip
@click.option("--json", "machine", is_flag=True, help="Everything as JSON.")
def diff(
    old: str, new: str, device: str | None, cases: int, models: tuple[str, ...], folder: Path, machine: bool
) -> int:  # fmt: skip
    """Effects of a change. OLD and NEW: an installed set, a description (.rdl), or one of them at a git revision (SET@REV).

    Encodings that moved, streams that changed, programs that are illegal now, coverage bins that were emptied, cycles and bytes of
    every model before and after, and the files that have to be made again.
    """
    from fleet.cli.sets.diff import run_diff

    return run_diff(old, new, device, cases, models, folder, machine=machine)


@command.command(
    name="adopt",
    epilog="\b\nExamples:\n  fleet isa adopt rtl/npu.f --top npu\n"
    "  fleet isa adopt rtl/npu.f --top npu --parameter WIDTH=64 -o ports.toml\n"
    "  fleet isa adopt rtl/npu.f --top npu --map ports.toml",
)
@click.argument("files", metavar="FILELIST...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--top", default="", help="The top module; default: the one that the list names, or that no other instantiates.")
@click.option("--parameter", "parameters", multiple=True, metavar="P=V", help="Value (or type) of a parameter of the top.")
@click.option("--define", "defines", multiple=True, metavar="D=V", help="A macro, before all files.")
@click.option(
    "--include", "include_dirs", multiple=True, type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A folder that is searched for included files.",
)  # fmt: skip
@click.option(
    "--map",
    "known",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Check this port map and show it; guess nothing.",
)
@click.option(
    "--diff", "old", metavar="OLD_MAP", type=click.Path(path_type=Path, dir_okay=False),
    help="Show what changed since this port map was written; with -o write the map of today, with your edits.",
)  # fmt: skip
@click.option(
    "--registers",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="A description of registers: SystemRDL, IP-XACT.",
)
@click.option(
    "--protocol", "protocols", multiple=True, type=click.Path(path_type=Path, dir_okay=False),
    help="A Python file with a protocol of your own (fleet.sdk.ports); it is run.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path),
    help="Write a workspace into this folder; a name that ends in .toml: the port map alone. To be read and edited.",
)  # fmt: skip
@click.option("--json", "machine", is_flag=True, help="Everything as JSON.")
def adopt(
    files: tuple[Path, ...], top: str, parameters: tuple[str, ...], defines: tuple[str, ...], include_dirs: tuple[Path, ...],
    known: Path | None, old: Path | None, registers: tuple[Path, ...], protocols: tuple[Path, ...],
    output: Path | None, machine: bool,
) -> int:  # fmt: skip
    """Read hardware that was not written for fleet: what its ports mean, by protocol and role, and what could not be told.

    FILELIST: file lists (.f) and sources. Exit code 4 where ports are left that are not mapped.
    """
    from fleet.cli.sets.adopt import AdoptRequest, run_adopt

    return run_adopt(AdoptRequest(files, top, parameters, defines, include_dirs, known, old, registers, protocols, output, machine))


def _simulators(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[str, ...]:
    from fleet.adopt.bench.simulators import simulator_names

    known = simulator_names()
    names = tuple(dict.fromkeys(n.strip() for n in value.split(",") if n.strip()))
    for name in names:
        if name not in known:
            raise click.BadParameter(f"there is no simulator {name}; choose among {', '.join(known)}")
    if not names:
        raise click.BadParameter(f"name one or more of {', '.join(known)}")
    return names


@command.command(
    name="replay",
    epilog="\b\nExamples:\n  fleet isa replay npu\n  fleet isa replay npu npu/copy.toml",
)
@click.argument("folder", metavar="WORKSPACE", type=click.Path(path_type=Path))
@click.argument("test", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--model/--no-model", default=None, help="Hold the design to the functional model of the workspace (default: where it has one)."
)
@click.option(
    "--seeds", default=0, type=click.IntRange(0, 1000),
    help="Run again from so many sets of initial values: what nobody gave a value must not be seen.",
)  # fmt: skip
@click.option("--shrink", is_flag=True, help="If it fails, write TEST.small.toml with only what the failure needs.")
@click.option(
    "--export", "exported", type=click.Path(path_type=Path, file_okay=False),
    help="If it fails, write it into this folder as a bench of plain SystemVerilog that needs no fleet.",
)  # fmt: skip
@click.option(
    "--simulator", default="verilator", show_default=True, metavar="NAMES", callback=_simulators,
    help="Simulator: verilator, icarus, cxxrtl, or several separated by commas, whose records must be the same.",
)  # fmt: skip
@click.option("--wave/--no-wave", "waves", default=None, help="Write a wave of all signals (default: unless the design is large).")
@click.option("--json", "machine", is_flag=True, help="Everything as JSON.")
def replay(
    folder: Path, test: Path | None, model: bool | None, seeds: int, shrink: bool, exported: Path | None, machine: bool,
    simulator: tuple[str, ...], waves: bool | None,
) -> int:  # fmt: skip
    """Run a test on hardware that was adopted, in a bench made from its port map. TEST: a script (TOML); default: the smoke test.
    A test that lies in the folder of its workspace needs no folder (`fleet isa replay npu copy.toml`), or no workspace
    (`fleet isa replay npu/copy.toml`).

    Exit code 1 where a value, memory or stream differs from the test or the functional model, a step does not end, the design
    breaks a protocol, or simulators disagree; 4 where nothing was compared.
    """
    from fleet.cli.sets.adopt import run_replay

    if folder.is_file():
        if test is not None:
            raise click.BadParameter(f"{folder} is a file", param_hint="WORKSPACE")
        folder, test = folder.parent, folder
    if test is not None and not test.exists() and (folder / test).is_file():
        test = folder / test
    return run_replay(
        folder, test, model=model, seeds=seeds, shrink=shrink, exported=exported, machine=machine, simulators=simulator, waves=waves
    )
