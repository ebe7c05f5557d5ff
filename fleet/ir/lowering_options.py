"""Options for compiling for an accelerator, set by the command line, a case, a stored model or a Python caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

from fleet.core.codec import MAY_BE_MISSING, Json, decode, encode
from fleet.errors import ModelError


@dataclass(frozen=True)
class LoweringOptions:
    """Options of a compile for an accelerator; None leaves the choice to the compiler.

    Attributes:
        group: inputs that share a scale of a quantised weight (None: the device's own). A set refuses unsupported values.
        sparse: stored weights of each block of 8 inputs of a quantised weight (None: all). A set refuses unsupported values.
        clip, rounding: `fleet.transforms.quantise.QuantiseOptions`.
        issue: "regs": every instruction's registers are written; "aux": the instructions are also in DDR, in binary form.
        load: what fills the HBM: the "host", or the "device": its content is in DDR and the first instructions copy it.
        calibration: path of a file of `fleet.ir.calibration`.
        pipeline, passes: only for the engine `interp`: a name of `fleet.transforms.pipeline.PIPELINES`, or passes separated by
            commas, which it runs first.
    """

    group: int | None = field(default=None, metadata=MAY_BE_MISSING)
    sparse: int | None = field(default=None, metadata=MAY_BE_MISSING)
    clip: str | None = field(default=None, metadata=MAY_BE_MISSING)
    rounding: str | None = field(default=None, metadata=MAY_BE_MISSING)
    issue: Literal["regs", "aux"] = field(default="regs", metadata=MAY_BE_MISSING)
    load: Literal["host", "device"] = field(default="host", metadata=MAY_BE_MISSING)
    calibration: str | None = field(default=None, metadata=MAY_BE_MISSING)
    pipeline: str | None = field(default=None, metadata=MAY_BE_MISSING)
    passes: str | None = field(default=None, metadata=MAY_BE_MISSING)

    @classmethod
    def of(cls, given: LoweringOptions | Mapping[str, Json] | None, where: str = "lowering") -> LoweringOptions:
        """Read a table of options. where: the file or argument, for messages. Raises ModelError for an unknown option or value."""
        if given is None or isinstance(given, LoweringOptions):
            return given or cls()
        known = [f.name for f in fields(cls)]
        for key in given:
            if key not in known:
                raise ModelError(f"no compile option '{key}'", where=where, hint=f"options are {', '.join(known)}")
        return decode(cls, dict(given), where, "lowering")

    @property
    def stated(self) -> dict[str, Json]:
        """Return the options that differ from their defaults, as passed to an instruction set (`fleet.sdk.lowering.Options`)."""
        chosen = {f.name: (encode(getattr(self, f.name)), f.default) for f in fields(self)}
        return {name: value for name, (value, default) in chosen.items() if value != default}


USUAL = LoweringOptions()
"""Options with every choice left to the compiler."""
