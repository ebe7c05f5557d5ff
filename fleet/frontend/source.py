"""A model written as plain NumPy Python source, read into a program. The file is parsed, never executed.

A model is named "path.py:function" (arguments are its arrays) or "path.py" (a top-level script without arguments). The three
functions that commands use, `load`, `signature` and `sample_inputs`, also take "path.onnx", which `fleet.frontend.onnx` reads, and
"path.mlir" or "path.mlir:function", which `fleet.frontend.mlir` reads.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from fleet.core.room import bytes_of, check_room
from fleet.errors import ModelError, SourceError
from fleet.frontend.arrays.builder import MAX_USED, Builder
from fleet.frontend.arrays.tracing import Tracing, final_values
from fleet.frontend.drawn import drawn_input
from fleet.frontend.live.arguments import bound_arguments, check_finite, declared
from fleet.frontend.mlir import entry as mlir
from fleet.frontend.mlir.choice import is_mlir
from fleet.frontend.onnx import entry
from fleet.frontend.onnx.choice import is_onnx
from fleet.frontend.python.calls import returned
from fleet.frontend.python.flow.returns import returned_values
from fleet.frontend.python.generators import yields
from fleet.frontend.python.reader import reader
from fleet.frontend.python.standard.functions import is_kernel
from fleet.frontend.reading.errors import combined
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.findings import Poisoned, TooManyErrors
from fleet.frontend.reading.imported import ModuleFinder
from fleet.frontend.reading.module import SourceModule, parse, source_text
from fleet.frontend.reading.places import SourcePlaces
from fleet.frontend.reading.static import Made
from fleet.frontend.reading.values import Broken, CallFrame, SourceFunction, TracedArray, Value
from fleet.ir.dead import drop_dead
from fleet.ir.program import Argument, Program
from fleet.ir.room import check_results
from fleet.ir.types import tensor_type
from fleet.ir.weights import Entry, Weights
from fleet.symbols.dims import DeclarationError, Declared, bind
from fleet.transforms.simplify.canonicalise import canonicalise

MODEL = "__fleet_model__"
"""The `__name__` of a function's file."""

SCRIPT = "__main__"
"""Name of the IR function that stands for a top-level script."""


def load(
    spec: str,
    weights: Mapping[str, np.ndarray],
    inputs: Mapping[str, np.ndarray],
    *,
    seed: int = 0,
    dynamic: Collection[str] | bool = (),
) -> Program:
    """Reads a model.

    Args:
        spec: "path.py:function", or "path.py" for a script.
        weights: argument name -> array, bound in the program. Names that the function does not have are ignored.
        inputs: argument name -> array; only shapes and dtypes are used.
        dynamic: names of declared dimensions that stay unknown until the run (True: all that no weight has). Inputs that have one
            need no data.
        seed: no effect: what the source draws at random it must seed itself.

    Raises:
        SourceError: the file cannot be read, or is outside what is supported (up to 20 places in one error).
        ModelError: arrays missing, of a wrong shape or dtype, or weights with NaN or infinity.
    """
    del seed
    if is_onnx(spec):
        return entry.load(spec, weights, inputs, dynamic=dynamic)
    if is_mlir(spec):
        return mlir.load(spec, weights, inputs, dynamic=dynamic)
    module, function_name = open_source(spec)
    try:
        return _load(module, function_name, spec, weights, inputs, dynamic)
    except RecursionError:
        raise SourceError(
            "nested too deeply", where=module.source.name, hint="split it over several assignments", code="F602"
        ) from None


def signature(spec: str) -> list[Declared]:
    """The declared arguments of a model (name, dtype, dims, optional), without any array. Raises SourceError."""
    if is_onnx(spec):
        return entry.signature(spec)
    if is_mlir(spec):
        return mlir.signature(spec)
    module, function_name = open_source(spec)
    return [] if function_name is None else declared(module, module.functions[function_name])


def sample_inputs(spec: str, weights: Mapping[str, np.ndarray], *, batch: int = 8, seed: int = 0) -> dict[str, np.ndarray]:
    """Seeded random arrays for every argument that is no weight: as `drawn_input` draws them.

    Named dimensions that the weights bind keep that size; all others get `batch`.
    Raises SourceError for an argument that does not declare dtype and dimensions, ModelError for a weight of another shape.
    """
    if is_onnx(spec):
        return entry.sample_inputs(spec, batch=batch, seed=seed)
    arguments = signature(spec)
    where = spec if is_mlir(spec) else open_source(spec)[0].source.name
    try:
        sizes = bind(arguments, {name: w.shape for name, w in weights.items()})
    except DeclarationError as error:
        raise ModelError(str(error), where=spec) from None
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray] = {}
    for a in arguments:
        if a.name in weights or a.optional:
            continue
        if a.dtype is None or a.dims is None:
            raise SourceError(
                f'no data for "{a.name}", whose shape and dtype are not declared', where=where,
                hint=f'give the input, or annotate it: {a.name}: "float32[N, 64]"',
            )  # fmt: skip
        shape = tuple(d if isinstance(d, int) else sizes.get(d, batch) for d in a.dims)
        check_room(bytes_of(shape, np.dtype(np.float64)), f"a drawn {a.name}, {a.dtype}{list(shape)},", where=where)
        found[a.name] = drawn_input(rng, shape, a.dtype)
    return found


def open_source(spec: str) -> tuple[SourceModule, str | None]:
    """The parsed file of "path.py" or "path.py:function", and the function's name. Raises SourceError."""
    path, colon, name = spec.rpartition(":")
    if not colon or spec.endswith(".py"):
        path, name = spec, ""
    module = open_module(path)
    if not name:
        if not module.statements() and module.functions:
            names = ", ".join(sorted(module.functions))
            raise SourceError(
                "has no statements to run", where=path, hint=f"name a function, {path}:NAME; its functions: {names}", code="F207"
            )
        return module, None
    if name not in module.functions:
        names = ", ".join(sorted(module.functions)) or "none"
        raise SourceError(f"no function `{name}` at the top level", where=path, hint=f"its functions: {names}", code="F207")
    return module, name


def open_module(path: str) -> SourceModule:
    """The parsed file, whatever it defines. Raises SourceError."""
    # A path that the locale cannot decode holds surrogates, which no UTF-8 file or terminal takes.
    return parse(source_text(path), path.encode(errors="surrogateescape").decode(errors="replace"))


def module_statements(program: Program) -> list[int]:
    """Return the top-level statements of a function's file that are evaluated (by position): all that the front end understands."""
    module = parse(program.source, program.source_name)
    finder = ModuleFinder(package=ModuleFinder.of(program.source_name).package, known=program.modules)
    evaluator, _ = _evaluator(module, Block(), MODEL, finder)
    with closing(evaluator):
        _module_level(evaluator)
    done = {id(s) for s in evaluator.evaluated}
    return [i for i, s in enumerate(module.tree.body) if id(s) in done]


def parameters(text: str, name: str, function: str) -> frozenset[str]:
    """Names of the arguments of a file's function, or nothing for a script. Raises SourceError if the text is not Python."""
    found = parse(text, name).functions.get(function)
    if found is None:
        return frozenset()
    spec = found.args
    return frozenset(a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))


def _evaluator(module: SourceModule, block: Block, main: str, finder: ModuleFinder) -> tuple[Evaluator, Tracing]:
    reading: list[Evaluator] = []
    text = module.source
    places = SourcePlaces(text.text, text.name, present=lambda: reading[0].present() if reading else None)
    domain = Tracing(Builder(places, block), Made(block))
    evaluator = reader(replace(module, source=places), domain, main=main)
    evaluator.imports.finder = finder
    reading.append(evaluator)
    return evaluator, domain


def _module_level(evaluator: Evaluator) -> None:
    """Evaluate the statements around the functions, as an import would; what fails there is an error where it is used."""
    assert isinstance(evaluator.domain, Tracing)
    evaluator.tolerant = evaluator.domain.muted = True
    try:
        evaluator.run(evaluator.module.tree.body, evaluator.globals)
    except (Poisoned, TooManyErrors):
        pass
    finally:
        evaluator.tolerant = evaluator.domain.muted = False


def _load(
    module: SourceModule,
    function_name: str | None,
    spec: str,
    weights: Mapping[str, np.ndarray],
    inputs: Mapping[str, np.ndarray],
    dynamic: Collection[str] | bool,
) -> Program:
    arguments: list[Argument] = []
    symbols: dict[str, int] = {}
    if function_name is not None:
        function = module.functions[function_name]
        module.check_function(function)
        if yields(function):
            module.source.fail("F509", function, f"`{function_name}` is a generator", "return an array or a tuple of arrays")
        arguments, symbols = bound_arguments(spec, declared(module, function), weights, inputs, dynamic)
    elif dynamic and not isinstance(dynamic, bool):
        raise ModelError("a script has no declared dimensions", where=spec, hint="name a function: path.py:function")
    bound: dict[str, Entry] = {a.name: np.asarray(weights[a.name], order="C") for a in arguments if a.kind == "weight"}
    check_finite(spec, {name: a for name, a in bound.items() if isinstance(a, np.ndarray)})
    block = Block(arg_types=[tensor_type(a.shape, a.dtype) for a in arguments])
    for argument, value in zip(arguments, block.args, strict=True):
        value.name_hint = argument.name if argument.name.isascii() else None
    main = "__main__" if function_name is None else MODEL
    evaluator, domain = _evaluator(module, block, main, ModuleFinder.of(module.source.name))
    given = {a.name: v for a, v in zip(arguments, block.args, strict=True)}
    with closing(evaluator):
        outputs, values, frame = _evaluate(evaluator, function_name, given)
    others = {f"{m.name}.{n}": v for m in evaluator.imports.spaces.values() for n, v in m.frame.variables.items()}
    roots = {**others, **evaluator.globals.variables, **frame.variables}
    program = assemble(function_name or SCRIPT, domain, arguments, bound, (outputs, values), frame.variables, roots, symbols)
    files = tuple(evaluator.files.values())
    return replace(program, modules=evaluator.imports.read, handlers=tuple(sorted(evaluator.handlers)), files=files)


def assemble(
    name: str,
    domain: Tracing,
    arguments: Sequence[Argument],
    bound: Mapping[str, Entry],
    returned: tuple[Sequence[str], Sequence[SSAValue]],
    variables: Mapping[str, Value],
    roots: Mapping[str, Value],
    symbols: Mapping[str, int],
) -> Program:
    """The program of the operations that `domain` has gathered.

    Args:
        name: the IR function's.
        arguments, bound: those of the block so far, and the data of those that are weights.
        returned: names and values that the function returns.
        variables: the function's own at its end; they give operations their `var`.
        roots: variables whose containers name the arrays that the source made.
        symbols: sizes of named dimensions.
    """
    made, block, source = domain.made, domain.builder.block, domain.builder.source
    outputs, values = returned
    block.add_op(ReturnOp(*values))
    domain.builder.identify(final_values(variables))
    drop_dead(block)
    if sum(1 for _ in block.ops) > MAX_USED:
        what = f"the program has more than {MAX_USED} operations"
        raise SourceError(what, where=source.name, hint="shorten loops, or compute with larger arrays", code="F604")
    made.drop_unused()
    added, entries = made.arguments({a.name for a in arguments}, roots)
    types = ([v.type for v in block.args], [v.type for v in values])
    ir = ModuleOp([FuncOp(name, types, Region(block))])
    kept = Weights({**bound, **entries}) if entries else bound
    program = Program(ir, (*arguments, *added), kept, tuple(outputs), source.text, source.name, symbols)  # pyright: ignore[reportArgumentType]
    return check_results(canonicalise(program, copy=False))


def _evaluate(
    evaluator: Evaluator, function_name: str | None, arguments: Mapping[str, SSAValue]
) -> tuple[list[str], list[SSAValue], CallFrame]:
    module = evaluator.module
    outputs: list[str] = []
    values: list[SSAValue] = []
    frame = evaluator.globals
    try:
        if function_name is None:
            frame.depth = 0
            frame.function = SCRIPT
            evaluator.run(module.tree.body, frame)
        else:
            function = module.functions[function_name]
            _module_level(evaluator)
            _check_decorators(evaluator, function)
            frame = CallFrame(function_name, 0, evaluator.scope(function), evaluator.globals)
            frame.variables.update(_parameters(evaluator, function_name, arguments))
            evaluator.kernels += is_kernel(evaluator.globals.variables.get(function_name))
            flow = evaluator.run(function.body, frame)
            if not evaluator.errors:
                with evaluator.within(frame):
                    outputs, values = returned_values(evaluator, function, flow.statement, returned(evaluator, function, flow))
    except SourceError as error:
        evaluator.errors.append(error)
    except (TooManyErrors, Poisoned):
        pass
    if evaluator.errors:
        raise combined(evaluator.errors)
    return outputs, values, frame


def _check_decorators(evaluator: Evaluator, function: ast.FunctionDef) -> None:
    """Refuse a model that its decorators change, or may change."""
    made = evaluator.globals.variables.get(function.name)
    if not function.decorator_list or (isinstance(made, SourceFunction) and made.node is function):
        return
    if isinstance(made, Broken):
        raise made.error
    what = f"`{function.name}` is decorated, which may change what it means"
    evaluator.fail("F508", function.decorator_list[0], what, "remove the decorator")


def _parameters(evaluator: Evaluator, name: str, arguments: Mapping[str, SSAValue]) -> dict[str, Value]:
    """The model's arguments, which it may change (every engine gets a copy), and defaults of the remaining parameters."""
    found: dict[str, Value] = {n: TracedArray(v, scalar=False) for n, v in arguments.items()}
    function = evaluator.globals.variables.get(name)
    if isinstance(function, Broken):
        raise function.error
    if isinstance(function, SourceFunction):
        if function.node.args.vararg is not None or function.node.args.kwarg is not None:
            evaluator.fail("F508", function.node, "the model's function cannot take * or **", "name every argument")
        for parameter, value in function.defaults.items():
            found.setdefault(parameter, value)
    return found
