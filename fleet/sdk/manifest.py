"""The manifest of an instruction set: one plug-in, found through the entry point group `fleet.instruction_sets`.

docs/instruction-sets.md is the tutorial; rtl_models/README.md has the hardware's side (the ports of the top module).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.sdk.conformance import Source
from fleet.sdk.coverage import CoverageHints
from fleet.sdk.hardware.device import Device
from fleet.sdk.hardware.rtl_files import RtlFiles
from fleet.sdk.instructions.instruction import Call, Instruction
from fleet.sdk.issue_rules import IssueRules
from fleet.sdk.layout import Layout

if TYPE_CHECKING:
    from fleet.sdk.error_model import ErrorModel
    from fleet.sdk.lowering import AnyPattern
    from fleet.sdk.tasks import GraphTasks

__all__ = ["Extension", "InstructionSet", "Loader"]


Loader = Callable[[Device, int, int, int, int], Sequence[Call]]
"""(device, source, port, target, size) -> the calls that copy `size` bytes from DDR offset `source` to `target` of the port's bank.

All three are multiples of 32, the source of 64.
"""


@dataclass(frozen=True)
class InstructionSet:
    """The manifest: one plug-in.

    Attributes:
        name: "toy".
        sdk: the version of `fleet.sdk` that the set was written for ("2.0"). Another major version is refused.
        description: the SystemRDL file; `fleet.isa.reading.cache.load` parses it.
        instructions: name -> class; exactly the instructions of the description.
        devices: name -> device.
        layout: packs and unpacks activation tensors.
        patterns: how IR operations become instructions, best first.
        composites: names of composite operations ("attention", as in `fleet.ir.operations.composite`) that patterns match: the
            compiler looks for them in a model before it matches. Without any a model is matched as it came.
        head_channels: channels of a head that the set's attention takes; empty: any.
        passes: passes of the compiler's that run before the patterns match, by name (docs/passes.md).
        loader: the instructions by which the device fills its own HBM; None: only the host does (`--load host`).
        tasks: how operators of a graph become instructions (`fleet.sdk.tasks`); None: the graph compiler refuses the set.
        error_model: the device's arithmetic, for derived bounds; None: the defaults of `DeviceArithmetic`.
        issue: the order in which instructions may be issued; the default: one at a time, in the order of the stream.
        rtl: None while a set has no hardware yet: engine `rtl` then says so.
        wave_scopes: unit -> paths of instances below the RTL's top, for waves of one instruction; empty: the instances whose name
            or module is the unit's.
        sources: the files that decide bits (semantics, legality, tables): Python, and data that they read. Their text, the classes'
            and that of all that they import is part of `fleet.isa.registry.description_hash`, with the canonical description and
            the device's values.
        cases: folder of the set's own cases; None: none.
        conformance: instruction -> what its conformance suite draws.
        coverage: what the description cannot say of coverage.
        added: a package of one module an instruction, a `LikeInstruction` and its `PATTERN`, as `fleet isa add --like` writes it;
            part of the set although nothing above names them. Empty: none.
    """

    name: str
    sdk: str
    description: Path
    instructions: Mapping[str, type[Instruction]]
    devices: Mapping[str, Device]
    layout: Layout
    patterns: Sequence[AnyPattern] = ()
    composites: tuple[str, ...] = ()
    head_channels: tuple[int, ...] = ()
    passes: tuple[str, ...] = ()
    loader: Loader | None = None
    tasks: GraphTasks | None = None
    error_model: ErrorModel | None = None
    issue: IssueRules = field(default_factory=IssueRules)
    rtl: RtlFiles | None = None
    wave_scopes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    sources: tuple[Path, ...] = ()
    cases: Path | None = None
    conformance: Mapping[str, Source] = field(default_factory=dict[str, Source])
    coverage: CoverageHints = field(default_factory=CoverageHints)
    added: str = ""


@dataclass(frozen=True)
class Extension:
    """The manifest of a set that adds to an installed one, perhaps of another package; `fleet.isa.extending` puts the two together.

    The base's instructions, patterns, devices (as "<name>_<device>"), hints, layout, loader and tasks are there too.

    Attributes:
        base: name of the set that it extends, as the description's `fleet_extends` has it.
        name, sdk, description, cases: as in `InstructionSet`.
        instructions, patterns, devices, composites, sources, conformance: the new ones. New patterns are tried first.
        rtl: a folder: its .sv files (also in `generated/`) take the place of the base's of the same name; others are compiled after
            the generated ones. What the base leaves to the build (`GeneratedSource`) is made from this description. None: no
            hardware yet (the base's carries another description's hash, so it would not run).
        coverage: in place of the base's; None: the base's.
        added: as in `InstructionSet`; they may be like the base's instructions, and like the new ones.
    """

    base: str
    name: str
    sdk: str
    description: Path
    instructions: Mapping[str, type[Instruction]]
    patterns: Sequence[AnyPattern] = ()
    composites: tuple[str, ...] = ()
    devices: Mapping[str, Device] = field(default_factory=dict[str, Device])
    rtl: Path | None = None
    sources: tuple[Path, ...] = ()
    cases: Path | None = None
    conformance: Mapping[str, Source] = field(default_factory=dict[str, Source])
    coverage: CoverageHints | None = None
    added: str = ""
