"""`build`: a typed graph to a `Module`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet.errors import DeviceError, ModelError
from fleet.ir.accel.nodes import Node, post_order
from fleet.ir.accel.types import AccelTensor
from fleet.isa.issue import check_ways
from fleet.isa.reading.cache import load
from fleet.isa.registry import description_hash, find_device, instruction_sets
from fleet.sdk import Device, InstructionSet
from fleet.targets.accel.binary import AuxBinary
from fleet.targets.accel.constants import GraphConstants
from fleet.targets.accel.legality import check
from fleet.targets.accel.lower import lower
from fleet.targets.accel.memory.storage import Planner
from fleet.targets.accel.module import Module
from fleet.targets.accel.settings import DEFAULT_BLOCKS, Blocks, BuildConfig, mapping
from fleet.targets.accel.steps import Steps
from fleet.targets.driver.cpp import HPP, DriverLanguage
from fleet.transforms.copy_parts import copy_parts
from fleet.transforms.products.convolve import convolve_by_products
from fleet.transforms.products.fill_heads import fill_heads
from fleet.transforms.products.turn_neighbours import turn_neighbours
from fleet.transforms.quantise import Quantised, QuantiseOptions

_OPTIONS = ("clip", "group", "rounding", "sparse")


def build(
    graph: Node,
    init_addr: Blocks | None = None,
    name: str = "model",
    aux: bool = False,
    target: DriverLanguage = HPP,
    build_config: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    device: Device | None = None,
    stored: Mapping[str, Quantised] | None = None,
) -> Module:
    """Compile a graph: memory plan, instructions, and, with `aux`, their binary.

    Args:
        graph: after `infer_type`; a Tuple has several results.
        init_addr: block -> its base, an address or the block that it follows; default `DEFAULT_BLOCKS`.
        name: of the model, and of the driver's functions.
        aux: the device fetches its instructions from DDR, else a host writes registers.
        target: the driver's language.
        build_config: see `BuildConfig`.
        options: "group", "clip", "rounding" of quantised weights; "sparse": stored weights of each block of 8 inputs, for all
            matrices or by the name of the constant, if the set supports it.
        device: default the one that the graph's types name.
        stored: matrices that are already quantised, by the name of the constant.

    Raises:
        ModelError: the graph has no types, a setting is wrong, blocks form a cycle, a constant is used in two ways.
        DeviceError: the device has no instruction for a node, or not enough memory.
    """
    _check(graph, name, target, device)
    config, chosen = BuildConfig.of(mapping("build_config", build_config)), dict(mapping("options", options))
    instruction_set, found = _device(graph, device)
    tasks = instruction_set.tasks
    if tasks is None:
        raise DeviceError("it has no tasks for graphs", where=instruction_set.name)
    description = load(instruction_set.description)
    check_ways(instruction_set, description, aux=aux, load=config.wt2hbm, hints=("build with aux=False", "build without wt2hbm"))
    for option in chosen:
        if option not in _OPTIONS:
            raise ModelError(f"no option '{option}'", where="build", hint=f"options are {', '.join(_OPTIONS)}")
    quantise = QuantiseOptions.of(chosen)
    blocks = DEFAULT_BLOCKS if init_addr is None else mapping("init_addr", init_addr)
    planner = Planner(blocks, config, tasks.spaces(found), found.name)
    fitted = fill_heads(turn_neighbours(convolve_by_products(graph, found).graph).graph, found, instruction_set.head_channels).graph
    fitted = copy_parts(fitted, tasks).graph
    emission = lower(fitted, tasks, found, description, planner, config, chosen)
    staging = ""
    if config.wt2hbm and (sizes := [p.packing.room.size for p in emission.constants if p.space == "hbm"]):
        staging = planner.stage("runtime", "ddr", max(sizes))
    insts = ""
    if aux:
        insts = planner.take("insts", "insts", "ddr", AuxBinary(emission.items, description).size)
    plan = planner.finish(len(emission.nodes))
    steps = Steps(emission, {s.name: s.address for s in plan.storages.values()})
    module = Module(
        name=name,
        instruction_set=instruction_set,
        device=found,
        description_hash=description_hash(instruction_set, found),
        config=config,
        target=target,
        emission=emission,
        steps=steps,
        storage=plan,
        constants=GraphConstants(emission.constants, quantise, found.parameters.get("HbmPorts", 1), stored),
        binary=AuxBinary(steps.items, description) if aux else None,
        insts=insts,
        staging=staging,
    )
    check(steps, emission.dims, instruction_set, found, description)
    return module


def _check(graph: object, name: object, target: object, device: object) -> None:
    """Raises ModelError if an argument has the wrong type."""
    if not isinstance(graph, Node):
        raise ModelError(f"graph is {graph!r}, expected a node of a graph", where="build")
    for what, value, kind, expected in (
        ("name", name, str, "a text"), ("target", target, DriverLanguage, "a target, as targets.hpp"),
        ("device", device, Device | None, "a device, as find_device gives it"),
    ):  # fmt: skip
        if not isinstance(value, kind) or value == "":
            raise ModelError(f"{what} is {value!r}, expected {expected}", where="build")


def _device(graph: Node, given: Device | None) -> tuple[InstructionSet, Device]:
    """Return the device and its set. Raises ModelError if the graph names none."""
    if given is not None:
        return instruction_sets()[given.instruction_set], given
    for node in post_order(graph):
        types = node.checked_type
        for t in (types,) if isinstance(types, AccelTensor) else types or ():
            if t.device.name:
                return find_device(t.device.name)
    raise ModelError("its types name no device", where="graph", hint="run infer_type first")
