"""Compiles and opens a model on the engines that a user names, runs them on a prompt, and assembles the result."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fleet.core.codec import Json
from fleet.core.room import check_room
from fleet.core.scratch import Scratch
from fleet.core.version import __version__
from fleet.cosim.device_figures import figures_of
from fleet.cosim.generation import GenerationIdentity, GenerationResult, QuantisationChoiceRow
from fleet.cosim.run_request import RunRequest
from fleet.engines.backend import Backend
from fleet.engines.base import RunOptions
from fleet.engines.legs.write_log import WriteLog
from fleet.engines.rtl import RtlBackend
from fleet.errors import DeviceError, FleetError
from fleet.ir.accel.nodes import ConstantNode
from fleet.ir.accel.views import LANES
from fleet.ir.accel.walk import constants
from fleet.isa.memory import MemoryImage
from fleet.isa.registry import find_device, instruction_sets
from fleet.llm import figures
from fleet.llm.config import ModelConfig
from fleet.llm.generate import Contest, ContestOutcome, GenerationWatch
from fleet.llm.host_program import emit_host
from fleet.llm.load import LoadedLanguageModel, TextModel
from fleet.llm.models import ModelGraph, ModelOptions, build_model
from fleet.llm.models.wider_heads import widened
from fleet.llm.perplexity import bundled_text, score_logits
from fleet.llm.quantisation import Quantisation, quantise_model
from fleet.llm.sampling import Sampling
from fleet.llm.sessions.device_session import DeviceSession, load_images, session_options
from fleet.llm.sessions.program_session import CvmSession, RiscvSession, VmSession
from fleet.llm.sessions.run_module import device_backend
from fleet.llm.sessions.session import Embedding, GenerationSession
from fleet.llm.shapes import ShapeWeights
from fleet.llm.sparsity import Sparsity
from fleet.llm.weights import ModelWeights
from fleet.sdk import Device
from fleet.targets.accel.build import build
from fleet.targets.accel.module import Module
from fleet.transforms.conversion.weights import GraphWeights
from fleet.transforms.products.widen_heads import padded_width
from fleet.transforms.prune import BLOCK
from fleet.transforms.quantise import Quantised
from fleet.transforms.simplify.infer_types import infer_type

ENGINES: tuple[str, ...] = ("vm", "iss", "rtl", "riscv", "cvm")
"""Engine names. The first named one becomes the reference; engines run in this order."""

DEVICE_ENGINES = frozenset({"iss", "rtl"})
_PAGE = 0x1000


@dataclass(frozen=True)
class GenerateRequest:
    """A user's request.

    Attributes:
        name: of the model, as given.
        prompt: as given.
        tokens: maximum number of tokens to generate.
        engines: names from `ENGINES`.
        device: needed by iss and rtl.
        memory, seed: of rtl.
        issue: "regs" or "aux".
        sampling: how the reference chooses tokens.
        plan: the instruction sequence and the limits of a step.
        quantisation: of the device's weights.
        riscv: as `RunOptions.riscv`.
        date, command: stored in the result.
        folder: for memory images; None: a temporary one.
        host: folder for a C++ host program that answers the same prompt; needs "aux".
        stop: rtl stops at its first commit that differs from iss. rtl_jobs, rtl_sample: as `RunOptions`.
        perplexity: tokens of the bundled text for measuring vm, the rounded golden and iss afterwards; 0: no measurement.
    """

    name: str
    prompt: str
    tokens: int
    engines: tuple[str, ...]
    device: str | None = None
    memory: str = "ideal"
    seed: int = 0
    issue: str = "aux"
    sampling: Sampling = field(default_factory=Sampling)
    plan: ModelOptions = field(default_factory=ModelOptions)
    quantisation: Quantisation = field(default_factory=Quantisation)
    riscv: dict[str, str] = field(default_factory=dict[str, str])
    date: str = ""
    command: str = ""
    request: RunRequest | None = None
    folder: Path | None = None
    host: Path | None = None
    perplexity: int = 0
    stop: bool = True
    rtl_jobs: int = 1
    rtl_sample: str = ""

    def __post_init__(self) -> None:
        """Raises FleetError if an engine is unknown, named twice, or lacks a device."""
        if (self.rtl_jobs > 1 or self.rtl_sample) and not self.stop:
            option = "--rtl" if self.rtl_sample else "--rtl-jobs"
            raise FleetError(
                "a run in legs ends at its first commit that differs", where=option, hint=f"leave out --no-stop, or {option}",
            )  # fmt: skip
        if self.rtl_sample and "rtl" not in self.engines:
            raise FleetError("a sample of rtl, which does not run", where="--rtl", hint="name rtl, or leave it out")
        if not self.engines:
            raise FleetError("no engine was named", where="engines", hint=f"name some of {', '.join(ENGINES)}")
        for name in self.engines:
            if name not in ENGINES:
                raise FleetError(f"no engine '{name}' for language models", where="engines", hint=f"there are {', '.join(ENGINES)}")
        if len(set(self.engines)) < len(self.engines):
            raise FleetError("an engine is named twice", where="engines")
        if self.perplexity and not 2 <= self.perplexity <= self.plan.positions:
            raise FleetError(
                f"perplexity of {self.perplexity} tokens, expected 2 to {self.plan.positions} (--positions)", where="perplexity"
            )
        if self.perplexity and not self.on_device:
            raise FleetError(
                "perplexity of the device's weights needs an engine that has them", where="perplexity", hint="name iss"
            )
        if self.on_device and self.device is None:
            raise FleetError("no device given", where=f"engine {self.on_device[0]}", hint="name one with --device")
        if self.host is not None and (self.device is None or self.issue != "aux"):
            raise FleetError("a host program needs a device and the binary form", where="--emit-host", hint="--device, --issue aux")

    @property
    def on_device(self) -> tuple[str, ...]:
        """The engines that run instructions."""
        return tuple(e for e in self.engines if e in DEVICE_ENGINES)


@dataclass(frozen=True)
class CompiledContestant:
    """A model compiled for a device.

    Attributes:
        model: its graph, with the weights as the device stores them.
        module, images: compiled and packed.
        program: the same graph with the head, for the rounded golden.
        rounded: weights of that golden.
        head: logits of the last norm's result, where the host multiplies, else None.
        exact: the weights before they were rounded, with heads as wide as in `model`.
    """

    model: ModelGraph
    module: Module
    images: tuple[MemoryImage, ...]
    program: ModelGraph
    rounded: GraphWeights
    head: Callable[[np.ndarray], np.ndarray] | None
    exact: ModelWeights


def compile_model(
    loaded: LoadedLanguageModel, plan: ModelOptions, device: Device, choice: Quantisation, *, aux: bool, name: str = "model",
    wt2hbm: bool = False, progress: Callable[[float, str], None] | None = None,
) -> CompiledContestant:  # fmt: skip
    """Quantise, compile and pack a model; random weights of a shape are stored as drawn.

    aux, wt2hbm: as for `fleet.targets.accel.build.build`.

    Raises:
        DeviceError: the device cannot run or hold it.
        ModelError: unknown choice of quantisation.
        FleetError: a layer other than the head is requested on the host.
    """
    wrong = [layer for layer in choice.host if layer != "head"]
    if wrong:
        raise FleetError(
            f"layer '{wrong[0]}' cannot stay on the host in a run, only the head can", where="quantisation",
            hint="fleet models perplexity measures what it would give",
        )  # fmt: skip
    stored: Mapping[str, Quantised] | None = None
    exact = loaded.weights
    if isinstance(loaded.weights, ShapeWeights):
        weights, stored = loaded.weights, loaded.weights.stored
        options: dict[str, Json] = {"group": loaded.weights.group}
        sparse = loaded.weights.sparse
    else:
        text = loaded.tokenizer.encode(bundled_text(*choice.texts)) if choice.texts else []
        exact = _widened(loaded.weights, device, choice.group)
        quantised = quantise_model(exact, choice, text, progress=progress)
        weights, options, sparse = quantised.rounded, quantised.options, choice.sparse
    plan = _fitting(plan, weights.config, device)
    program = build_model(weights.config, weights, plan)
    model = build_model(weights.config, weights, replace(plan, host_head=True)) if choice.host else program
    if sparse:
        options |= {"sparse": sparse_constants(model, sparse, device)}
    typed = infer_type(model.root, device, attrs={"last_token": model.last_token})
    config = {"align": _PAGE, "spill": True, "wt2hbm": wt2hbm}
    module = build(typed, name=name, aux=aux, build_config=config, options=options, device=device, stored=stored)
    rounded = GraphWeights(_in_half, f"{weights.digest} in FP16")
    head = _host_head(weights) if choice.host else None
    return CompiledContestant(model, module, tuple(load_images(module)), program, rounded, head, exact)


def _widened(weights: ModelWeights, device: Device, group: int) -> ModelWeights:
    """Return the weights with heads that the device takes, if those of the model are no whole groups of a product's inputs.

    Other narrow heads are filled when the graph is built.
    """
    widths, channels = instruction_sets()[device.instruction_set].head_channels, weights.config.head_channels
    wide = padded_width(channels, widths)
    if wide == channels or weights.config.qk_norm:
        return weights
    together = max(1, group // wide) * channels  # inputs of heads that share a group once they are filled
    aligned = group % together == 0 if group >= wide else channels % group == 0
    return weights if aligned and channels % LANES == 0 else widened(weights, wide)


def _fitting(plan: ModelOptions, config: ModelConfig, device: Device) -> ModelOptions:
    """Return the plan, with separate products of q, k and v if heads are padded with zeros, which go into columns of these."""
    widths = instruction_sets()[device.instruction_set].head_channels
    if not widths or config.head_channels in widths:
        return plan
    if config.qk_norm or config.head_channels > max(widths):
        normed = ", normalised, so that no zeros can fill them" if config.qk_norm else ""
        what = f"the model has heads of {config.head_channels} channels{normed}; the device takes {' or '.join(map(str, widths))}"
        raise DeviceError(what, where=device.name)
    return replace(plan, fuse_qkv=False, join_rope=False)


def sparse_constants(model: ModelGraph, sparse: Sparsity, device: Device) -> dict[str, Json]:
    """Return kept weights by constant, also by the name that it has once its heads are filled with zeros."""
    widths, channels = instruction_sets()[device.instruction_set].head_channels, model.config.head_channels
    if sparse.o and widths and channels not in widths and channels % BLOCK:
        what = f"heads of {channels} channels are filled with zeros, which moves the blocks of {BLOCK} inputs of the product behind"
        raise DeviceError(what, where=device.name, hint="leave part o dense")
    kept = {str(c.label): sparse.kept(str(c.label)) for c in constants(model.root) if c.dtype.dtype == "int4"}
    return {name: number for label, number in kept.items() if number for name in (label, f"{label}_filled")}


def _host_head(weights: Mapping[str, np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    matrix, bias = weights["head"], weights.get("head.bias", np.float32(0))
    return lambda x: x @ matrix + bias


def _in_half(constant: ConstantNode, array: np.ndarray) -> np.ndarray:
    """Round arrays other than matrices to FP16, as on the device."""
    return array if constant.dtype.dtype == "int4" else array.astype(np.float16).astype(np.float32)


Announce = Callable[[str], None]


def generate(
    loaded: LoadedLanguageModel,
    request: GenerateRequest,
    watch: GenerationWatch | None = None,
    announce: Announce = lambda _line: None,
) -> GenerationResult:
    """Answer the request's prompt on its engines.

    Args:
        loaded: the model.
        request: what to do.
        watch: callbacks during the run.
        announce: called with a line before each slow step of the preparation.

    Raises:
        FleetError: bad input, a missing tool, an error of the reference engine.
    """
    weights, text = loaded.weights, loaded.tokenizer
    prompt = text.chat(request.prompt)
    embedding = Embedding(weights)
    room, owner, more = request.plan.positions, "plan", ", or more with --positions"
    if weights.config.context < room:
        room, owner, more = weights.config.context, "model", ""
    if not prompt:
        raise FleetError("an empty prompt", where="prompt")
    if len(prompt) > room:
        raise FleetError(
            f"the prompt has {len(prompt)} tokens, the {owner} has {room} positions", where="prompt", hint=f"a shorter prompt{more}"
        )
    if isinstance(weights, ShapeWeights):
        _check_shape(weights, request)
    if request.on_device:
        from fleet.engines.rtl import memory_model

        memory_model(request.memory, request.seed)
    with ExitStack() as stack:
        folder = request.folder or stack.enter_context(Scratch("llm"))
        opened = _Opened(loaded, request, embedding, folder, stack, announce, watch or GenerationWatch())
        if request.host is not None:
            assert opened.compiled is not None
            announce(f"writing the host program into {request.host}")
            emit_host(loaded, opened.compiled.module, opened.compiled.model.options, prompt, request.host)
        contest = Contest(opened.sessions, request.engines, weights.config.eos, text, request.sampling, watch, stop=request.stop)
        # The content of a cache was compared when it was computed.
        calls = opened.model.calls() if request.on_device and opened.golden else ()
        names = [call.label for call in calls if call.label and not call.op.endswith("dat_hbm")]
        outcome = contest.run(prompt, request.tokens, names)
        opened.measured = _perplexities(loaded, request, opened, watch or GenerationWatch())
        return _result(weights, text, request, prompt, opened, outcome)


def _check_shape(weights: ModelWeights, request: GenerateRequest) -> None:
    """Raise FleetError if random weights do not allow the request, or if it needs more memory than is available."""
    if request.perplexity or request.quantisation.host:
        what = "--perplexity" if request.perplexity else "--host-layers"
        raise FleetError(
            "weights that are drawn have no text to be measured on, and no other form", where=what, hint="name a --model"
        )
    if {"vm", "riscv", "cvm"} & {*request.engines}:
        check_room(4 * figures.parameters(weights.config), "weights in float32, which vm, riscv and cvm need,", where=request.name)


class _Opened:
    """The open sessions of a request. golden: whether vm and the rounded golden run beside the named engines."""

    def __init__(
        self, loaded: LoadedLanguageModel, request: GenerateRequest, embedding: Embedding, folder: Path, stack: ExitStack,
        announce: Announce, watch: GenerationWatch,
    ) -> None:  # fmt: skip
        weights = loaded.weights
        self.compiled: CompiledContestant | None = None
        self.written = WriteLog() if request.rtl_jobs > 1 and "rtl" in request.engines else None
        self._rtl: Backend | None = None
        self.measured: tuple[QuantisationChoiceRow, ...] = ()
        self.golden = "vm" in request.engines or not isinstance(weights, ShapeWeights)
        self.device: Device | None = None
        self.embedding_bytes = sum(int(np.prod(s)) * 2 for n, s in weights.shapes.items() if n.endswith("embedding"))
        if request.on_device or request.host is not None:
            assert request.device is not None
            instruction_set, self.device = find_device(request.device)
            begun = f"quantising ({request.quantisation})" if not isinstance(weights, ShapeWeights) else "drawing weights"
            announce(f"{begun} and compiling for {self.device.name}")
            if "rtl" in request.engines:  # its processes start while the model is compiled
                self._rtl = device_backend("rtl")
                stack.callback(self._rtl.close)
                if isinstance(self._rtl, RtlBackend):
                    self._rtl.early(
                        instruction_set, self.device, session_options(self._options(request), self.device, folder / "rtl")
                    )
            self.compiled = compile_model(
                loaded, request.plan, self.device, request.quantisation, aux=request.issue == "aux",
                progress=lambda fraction, words: watch.progress("quantise", fraction, words),
            )  # fmt: skip
        if self.compiled is not None and isinstance(weights, ShapeWeights):
            self.model = self.compiled.program  # its weights are those that were given
        else:
            if self.compiled is not None:
                weights = self.compiled.exact
            plan = request.plan if self.compiled is None else replace(self.compiled.model.options, host_head=False)
            self.model = build_model(weights.config, weights, plan)
        golden = GraphWeights(label=weights.digest)
        self.sessions: list[GenerationSession] = []

        def add(session: GenerationSession) -> None:
            self.sessions.append(stack.enter_context(session))

        for name in sorted(request.engines, key=ENGINES.index):
            if name == "vm":
                add(VmSession(self.model, embedding, golden))
            elif name == "cvm":
                add(CvmSession(self.model, embedding, golden))
            elif name == "riscv":
                add(RiscvSession(self.model, embedding, golden, RunOptions(riscv=request.riscv)))
            else:
                assert self.compiled is not None
                if name == "rtl" and "iss" not in request.engines:
                    add(self._device("iss", request, embedding, folder))
                if self.golden and (name == "iss" or "iss" not in request.engines):
                    add(VmSession(self.compiled.program, embedding, self.compiled.rounded, "vm-rounded"))
                if name == "rtl":
                    announce("starting the simulation (the first time on a device builds it: minutes)")
                add(self._device(name, request, embedding, folder))
        if "vm" not in request.engines and request.on_device and self.golden:
            add(VmSession(self.model, embedding, golden))  # only as reference for comparisons
        # vm-rounded never chooses the tokens. For rtl alone iss chooses, and rtl must equal it.
        leader = next(s.name for s in self.sessions if s.name != "vm-rounded")
        self.sessions.sort(key=lambda s: s.name != leader)

    def _device(self, name: str, request: GenerateRequest, embedding: Embedding, folder: Path) -> DeviceSession:
        assert self.compiled is not None
        backend = self._rtl if name == "rtl" and self._rtl is not None else device_backend(name)
        return DeviceSession(
            self.compiled.model, embedding, self.compiled.module, backend, folder / name, self._options(request),
            self.compiled.images, inside=name == "iss", head=self.compiled.head,
        )  # fmt: skip

    def _options(self, request: GenerateRequest) -> RunOptions:
        return RunOptions(
            memory=request.memory, seed=request.seed, rtl_jobs=request.rtl_jobs, rtl_sample=request.rtl_sample, written=self.written
        )


def _perplexities(
    loaded: LoadedLanguageModel, request: GenerateRequest, opened: _Opened, watch: GenerationWatch
) -> tuple[QuantisationChoiceRow, ...]:
    """Measure the weights as given and as stored, on the same tokens; iss confirms the latter."""
    if not request.perplexity or opened.device is None:
        return ()
    tokens = loaded.tokenizer.encode(bundled_text("evaluation"))[: min(request.perplexity, request.plan.positions)]
    found: dict[str, float] = {}
    for session in opened.sessions:
        if session.name not in {"vm", "vm-rounded", "iss"}:
            continue
        session.reset()
        rows: list[np.ndarray] = []
        for i, token in enumerate(tokens[:-1]):
            watch.progress(session.name, i / len(tokens), "perplexity")
            rows.append(session.step([token]).logits)
        found[session.name] = score_logits(np.stack(rows), tokens).perplexity
    choice, count = request.quantisation, len(tokens)
    confirmed = count if "iss" in found else 0
    return (
        QuantisationChoiceRow("as published, float32", False, 32.0, found["vm"], count, None, 0),
        QuantisationChoiceRow(
            str(choice), True, choice.mean_bits(loaded.weights.config), found["vm-rounded"], count, found.get("iss"), confirmed
        ),
    )


def _result(
    weights: ModelWeights,
    text: TextModel,
    request: GenerateRequest,
    prompt: Sequence[int],
    opened: _Opened,
    outcome: ContestOutcome,
) -> GenerationResult:
    device, compiled = opened.device, opened.compiled
    choice = None if device is None else request.quantisation
    identity = GenerationIdentity(
        prompt=request.prompt, prompt_text=text.decode(prompt), prompt_tokens=tuple(prompt), weights_hash=weights.digest,
        description_hash=None if compiled is None else compiled.module.description_hash,
        device=None if device is None else figures_of(device),
        sampling={"temperature": request.sampling.temperature, "top_k": request.sampling.top_k, "top_p": request.sampling.top_p,
                  "seed": request.sampling.seed},
        quantisation={} if choice is None else {
            "group": choice.group, "rounding": "drawn" if isinstance(weights, ShapeWeights) else choice.rounding,
            "host": list(choice.host), **({"sparse": str(choice.sparse)} if choice.sparse else {}),
        },
        tools={"fleet": __version__, "python": platform.python_version(), "numpy": np.__version__},
        memory=request.memory, seed=request.seed, date=request.date, command=request.command, request=request.request,
    )  # fmt: skip
    # A sample has no whole step on the clock, nor has a run that stopped at a commit.
    clocked = next((name for name in ("rtl", "iss") if name in outcome.last and outcome.last[name].ran.argmax >= 0), None)
    costs, path, moved, position, plan = (), (), (), 0, {}
    engines = outcome.engines
    if compiled is not None and device is not None and clocked is not None and choice is not None:
        step, isa = outcome.last[clocked], compiled.module.instruction_set
        calls = compiled.module.calls(token=len(step.tokens), last_token=step.position)
        position = step.position
        costs = figures.kind_costs(isa, device, calls, step.ran.commits)
        path = figures.timeline(isa, step.ran.commits)
        moved = figures.traffic(isa, device, calls, step, weights.config, choice)
        plan = compiled.module.storage.address_map().to_json()
        engines = tuple(_estimated(e, compiled.module, request.memory) if e.name == clocked else e for e in engines)
    tensors = {name: step.ran.tensors for name, step in outcome.first.items()}
    layers = figures.layer_errors(tensors.get("iss", {}), tensors.get("vm-rounded", {}), tensors.get("vm", {}))
    return GenerationResult(
        identity=identity, model=figures.model_figures(
            request.name, compiled.model if compiled else opened.model, choice, opened.embedding_bytes
        ),
        reference=outcome.reference, text=outcome.text, stop=outcome.stop, tokens=outcome.tokens, engines=engines,
        comparisons=outcome.comparisons, layers=layers, costs=costs, costs_position=position, timeline=path, traffic=moved,
        memory_plan=plan, quantisation=opened.measured, divergence=outcome.divergence, verdict=outcome.verdict,
        reasons=outcome.reasons, arrays={f"logits/{name}": array for name, array in outcome.logits.items()},
    )  # fmt: skip


def _estimated(engine: Any, module: Module, memory: str) -> Any:
    """Return an engine's figures with the cost model's estimate for each decode step."""
    steps = tuple(
        replace(s, estimate=figures.estimate(
            module.instruction_set, module.device, module.calls(token=s.tokens, last_token=s.position), memory
        ))
        for s in engine.decode
    )  # fmt: skip
    return replace(engine, decode=steps)
