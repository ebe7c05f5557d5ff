"""The driver of a compiled graph: storages, inputs and outputs, loading of parameters, update of a step, run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fleet.isa.codec_binary import BEAT, BLOCK, TASKS, WORDS
from fleet.sdk.tasks import TaskOperand
from fleet.symbols.expr import Expr, If, Number, Var, as_expr, differ, dim
from fleet.targets.accel.binary import AuxRun, Slot
from fleet.targets.accel.compiled import INSTS_FILE, CompiledGraph
from fleet.targets.accel.emission import ConstantPlace, Instr, Loop, NodeInfo, address_of
from fleet.targets.accel.memory.place import short
from fleet.targets.driver import statements as st
from fleet.targets.driver.names import Names, identifier
from fleet.targets.driver.pieces import DEVICE, FOLDER, MEMORY, fetch_binary, issue, issue_calls, parameter_writes

_LARGEST_INT = (1 << 31) - 1


def driver(module: CompiledGraph) -> st.DriverProgram:
    """The program, in the order of seed 004's header."""
    return _Driver(module).program()


class _Driver:
    def __init__(self, module: CompiledGraph) -> None:
        self.m = module
        self.names = Names(tuple(module.storage.storages))
        for parameter in (DEVICE, MEMORY, FOLDER):
            self.names.unique(parameter.name)
        # The model's own names are those of the seed; names that collide with them are changed.
        self.name = identifier(module.name)
        prefix = "" if module.config.namespace else f"{self.name}_"
        whole = "run" if module.config.namespace else self.name
        self.load, self.update, self.run = (self.names.unique(n) for n in (f"{prefix}load_params", f"{prefix}update", whole))
        self.dims = {n: Var(self.names.unique_identifier(n), v.max_data, v.min_data) for n, v in module.emission.dims.items()}
        self.was = {n: Var(self.names.unique(f"{prefix}was_{v.name}"), _LARGEST_INT) for n, v in self.dims.items()}
        self.counts: dict[int, str] = {}
        if module.binary is not None:
            for i, run in enumerate(module.binary.runs, 1):
                if run.loop is not None:
                    self.counts[i] = self.names.unique(f"{prefix}aux_block_{i}_tasks")

    def program(self) -> st.DriverProgram:
        body = st.Block()
        body.add(self.storages(), self.inputs(), self.outputs(), self.loading())
        body.add(self.updating() if self.m.binary is not None else st.Block(), self.running())
        return st.DriverProgram(body, self.name if self.m.config.namespace else None)

    # ---- numbers

    def number(self, value: Number) -> Number:
        """Replace the dimensions by their names in the C++ program."""
        if not isinstance(value, Expr):
            return value
        renamed: Mapping[str, Number] = {n: v for n, v in self.dims.items() if v.name != n}
        return dim(value.substitute(renamed)) if renamed else value

    def parameters(self, values: Sequence[Number]) -> list[st.Parameter]:
        """The dimensions that some numbers depend on, in the model's order."""
        used = {v.name for value in values if isinstance(value, Expr) for v in value.variables}
        return [st.Parameter(v.name, "int") for n, v in self.dims.items() if n in used]

    def absolute(self, operand: TaskOperand) -> Number:
        """Return the address at which the host sees an operand: `(runtime0 + 8589934592)`."""
        base = self.m.config.hbm_base if operand.space == "hbm" else self.m.config.ddr_base
        return self.number(dim(as_expr(operand.address) + base))

    # ---- sections

    def storages(self) -> st.Block:
        block = st.Block()
        last = None
        for s in self.m.storage.storages.values():
            if s.block != last:
                block.add(st.Annotation(f"{s.block} storage define"))
                last = s.block
            block.add(st.Define(s.name, "address", s.address))
        if self.m.binary is not None:
            block.add(st.Annotation(""))
            first = self.m.first_step
            for n, variable in self.was.items():
                block.add(st.Define(variable.name, "int", first[n], f"the step that the binary holds: {n}"))
            rounds = self.m.runs_of(first)
            for i, name in self.counts.items():
                block.add(st.Define(name, "int", rounds[i - 1]))
        block.add(st.Annotation(""))
        return block

    def inputs(self) -> st.Block:
        block = st.Block()
        for name, operand in self.m.emission.inputs.items():
            block.add(st.Define(self.names.unique_identifier(name), "address", self.absolute(operand)))
        block.add(st.Annotation(""))
        return block

    def outputs(self) -> st.Block:
        block = st.Block()
        argmax = self.m.argmax_register
        for name, operand in self.m.emission.outputs.items():
            called = self.names.unique_identifier(name)
            address = self.absolute(operand)
            if operand.dtype != "float16" and argmax is not None:
                read = st.Return(st.CsbRead(argmax))
                block.add(st.Define(self.names.unique(f"{called}_indices"), "address", address))
                block.add(st.DriverFunction(called, [DEVICE], st.Block([read]), "word"))
            elif parameters := self.parameters([address]):
                block.add(st.DriverFunction(called, parameters, st.Block([st.Return(address)]), "address"))
            else:
                block.add(st.Define(called, "address", address))
        block.add(st.Annotation(""))
        return block

    def loading(self) -> st.Block:
        block, whole = st.Block(), st.Block()
        for place in self.m.constants.places:
            name = self.names.unique_identifier(f"{place.name}_load_param")
            block.add(st.DriverFunction(name, [DEVICE, MEMORY, FOLDER], self._load(place)))
            whole.add(st.CallFunction(name, [DEVICE, MEMORY, FOLDER]))
        if self.m.binary is not None:
            size = self.m.binary.size
            address = dim(address_of(self.m.insts) + self.m.config.ddr_base)
            whole.add(st.CopyFile("ddr", INSTS_FILE, address, size))
            for n, variable in self.was.items():
                whole.add(st.Assign(variable.name, self.m.first_step[n]))
            rounds = self.m.runs_of(self.m.first_step)
            for i, name in self.counts.items():
                whole.add(st.Assign(name, rounds[i - 1]))
        block.add(st.DriverFunction(self.load, [DEVICE, MEMORY, FOLDER], whole))
        return block

    def _load(self, place: ConstantPlace) -> st.Block:
        m, block = self.m, st.Block()
        size, storage = place.packing.room.size, address_of(place.storage)
        written: dict[int, Number] = {}
        for bank, file in enumerate(m.constants.files(place)):
            if place.space == "hbm" and m.config.wt2hbm:
                block.add(st.CopyFile("ddr", file, dim(address_of(m.staging) + m.config.ddr_base), size))
                block.add(*issue_calls(m.description, m.copies(place, bank), written=written))
                continue
            hbm = m.config.hbm_base + (bank << m.device.parameters["Log2BankStep"])
            block.add(st.CopyFile(place.space, file, dim(storage + (hbm if place.space == "hbm" else m.config.ddr_base)), size))
        return block

    # ---- registers

    def running(self) -> st.Block:
        return self._aux_running() if self.m.binary is not None else self._regs_running()

    def _regs_running(self) -> st.Block:
        block, whole, used = st.Block(), st.Block(), dict[str, st.Parameter]()
        whole.add(*parameter_writes(self.m.description, self.m.parameters))
        for n, info in enumerate(self.m.emission.nodes, 1):
            function, dims = self._step(n, info)
            block.add(function)
            whole.add(st.CallFunction(function.name, [DEVICE, *dims]))
            used |= {p.name: p for p in dims}
        ordered = [used[v.name] for v in self.dims.values() if v.name in used]
        block.add(st.DriverFunction(self.run, [DEVICE, *ordered], whole))
        return block

    def _step(self, n: int, info: NodeInfo) -> tuple[st.DriverFunction, list[st.Parameter]]:
        """The function of a node, and the dimensions that it takes."""
        body = st.Block()
        if self.m.config.debug:
            body.add(st.Annotation(self.m.emission.log[n - 1]))
        values: list[Number] = []
        for item in self.m.emission.items[info.first : info.end]:
            if isinstance(item, Loop):
                inside = st.Block()
                for made in item.body:
                    self._writes(made, inside, values)
                values.append(self.number(item.count))
                body.add(st.For(item.index.name, self.number(item.count), inside))
            else:
                self._writes(item, body, values)
        name = self.names.unique_identifier(f"{short(info.op)}_step_{n}")
        dims = self.parameters(values)
        return st.DriverFunction(name, [DEVICE, *dims], body), dims

    def _writes(self, made: Instr, block: st.Block, values: list[Number]) -> None:
        fields = {r.name: self.number(made.fields[r.name]) for r in self.m.description.words(made.instruction)}
        values += fields.values()
        block.add(*issue(self.m.description, made.instruction, fields))

    # ---- binary

    def _aux_running(self) -> st.Block:
        assert self.m.binary is not None
        block, whole = st.Block(), st.Block()
        whole.add(*parameter_writes(self.m.description, self.m.parameters))
        for i, run in enumerate(self.m.binary.runs, 1):
            body = st.Block()
            if self.m.config.debug:
                body.add(*(st.Annotation(line) for line in self._log(run)))
            tasks: Number = len(run.slots)
            beats: Number = run.size // BEAT
            if i in self.counts:
                tasks = Var(self.counts[i], _LARGEST_INT)
                beats = (tasks + (TASKS - 1)) // TASKS * (BLOCK // BEAT)
            body.add(*fetch_binary(self.m.description, dim(address_of(self.m.insts) + run.offset), beats, tasks))
            name = self.names.unique_identifier(f"aux_block_{i}")
            block.add(st.DriverFunction(name, [DEVICE], body))
            whole.add(st.CallFunction(name, [DEVICE]))
        block.add(st.DriverFunction(self.run, [DEVICE], whole))
        return block

    def _log(self, run: AuxRun) -> Iterator[str]:
        for n, info in enumerate(self.m.emission.nodes):
            if run.items[0] <= info.first < run.items[1]:
                yield self.m.emission.log[n]

    def updating(self) -> st.Block:
        """Words that depend on the step, grouped by dimension: an unchanged dimension changes none of its words."""
        assert self.m.binary is not None
        groups: dict[tuple[str, ...], st.Block] = {}
        for i, run in enumerate(self.m.binary.runs, 1):
            if run.loop is not None:
                values = [run.loop.count, *(v for body in run.loop.body for v in body.dynamic.values())]
                self._group(groups, values).add(*self._loop_words(i, run, run.loop))
                continue
            for slot in run.slots:
                self._slot_words(slot, groups)
        body = st.Block()
        for names, block in groups.items():
            changed: Number = 0
            for n in names:
                one = differ(self.dims[n], self.was[n])
                changed = one if isinstance(changed, int) else changed | one
            body.add(st.IfThen(changed, block) if names else block)
        for n, variable in self.was.items():
            body.add(st.Assign(variable.name, self.dims[n]))
        every = [st.Parameter(v.name, "int") for v in self.dims.values()]
        return st.Block([st.DriverFunction(self.update, [MEMORY, *every], body)])

    def _group(self, groups: dict[tuple[str, ...], st.Block], values: Sequence[Number]) -> st.Block:
        used = {v.name for value in values if isinstance(value, Expr) for v in value.variables}
        return groups.setdefault(tuple(n for n in self.dims if n in used), st.Block())

    def _word(self, word: Number) -> Number:
        """Return the absolute address of a word of the binary."""
        return dim(address_of(self.m.insts) + self.m.config.ddr_base + as_expr(word) * 4)

    def _slot_words(self, slot: Slot, groups: dict[tuple[str, ...], st.Block]) -> None:
        for k, register in enumerate(self.m.description.words(slot.made.instruction)):
            if (value := slot.made.dynamic.get(register.name)) is not None:
                self._group(groups, [value]).add(st.WriteWord(self._word(slot.word + k), self.number(value)))

    def _loop_words(self, i: int, run: AuxRun, loop: Loop) -> Iterator[st.Node]:
        """Emit a task for every possible iteration; those beyond the step's count become zeros."""
        (made,) = loop.body
        word = self.m.description.instructions[made.instruction]
        count, index = as_expr(self.number(loop.count)), loop.index
        yield st.Assign(self.counts[i], count)
        start = run.offset // 4
        block_words, head = BLOCK // 4, BEAT // 4
        place = index // TASKS * block_words + index % TASKS * (word.beats * WORDS) + (start + head)
        there, registers = st.Block(), self.m.description.words(made.instruction)
        for k, register in enumerate(registers):
            there.add(st.WriteWord(self._word(place + k), self.number(made.fields[register.name])))
        k = Var(f"{index.name}_word", len(registers) - 1)
        gone = st.Block([st.For(k.name, len(registers), st.Block([st.WriteWord(self._word(place + k), 0)]))])
        yield st.For(index.name, loop.most, st.Block([st.IfThen(index < count, there, gone)]))
        # Four cfg_ids a word.
        quarter = Var(f"{index.name}_ids", (loop.most + 3) // 4 - 1)
        ids: Number = 0
        for b in range(4):
            ids = If(quarter * 4 + b < count, word.opcode << 8 * b, 0) + ids
        at = quarter // (TASKS // 4) * block_words + quarter % (TASKS // 4) + start
        yield st.For(quarter.name, (loop.most + 3) // 4, st.Block([st.WriteWord(self._word(at), ids)]))
