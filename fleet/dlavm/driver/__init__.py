"""How operators become instructions; see `fleet.sdk.tasks`."""

from fleet.dlavm.driver import config
from fleet.sdk.tasks import Operand, Task, TaskCall, TaskContext

__all__ = ["Operand", "Task", "TaskCall", "TaskContext", "config"]
