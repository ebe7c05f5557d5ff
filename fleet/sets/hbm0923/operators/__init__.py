"""Lowers the operators of a graph (`fleet.sdk.tasks`) to instructions of the set: one file per family."""

from __future__ import annotations

from fleet.sdk.tasks import GraphTasks, Task, View
from fleet.sets.hbm0923.operators import attention, products, vectors, views
from fleet.sets.hbm0923.operators.constants import packing_of
from fleet.sets.hbm0923.operators.room import load, room, spaces, store

_OPERATORS, _VIEWS = "accel.hbm.", "accel."
"""Prefixes of operator names."""

_EMITTED: dict[str, Task] = {
    "mvm": products.mvm,
    "mvm_bn": products.mvm_bn,
    "mvm_bn_res": products.mvm_bn_res,
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

_VIEWED: dict[str, View] = {
    "reshape": views.reshape,
    "realloc": views.reshape,
    "split": views.split,
    "concat": views.concat,
    "gather": views.gather,
}

TASKS = GraphTasks(
    tasks={_OPERATORS + name: task for name, task in _EMITTED.items()},
    views={_VIEWS + name: view for name, view in _VIEWED.items()},
    joins={_VIEWS + "concat": views.concat_parts},
    spaces=spaces,
    room=room,
    packing=packing_of(_OPERATORS),
    load=load,
    store=store,
)
