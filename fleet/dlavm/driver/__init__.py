"""How operators become instructions; see `fleet.isa.tasks`."""

from fleet.isa.tasks import Operand, Task, TaskCall, TaskContext

__all__ = ["Operand", "Task", "TaskCall", "TaskContext"]
