"""LLVM's part in this process: the machine that code is for, and the addresses that it is loaded with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet.targets.host.code import Arena


def initialize() -> None:
    """Let LLVM know this processor's kind."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def host_machine() -> tuple[str, str, Any]:
    """Return LLVM's name of this processor, its features, and the target machine."""
    import llvmlite.binding as llvm

    initialize()
    processor, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=processor,
        features=features,
        opt=3,
        codemodel="large",  # buffers are far from code
    )
    return processor, features, machine


def load(engine: Any, module: Any, symbols: Mapping[str, int], arena: Arena) -> None:
    """Load an execution engine's code; symbols of the module -> address in the memory plan."""
    for symbol, address in symbols.items():
        engine.add_global_mapping(module.get_global_variable(symbol), arena.address(address))
    engine.finalize_object()
