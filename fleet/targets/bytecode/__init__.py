"""The seeds' bytecode: converter, file format, VM and its operators."""

from fleet.targets.bytecode.convert import ByteCodeConverter as ByteCodeConverter
from fleet.targets.bytecode.hints import DispatchHintParser as DispatchHintParser
from fleet.targets.bytecode.hints import DispatchInfo as DispatchInfo
from fleet.targets.bytecode.module import ByteCodeModule as ByteCodeModule
from fleet.targets.bytecode.opcodes import OpCode as OpCode
from fleet.targets.bytecode.opcodes import TypeCode as TypeCode
from fleet.targets.bytecode.operators import kernel as _kernel
from fleet.targets.bytecode.vm import VM as VM

python_get_dispatch_function = _kernel
"""Seed 000's name of what returns the function of a dispatch."""
