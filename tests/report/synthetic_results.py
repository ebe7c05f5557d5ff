"""Made-up results for the report's tests: the shape of a digits run, with figures that hang together.

Nothing here was measured. The numbers come from seeded draws, so that pictures have something to show; every page test
asserts structure or relations, never these figures.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fleet.compare.diverged import CommitRow, Divergence, ElementDifference
from fleet.compare.measured import BoundStats, ErrorStats, OperationRow, ValueCounts, Worst
from fleet.compare.verdict import Comparison, Flip, NotCompared, TaskMetric
from fleet.cosim.result import ROUNDED, CosimResult
from fleet.cosim.what_ran import DataProvenance, DeviceFigures, EngineRun, RunIdentity

OPS = (
    ("matmul.0", "matmul", "", 128),
    ("add.1", "add", "", 128),
    ("h1", "maximum", "h1", 128),
    ("matmul.3", "matmul", "", 128),
    ("add.4", "add", "", 128),
    ("add.5", "add", "", 128),
    ("h2", "maximum", "h2", 128),
    ("matmul.7", "matmul", "", 10),
    ("logits", "add", "logits", 10),
    ("argmax.9", "argmax", "", 1),
)
SAMPLES = 360
UPPER = (0, *(2**k for k in range(15)))
CLASSES = ("compute", "weight_wait", "activation_wait", "write_back", "issue", "dependency")


def device() -> DeviceFigures:
    return DeviceFigures(
        name="tiny",
        instruction_set="made_up",
        clock_mhz=280.0,
        parameters={"Tin": 64, "Tout": 8, "HbmPorts": 8},
        limits={"macs_per_cycle": 512.0, "hbm_bytes_per_cycle": 256.0, "ddr_bytes_per_cycle": 64.0},
    )


def identity(**changes: object) -> RunIdentity:
    base = RunIdentity(
        model="examples/digits/model.py:forward",
        case="digits",
        source_hash="a1" * 32,
        weights_hash="b2" * 32,
        inputs_hash="c3" * 32,
        program_hash="d4" * 32,
        rounded_program_hash="e5" * 32,
        description_hash="f6" * 32,
        rtl_hash="07" * 32,
        device=device(),
        tools={"fleet": "0.1.0", "numpy": "2.4.6", "verilator": "5.052", "llvmlite": "0.50.0", "unicorn": "2.1.4"},
        memory="ideal",
        seed=0,
        date="2025-01-02T03:04:05Z",
        command="fleet cosim examples/digits/model.py:forward --weights w.npz --input x.npz --labels y.npz "
        "--metric accuracy --engines vm,iss,rtl,riscv --device tiny --report reports/digits",
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def errors(rng: np.random.Generator, elements: int, scale: float, sqnr: float, dtype: str = "float16") -> ErrorStats:
    ulp = np.abs(rng.normal(0, scale * 4000, elements)).round() if scale else np.zeros(elements)
    counts = np.histogram(ulp, bins=[-0.5, *(u + 0.5 for u in UPPER), np.inf])[0]
    return ErrorStats(
        elements=elements,
        max_abs=scale * 3,
        mean_abs=scale / 2,
        rms=scale,
        max_rel=scale * 20,
        ulp_dtype=dtype,
        ulp_max=float(ulp.max()),
        ulp_p50=float(np.median(ulp)),
        ulp_p99=float(np.quantile(ulp, 0.99)),
        ulp_upper=UPPER,
        ulp_counts=tuple(int(c) for c in counts),
        sqnr_db=sqnr,
        cosine=1 - scale / 10,
        mismatches=int((ulp > 0).sum()),
    )


def values(elements: int, saturated: int = 0) -> ValueCounts:
    return ValueCounts(elements=elements, saturated=saturated, subnormal=elements // 900, nan=0, inf=0, zero=elements // 3)


def rows(rng: np.random.Generator, kind: str, scale: float, sqnr: float, names: tuple = OPS, place: bool = True) -> tuple:
    made = []
    for i, (op, name, var, width) in enumerate(names):
        elements = SAMPLES * width
        cumulative = errors(rng, elements, scale * (1 + i / 3), sqnr - 1.5 * i if scale else np.inf)
        local = errors(rng, elements, scale / 2, sqnr + 3 if scale and name == "matmul" else np.inf) if place else None
        bound = None
        if kind == "bound":
            top = cumulative.ulp_max * 5 + 4
            bound = BoundStats(scale * 15, scale * 8, top, top / 2, 3 / 15 * (1 + i / 3), 0, 0, 0, "128 products, one rounding")
        made.append(
            OperationRow(
                op=op,
                name=name,
                var=var,
                at=f"model.py:{12 + i}:9",
                index=i,
                place=("host" if op == "add.1" else "device") if place else "",
                shape=(SAMPLES, width),
                reference_dtype="int64" if name == "argmax" else "float32",
                other_dtype="int64" if name == "argmax" else "float16" if place else "float32",
                cumulative=cumulative,
                local=local,
                bound=bound,
                local_bound=bound,
                worst=Worst((17, width - 1), 1.25, 1.25 + scale * 3, scale * 3, scale * 15 if bound else None),
                local_worst=None,
                reference_counts=values(elements),
                other_counts=values(elements, saturated=2 if i == 6 else 0),
                verdict="info" if kind == "info" else "pass",
                reason="",
            )
        )
    return tuple(made)


def commits(rng: np.random.Generator, count: int = 3) -> tuple[CommitRow, ...]:
    fused = (("matmul.0", "h1"), ("matmul.3", "add.4", "add.5", "h2"), ("matmul.7", "logits", "argmax.9"))
    made, start = [], 0
    for seq in range(count):
        cycles = {c: int(v) for c, v in zip(CLASSES, rng.integers(20, 4000, 6), strict=True)}
        total = sum(cycles.values())
        useful = int(total * 512 * 0.4)
        digest = f"{int(rng.integers(0, 2**63)):016x}"
        made.append(
            CommitRow(
                seq=seq,
                instruction=("mvm_bn", "mvm_bn_res", "mvm_bn")[seq % 3],
                ops=fused[seq % 3] if count <= 3 else (f"op.{seq}",),
                reference_digest=digest,
                other_digest=digest,
                bytes_written=46080,
                result=7 if seq % 3 == 2 else None,
                start=start,
                end=start + total,
                cycles=cycles,
                macs=useful,
                macs_issued=int(useful * 1.3),
                model_cycles=int(total * 0.9),
                token_range=(0, SAMPLES),
                equal=True,
                least_bytes={"hbm_read": useful // 300, "ddr_read": 46080, "ddr_write": 46080},
            )
        )
        start += total
    return tuple(made)


def passing() -> CosimResult:
    rng = np.random.default_rng(4)
    flips = (Flip(3, 8, 8, 1), Flip(41, 9, 9, 4), Flip(200, 5, 9, 5))
    done = commits(rng)
    cycles = sum(sum(c.cycles.values()) for c in done)
    hbm = sum(c.least_bytes["hbm_read"] for c in done) * 1.1
    riscv = {f"instructions.{op}": float(1000 * width * (60 if name == "matmul" else 1)) for op, name, _, width in OPS}
    placement = {op: "host" if op == "add.1" else "device" for op, *_ in OPS}
    port_counters = {f"hbm_port_bytes.{p}": hbm / 8 * (1 + 0.05 * (p % 3)) for p in range(8)}

    def task(engine: str, correct: int, flipped: tuple[Flip, ...] = (), must: bool = False) -> TaskMetric:
        p = correct / SAMPLES
        return TaskMetric(
            engine, "accuracy", "argmax.9", SAMPLES, correct, p, p - 0.02, p + 0.015, (350 - correct) / SAMPLES,
            (350 - correct) / SAMPLES - 0.008, (350 - correct) / SAMPLES + 0.012, 0.95, 1 - len(flipped) / SAMPLES, flipped, must,
        )  # fmt: skip

    return CosimResult(
        identity=identity(),
        data=DataProvenance("real", SAMPLES, "x.npz", "y.npz", None, (8, 8)),
        engines=(
            EngineRun("vm", "ran", elapsed_s=0.004, program_hash="d4" * 32, meta={"numpy": "2.4.6"}),
            EngineRun(ROUNDED, "ran", required=False, elapsed_s=0.004),
            EngineRun("iss", "ran", elapsed_s=0.31, placement=placement, counters={"macs": 9e6, "host_macs": 3e5}),
            EngineRun(
                "rtl",
                "ran",
                elapsed_s=14.2,
                cycles=cycles,
                placement=placement,
                counters={
                    "cycles": cycles, "hbm_read_bytes": hbm, "ddr_read_bytes": 190000.0, "ddr_write_bytes": 138240.0,
                    "macs": 9e6, "host_macs": 3e5, **port_counters,
                },
                meta={"verilator": "5.052"},
            ),
            EngineRun("riscv", "ran", elapsed_s=2.5, counters={"instructions": sum(riscv.values()), **riscv}),
            EngineRun("cpython", "not asked", required=False),
        ),
        comparisons=(
            Comparison("vm-rounded-vs-vm", "info", "vm", ROUNDED, "What do the rounded weights cost?", "pass", (), 10**5, 0,
                       rows(rng, "info", 2e-2, 32.0, place=False)),
            Comparison("iss-vs-vm-rounded", "bound", ROUNDED, "iss", "Is the arithmetic good enough?", "pass", (), 10**5, 0,
                       rows(rng, "bound", 4e-4, 66.0)),
            Comparison("iss-vs-vm", "info", "vm", "iss", "What does the accelerator lose in all?", "pass", (), 10**5, 0,
                       rows(rng, "info", 2.1e-2, 31.8)),
            Comparison("rtl-vs-iss", "bits", "iss", "rtl", "Is the hardware right?", "pass", (), 10**5, 138240, (), done),
            Comparison("riscv-vs-vm", "bound", "vm", "riscv", "Is the compiled code right?", "pass", (), 10**5, 0,
                       rows(rng, "bound", 1e-7, 130.0, place=False)),
        ),
        tasks=(task("vm", 350, must=True), task(ROUNDED, 348, flips[:2]), task("iss", 348, flips), task("rtl", 348, flips),
               task("riscv", 350, must=True)),
        not_compared=(NotCompared("cpython against vm", "engine cpython was not asked for"),),
        verdict="pass",
        reasons=("5 comparisons made, none failed",),
        divergence=None,
        arrays={
            f"inputs/flipped/{e}": rng.random((k, 64), np.float32) for e, k in ((ROUNDED, 2), ("iss", 3), ("rtl", 3))
        },
    )  # fmt: skip


def failing() -> CosimResult:
    """The hardware wrong in the second commit, riscv beyond its bound in one operation, cpython failed to run."""
    good = passing()
    divergence = Divergence(
        comparison="rtl-vs-iss",
        seq=1,
        instruction="mvm_bn_res",
        ops=("matmul.3", "add.4", "add.5", "h2"),
        what="3 of 46080 elements written by commit 1 differ",
        differences=(
            ElementDifference("ddr", 0, 0x24C0, (0, 33), "0x3c01 = 1.00097656", "0x3c00 = 1"),
            ElementDifference("ddr", 0, 0x24C2, (0, 34), "0x0000 = 0", "0x8000 = -0"),
            ElementDifference("ddr", 0, 0x3000, None, "0x4900 = 10", "0x7c00 = inf"),
        ),
        total_differences=3,
        registers=((4 * 2, 128), (4 * 10, 0x1000), (4 * 11, 0x200), (4 * 33, 0x71F)),
        registers_named={"chin": 128, "in_base": 0x1000, "wt_base": 0x200},
        inputs=("activations: ddr 0x1000..0x2000, token 0 = 0.5 0.25 0 ...", "weights: hbm port 1 0x200, scale 0x2400"),
    )
    bits = good.comparison("rtl-vs-iss")
    riscv = good.comparison("riscv-vs-vm")
    assert bits is not None
    assert riscv is not None
    changed = list(bits.commits)
    changed[1] = replace(changed[1], other_digest="deadbeef00c0ffee", equal=False)
    operations = list(riscv.operations)
    bound = operations[7].bound
    assert bound is not None
    operations[7] = replace(
        operations[7], verdict="fail", reason="4 elements beyond the bound", bound=replace(bound, worst_ratio=7.5, violations=4)
    )
    bits = replace(bits, commits=tuple(changed), verdict="fail", reasons=("commit 1 (mvm_bn_res) differs",), divergence=divergence)
    riscv = replace(riscv, operations=tuple(operations), verdict="fail", reasons=("matmul.7: 4 elements beyond the bound",))
    return replace(
        good,
        comparisons=tuple({"rtl-vs-iss": bits, "riscv-vs-vm": riscv}.get(c.name, c) for c in good.comparisons),
        engines=(*good.engines[:-1], EngineRun("cpython", "failed", error="model.py:3: NameError in the subprocess")),
        not_compared=(*good.not_compared, NotCompared("commits after 1 of rtl", "they follow from the first difference")),
        verdict="fail",
        reasons=(
            "rtl-vs-iss: commit 1 (mvm_bn_res) differs",
            "riscv-vs-vm: matmul.7: 4 elements beyond the bound",
            "cpython did not run: model.py:3: NameError in the subprocess",
        ),
        divergence=divergence,
    )


def random_data() -> CosimResult:
    good = passing()
    banner = "Inputs were drawn at random from seed 7: accuracy and other task figures mean nothing."
    return replace(good, data=DataProvenance("random", SAMPLES, None, None, banner), tasks=(), arrays={})


def empty() -> CosimResult:
    """Nothing ran, nothing was compared."""
    good = passing()
    return replace(
        good,
        identity=replace(good.identity, device=None, description_hash=None, rtl_hash=None, rounded_program_hash=None, case=None),
        engines=(EngineRun("vm", "failed", error="no engine could run"),),
        comparisons=(),
        tasks=(),
        verdict="nothing compared",
        reasons=("nothing was compared",),
        arrays={},
    )


def hostile() -> CosimResult:
    """Names that try to become markup, formulas or files."""
    bad = "<script>alert(1)</script>\"'&$x^{$|`"
    names = tuple((f"{bad}{i}", bad, bad, 10) for i in range(4))
    rng = np.random.default_rng(1)
    good = passing()
    operations = rows(rng, "bound", 1e-3, 50.0, names=names)
    operations = tuple(replace(o, at=bad, reason=bad, verdict="fail") for o in operations)
    done = tuple(replace(c, ops=(names[i][0],), instruction=bad) for i, c in enumerate(commits(rng)))
    return replace(
        good,
        identity=identity(model=bad, case=bad, command=bad, tools={bad: bad}),
        engines=(
            *good.engines[:-1],
            EngineRun("riscv", "ran", counters={f"instructions.{n[0]}": 5.0 for n in names}),
            EngineRun(bad, "failed", error=bad),
        ),
        comparisons=(
            Comparison(
                f"{bad}-vs-vm", "bound", "vm", bad, bad, "fail", (bad,), 40, 0, operations, (), None, (NotCompared(bad, bad),)
            ),
            Comparison("rtl-vs-iss", "bits", "iss", "rtl", bad, "pass", (), 40, 40, (), done),
        ),
        data=DataProvenance("random", 3, bad, bad, bad),
        tasks=(),
        verdict="fail",
        reasons=(bad,),
        divergence=Divergence(
            bad, 1, bad, (bad,), bad, (ElementDifference(bad, 0, 1, None, bad, bad),), 1, ((4, 5),), {bad: 1}, (bad,)
        ),
        arrays={},
    )


def large(operations: int = 1500) -> CosimResult:
    """A model with many operations and commits."""
    rng = np.random.default_rng(2)
    good = passing()
    names = tuple((f"layer.{i // 12}.operation.{i}", "matmul" if i % 3 == 0 else "add", "", 1) for i in range(operations))
    bits = good.comparison("rtl-vs-iss")
    assert bits is not None
    return replace(
        good,
        comparisons=(
            Comparison(
                "vm-rounded-vs-vm", "info", "vm", ROUNDED, "", "pass", (), 10, 0, rows(rng, "info", 1e-2, 40.0, names, False)
            ),
            Comparison("iss-vs-vm-rounded", "bound", ROUNDED, "iss", "", "pass", (), 10, 0, rows(rng, "bound", 1e-4, 70.0, names)),
            replace(bits, commits=commits(rng, operations)),
        ),
    )
