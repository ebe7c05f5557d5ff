"""The operators of a graph (`fleet.isa.tasks`) as instructions of the set: one file a family."""

from __future__ import annotations

from fleet.isa.hbm0923.tasks import attention, mvm, vectors, views
from fleet.isa.hbm0923.tasks.constants import packing_of
from fleet.isa.hbm0923.tasks.room import load, room, spaces, store
from fleet.isa.tasks import GraphTasks

PREFIX, VIEWS = "accel.hbm.", "accel."

_TASKS = {
    "mvm": mvm.mvm,
    "mvm_bn": mvm.mvm_bn,
    "mvm_bn_res": mvm.mvm_bn_res,
    "dat_hbm": attention.dat_hbm,
    "transpose": attention.dat_hbm,
    "feature2weight": attention.dat_hbm,
    "trp_mvm": attention.trp_mvm,
    "softmax": attention.softmax,
    "f2w_mvm": attention.f2w_mvm,
    "layer_norm": vectors.norm,
    "pos_emb": vectors.pos_emb,
    "rope": vectors.rope,
    "activate": vectors.activate,
    "add": vectors.add,
    "sub": vectors.sub,
    "mul": vectors.mul,
}

_VIEWS = {
    "reshape": views.reshape,
    "realloc": views.reshape,
    "split": views.split,
    "concat": views.concat,
    "gather": views.gather,
}


TASKS = {
    "mvm": mvm.mvm,
    "mvm_bn": mvm.mvm_bn,
    "mvm_bn_res": mvm.mvm_bn_res,
    "dat_hbm": attention.dat_hbm,
    "transpose": attention.dat_hbm,
    "feature2weight": attention.dat_hbm,
    "trp_mvm": attention.trp_mvm,
    "softmax": attention.softmax,
    "f2w_mvm": attention.f2w_mvm,
    "layer_norm": vectors.norm,
    "pos_emb": vectors.pos_emb,
    "rope": vectors.rope,
    "activate": vectors.activate,
    "add": vectors.add,
    "sub": vectors.sub,
    "mul": vectors.mul,
}

_VIEWS = {
    "reshape": views.reshape,
    "realloc": views.reshape,
    "split": views.split,
    "concat": views.concat,
    "gather": views.gather,
}


def _hidden(call: TaskCall) -> Sequence[tuple[tuple[Number, ...], str]]:
    """The indices of an argmax, one a token."""
    return [((call.args[0].shape[1],), "uint32")] if mvm.has_argmax(call) else []


TASKS = GraphTasks(
    tasks={PREFIX + name: task for name, task in _TASKS.items()},
    views={VIEWS + name: view for name, view in _VIEWS.items()},
    spaces=spaces,
    room=room,
    packing=packing_of(PREFIX),
    load=load,
    store=store,
)
