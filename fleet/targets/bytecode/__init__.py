"""The seeds' bytecode: converter, file format, VM and its operators."""

from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.bytecode.hints import DispatchHintParser, DispatchInfo
from fleet.targets.bytecode.module import ByteCodeModule
from fleet.targets.bytecode.opcodes import OpCode, TypeCode
from fleet.targets.bytecode.vm import VM

__all__ = ["VM", "ByteCodeConverter", "ByteCodeModule", "DispatchHintParser", "DispatchInfo", "OpCode", "TypeCode"]
