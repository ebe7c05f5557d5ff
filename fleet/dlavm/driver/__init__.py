"""Lowering of operators to instructions; see `fleet.sdk.tasks`."""

from fleet.dlavm.driver import config
from fleet.sdk.tasks import Task, TaskCall, TaskContext
from fleet.sdk.tasks import TaskOperand as Operand

__all__ = ["Operand", "Task", "TaskCall", "TaskContext", "config"]
