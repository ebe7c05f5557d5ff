"""Reads a foreign top module with slang: elaborates it, lists its ports, and finds what it is made of."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from math import prod
from pathlib import Path

from fleet.adopt.data_files import find_data
from fleet.adopt.filelist import Sources
from fleet.adopt.ports import Direction, Missing, PortLeaf, ReadmemFile, Top, TopParameter, TopPort, interface_values
from fleet.core.scratch import Scratch
from fleet.errors import DeviceError, SetupError

try:
    import pyslang
    from pyslang import SourceManager, ast
    from pyslang.driver import Driver

    from fleet.adopt.polarity import polarities, uses_by_edge
except ImportError as error:
    raise SetupError(f"reading SystemVerilog needs pyslang ({error})", hint="pip install 'fleet-cosim[adopt]'") from error

_OPTIONS = (
    "--single-unit", "--compat", "all", "--ignore-unknown-modules", "--allow-toplevel-iface-ports", "--error-limit", "0",
    "--timescale", "1ns/1ps",
)  # fmt: skip
"""As simulators read a list: macros of a file hold in those behind it; what they let pass passes."""

_VERILOG = "1364-2005"
"""The last standard of Verilog by itself; SystemVerilog took words from the names of its designs (`do`, `bit`, `byte`, `final`)."""

_DIRECTIONS: Mapping[ast.ArgumentDirection, Direction] = {
    ast.ArgumentDirection.In: "in",
    ast.ArgumentDirection.Out: "out",
}
_VERILOG_SUFFIXES = (".v",)
_HINTS = (
    ("No such file or directory", "--include FOLDER, or +incdir+FOLDER in a file list, says where included files are"),
    ("unknown macro", "--define NAME=VALUE, +define+NAME=VALUE in a file list, or the file that defines it before the others"),
    ("unknown package", "name its file before those that use it"),
    (
        "not a valid top-level module",
        "a parameter without a default needs --parameter NAME=VALUE; packages and interfaces are no tops",
    ),
)
"""(part of a message of slang, what to do)."""
_WRAPPER = "fleet_adopt_wrapper"
_PACKAGE = re.compile(r"\b([A-Za-z_]\w*)\s*::")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_SHOWN = 5


def read_top(sources: Sources, top: str = "", parameters: Mapping[str, str] | None = None) -> Top:
    """Elaborate a design and read its top module.

    top: name of the module; "": the one that the lists name, else the only one that no other instantiates.
    parameters: name -> value or type, as SystemVerilog text.
    Raises DeviceError if the text is not SystemVerilog, the top does not exist, or the top lacks one of the parameters.
    """
    wanted, given = top or sources.top, parameters or {}
    with Scratch("adopt") as folder:
        run = _Run(sources, wanted, given)
        keywords = ""
        if run.fails and any(p.suffix in _VERILOG_SUFFIXES for p in sources.files):
            older = _Run(sources, wanted, given, keywords=_VERILOG)
            run, keywords = (run, "") if older.fails else (older, _VERILOG)
        if not any("." in name for name in given):  # with a default of an interface the design may be wrong
            run.check(wanted)
        found = run.top(run.instance(wanted))
        wrapper: Path | None = None
        if _needs_wrapper(found):
            wrapper = folder / f"{_WRAPPER}.sv"
            wrapper.write_text(_wrapper(found, given), encoding="utf-8")
            run = _Run(sources, found.name, given, wrapper, keywords)
            run.check(found.name)
            found = run.top(run.instance(found.name))
        again = _Run(replace(sources, files=found.files), found.name, given, wrapper, keywords)
        if found.pruned and not again.elaborates(found):
            # A file that is left out had a macro or a declaration that another one needs.
            return replace(found, files=sources.files, pruned=())
    return found


@dataclass(frozen=True)
class InsideVariable:
    """A variable or net below the top. bits: of an element; first, elements: of its unpacked dimension; elements 0: it has none."""

    bits: int
    first: int = 0
    elements: int = 0


def read_inside(
    sources: Sources, top: Top, parameters: Mapping[str, str], paths: Iterable[str]
) -> Mapping[str, InsideVariable | str]:
    """Path below the top -> what is there; a text says why a bench cannot read it."""
    with _run_of(sources, top, parameters) as run:
        return {path: run.inside(path) for path in paths}


@contextmanager
def elaborated(sources: Sources, top: Top, parameters: Mapping[str, str]) -> Generator[tuple[SourceManager, ast.InstanceSymbol]]:
    """The top as slang elaborates it, and the manager of its texts; both hold within the context alone."""
    with _run_of(sources, top, parameters) as run:
        yield run.manager, run.instance(top.name)


@contextmanager
def _run_of(sources: Sources, top: Top, parameters: Mapping[str, str]) -> Generator[_Run]:
    with Scratch("adopt") as folder:
        wrapper: Path | None = None
        if _needs_wrapper(top):
            wrapper = folder / f"{_WRAPPER}.sv"
            wrapper.write_text(_wrapper(top, parameters), encoding="utf-8")
        run = _Run(sources, top.name, parameters, wrapper, top.keywords)
        run.check(top.name)
        yield run


def _of_parameters(place: str) -> bool:
    """Return whether a message is about text that was made of the given parameters."""
    return place.startswith("<unnamed_buffer") or f"/{_WRAPPER}.sv:" in place.partition(" ")[0]


def _needs_wrapper(top: Top) -> bool:
    """Return whether a parameter is given that slang's command line does not set: a type, or one of an interface port."""
    return any(p.given and (p.is_type or "." in p.name) for p in top.parameters)


def _wrapper(top: Top, parameters: Mapping[str, str]) -> str:
    """A module that gives the top its parameters; its interface ports get interfaces."""
    lines = [
        f"  {p.interface}{interface_values(parameters, p.name)} {p.name}{''.join(f' [0:{n - 1}]' for n in p.array)} ();"
        for p in top.ports if p.interface
    ]  # fmt: skip
    ports = ", ".join(f".{p.name}({p.name})" for p in top.ports if p.interface)
    values = ", ".join(f".{name}({value})" for name, value in parameters.items() if "." not in name)
    return "\n".join([f"module {_WRAPPER};", *lines, f"  {top.name} #({values}) dut ({ports});", "endmodule", ""])


@dataclass
class _Walk:
    """The modules that instances need: those that were found, and those that are missing."""

    definitions: dict[str, ast.DefinitionSymbol] = field(default_factory=dict[str, ast.DefinitionSymbol])
    missing: dict[str, Missing] = field(default_factory=dict[str, Missing])
    seen: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    data: dict[str, ReadmemFile] = field(default_factory=dict[str, ReadmemFile])


class _Run:
    """An elaboration of the sources."""

    def __init__(
        self, sources: Sources, top: str, parameters: Mapping[str, str], wrapper: Path | None = None, keywords: str = ""
    ) -> None:
        self._sources, self._parameters, self._wrapper, self._keywords = sources, parameters, wrapper, keywords
        words = ["slang", *_OPTIONS, *(f"-I{p}" for p in sources.include_dirs)]
        if keywords:
            files = [str(p) for p in (*sources.files, *sources.library_files) if p.suffix in _VERILOG_SUFFIXES]
            files += [f"{folder}/*{suffix}" for folder in sources.library_dirs for suffix in _VERILOG_SUFFIXES]
            words += ["--map-keyword-version", f"{keywords}+{','.join(files)}"]
        words += [f"-D{name}={value}" if value else f"-D{name}" for name, value in sources.defines]
        for folder in sources.library_dirs:
            words += ["-y", str(folder)]
        for suffix in sources.library_suffixes if sources.library_dirs else ():
            words += ["-Y", suffix]
        for file in sources.library_files:
            words += ["-v", str(file)]
        if wrapper is None:
            words += [f"-G{name}={value}" for name, value in parameters.items() if "." not in name]
            words += ["--top", top] if top else []
        else:
            words += ["--top", _WRAPPER]
        words += [str(p) for p in (*sources.files, *([wrapper] if wrapper else []))]
        self._driver = Driver()
        self._driver.addStandardArgs()
        line = " ".join(_quoted(w) for w in words)
        if not (self._driver.parseCommandLine(line) and self._driver.processOptions() and self._driver.parseAllSources()):
            raise DeviceError("slang cannot read the sources", where=str(sources.files[0]))
        self.manager = self._driver.sourceManager
        self._compilation = self._driver.createCompilation()
        self._reads = False

    # What is wrong.

    def _diagnostics(self) -> Iterator[tuple[bool, str]]:
        for d in self._compilation.getAllDiagnostics():
            yield d.isError(), f"{self._place(d.location)}: {self._driver.diagEngine.formatMessage(d)}"

    @property
    def fails(self) -> bool:
        """Return whether slang reports errors."""
        return any(is_error for is_error, _ in self._diagnostics())

    def check(self, top: str) -> None:
        """Raises DeviceError for the first errors of slang."""
        if top and top not in {d.name for d in self._compilation.getDefinitions()}:
            raise self._no_top(f"there is no module {top}")
        errors = list(dict.fromkeys(text for is_error, text in self._diagnostics() if is_error))
        errors.sort(key=lambda text: not _of_parameters(text))  # stable; what they break comes behind them
        if errors:
            more = f"; {len(errors) - 1} more" if len(errors) > 1 else ""
            place, _, what = errors[0].partition(": ")
            hint = next((text for sign, text in _HINTS if sign in what), None)
            if _of_parameters(place):
                given = ", ".join(f"{name}={value}" for name, value in self._parameters.items())
                place, hint = "--parameter", f"given are {given}; a type of a package is pkg::name"
            raise DeviceError(f"{what}{more}", where=place, detail="\n".join(errors[1:_SHOWN]) or None, hint=hint)

    def _no_top(self, what: str) -> DeviceError:
        known = sorted(i.name for i in self._compilation.getRoot().topInstances)
        known = known or sorted(d.name for d in self._compilation.getDefinitions() if isinstance(d, ast.DefinitionSymbol))
        more = ", ..." if len(known) > _SHOWN else ""
        return DeviceError(
            what, where=str(self._sources.lists[0] if self._sources.lists else self._sources.files[0]),
            hint=f"name one with --top: {', '.join(known[:_SHOWN])}{more}" if known else "check the file list",
        )  # fmt: skip

    def instance(self, top: str) -> ast.InstanceSymbol:
        """The top's instance."""
        roots = [i for i in self._compilation.getRoot().topInstances if i.isModule]
        if len(roots) != 1:
            alone = (
                f"{top} cannot be elaborated"
                if top
                else "no module is a top as it is; one without defaults needs --parameter NAME=VALUE"
            )
            raise self._no_top("which module is the top is not clear" if roots else alone)
        if self._wrapper is None:
            return roots[0]
        return next(m for m in roots[0].body if isinstance(m, ast.InstanceSymbol) and m.name == "dut")

    # What is there.

    def top(self, instance: ast.InstanceSymbol) -> Top:
        """Return a top module with its ports and parameters."""
        body = instance.body
        walk = _Walk()
        self._reads = any(map(self._may_read, self.manager.getAllBuffers()))
        self._visit(instance, walk)
        ports = tuple(self._ports(body, walk))
        self._check_interfaces(body, ports)
        unknown = {name for name in self._parameters if "." not in name} - {p.name for p in body.parameters}
        if unknown:
            known = ", ".join(p.name for p in body.parameters if p.isPortParam) or "none"
            raise DeviceError(
                f"{body.definition.name} has no parameter {sorted(unknown)[0]}", where=self._place(body.definition.location),
                hint=f"its parameters: {known}",
            )  # fmt: skip
        files, included = self._closure(walk)
        return Top(
            name=body.definition.name,
            where=self._place(body.definition.location),
            parameters=(*_parameters(body, self._parameters), *(q for p in ports for q in p.interface_parameters if q.given)),
            ports=ports,
            modules=tuple(sorted(walk.definitions)),
            files=files,
            pruned=tuple(p for p in self._sources.files if p not in files),
            included=included,
            missing=tuple(walk.missing[name] for name in sorted(walk.missing)),
            warnings=tuple(dict.fromkeys(text for is_error, text in self._diagnostics() if not is_error)),
            tool=f"slang {version('pyslang')}",
            keywords=self._keywords,
            data=tuple(walk.data[name] for name in sorted(walk.data)),
            polarities=tuple(polarities(instance, self._place)),
            edges=tuple(uses_by_edge(instance, self._place)),
        )

    def _may_read(self, buffer: pyslang.BufferID) -> bool:
        try:
            return "$readmem" in self.manager.getSourceText(buffer)
        except UnicodeDecodeError:  # a comment in GBK or Latin-1
            return True

    def _check_interfaces(self, body: ast.InstanceBodySymbol, ports: Iterable[TopPort]) -> None:
        """Raises DeviceError for a parameter `port.name` that no interface port has."""
        known = {p.name: p for p in ports if p.interface}
        for name in self._parameters:
            port, dot, parameter = name.partition(".")
            if not dot:
                continue
            where = self._place(body.definition.location)
            if port not in known:
                raise DeviceError(
                    f"{body.definition.name} has no interface port {port}, so no parameter {name}", where=where,
                    hint=f"its interface ports: {', '.join(known) or 'none'}",
                )  # fmt: skip
            of = [p.name.partition(".")[2] for p in known[port].interface_parameters]
            if parameter not in of:
                raise DeviceError(
                    f"{known[port].interface}, the interface of {port}, has no parameter {parameter}", where=where,
                    hint=f"its parameters: {', '.join(of) or 'none'}",
                )  # fmt: skip

    def inside(self, path: str) -> InsideVariable | str:
        """Return the variable at a path below the top, or a text that says why there is none."""
        roots = [i for i in self._compilation.getRoot().topInstances if i.isModule]
        above = roots[0].name if self._wrapper is None else f"{_WRAPPER}.dut"
        found = self._compilation.getRoot().lookupName(f"{above}.{path}")
        if not isinstance(found, ast.ValueSymbol):
            scope = path.rpartition(".")[0]
            where = self._compilation.getRoot().lookupName(f"{above}.{scope}") if scope else roots[0]
            return f"the design has no variable {path}" + ("" if where is not None else f" and no {scope}")
        kind = found.type.canonicalType
        for _ in range(len(re.findall(r"\[", path.rpartition(".")[2]))):
            if not isinstance(kind, ast.FixedSizeUnpackedArrayType):
                return f"{path} selects from what is not an array"
            kind = kind.elementType.canonicalType
        if kind.isIntegral:
            return InsideVariable(kind.bitWidth)
        bounds, element = _unpacked(kind)
        if len(bounds) != 1 or not element.canonicalType.isIntegral:
            return f"{path} is {found.type}: name one array of vectors, with an index of each outer dimension"
        first = kind.fixedRange
        return InsideVariable(element.bitWidth, min(first.left, first.right), bounds[0])

    def elaborates(self, expected: Top) -> bool:
        """Return True if this run, with fewer files, finds the same top."""
        if self.fails:
            return False
        instance = self.instance(expected.name)
        walk = _Walk()
        self._visit(instance, walk)
        ports = tuple(self._ports(instance.body, walk))
        return (
            tuple(sorted(walk.definitions)) == expected.modules
            and ports == expected.ports
            and (sorted(walk.missing) == [m.name for m in expected.missing])
        )

    def _ports(self, body: ast.InstanceBodySymbol, walk: _Walk) -> Iterator[TopPort]:
        for port in body.portList:
            where = self._place(port.location)
            if isinstance(port, ast.InterfacePortSymbol):
                yield self._interface(port, where, walk)
            elif isinstance(port, ast.PortSymbol):
                direction = _DIRECTIONS.get(port.direction, "inout")
                array, element = _unpacked(port.type)
                leaves = tuple(_leaves(PortLeaf(port.name, (), direction, 0), port.type))
                packed = element.canonicalType.isIntegral
                yield TopPort(port.name, direction, str(element), leaves, array=array, where=where, packed=packed)
            elif isinstance(port, ast.MultiPortSymbol):
                direction = _DIRECTIONS.get(port.direction, "inout")
                yield TopPort(
                    port.name, direction, str(port.type), (PortLeaf(port.name, (), direction, port.type.bitWidth),), where=where
                )

    def _interface(self, port: ast.InterfacePortSymbol, where: str, walk: _Walk) -> TopPort:
        symbol: ast.Symbol | None
        modport: ast.ModportSymbol | None  # the stubs of pyslang leave None out
        symbol, modport = port.connection
        array = tuple(_size(r) for r in port.declaredRange or ())
        while isinstance(symbol, ast.InstanceArraySymbol):
            symbol = next(iter(symbol.elements), None)
        name = "" if port.isInvalid or port.isGeneric else port.interfaceDef.name
        leaves: list[PortLeaf] = []
        inputs: tuple[str, ...] = ()
        parameters: tuple[TopParameter, ...] = ()
        if isinstance(symbol, ast.InstanceSymbol):
            ports = (p for p in symbol.body.portList if isinstance(p, ast.PortSymbol))
            inputs = tuple(p.name for p in ports if p.direction == ast.ArgumentDirection.In)
            given = {name.partition(".")[2] for name in self._parameters if name.startswith(f"{port.name}.")}
            known = _parameters(symbol.body, dict.fromkeys(given, ""))
            parameters = tuple(replace(p, name=f"{port.name}.{p.name}") for p in known)
            self._visit(symbol, walk)
            members = symbol.body if not port.modport else modport
            for member in members:
                if isinstance(member, ast.ModportPortSymbol):
                    direction = _DIRECTIONS.get(member.direction, "inout")
                    leaves += _leaves(PortLeaf(port.name, (member.name,), direction, 0, prod(array), member=1), member.type)
                elif isinstance(member, ast.NetSymbol | ast.VariableSymbol) and members is symbol.body:
                    leaves += _leaves(PortLeaf(port.name, (member.name,), "inout", 0, prod(array), member=1), member.type)
        chosen = port.modport or ""
        text = f"{name}.{chosen}" if chosen else name or "interface"
        return TopPort(
            port.name,
            "inout",
            text,
            tuple(leaves),
            name,
            chosen,
            array,
            where,
            interface_inputs=inputs,
            interface_parameters=parameters,
        )

    def _visit(self, instance: ast.InstanceSymbol, walk: _Walk) -> None:
        """An instance and all below it; of instances with the same parameters one is looked into."""
        body = instance.body
        name = body.definition.name
        key = (name, ";".join(f"{p.name}={_value(p)}" for p in body.parameters))
        if key in walk.seen:
            return
        walk.seen.add(key)
        walk.definitions[name] = body.definition
        self._scope(body, walk)

    def _scope(self, scope: Iterable[ast.Symbol], walk: _Walk) -> None:
        for member in scope:
            if isinstance(member, ast.InstanceSymbol):
                self._visit(member, walk)
            elif isinstance(member, ast.UninstantiatedDefSymbol):
                if not member.isChecker:
                    self._note_missing(member, walk)
            elif isinstance(member, ast.InstanceArraySymbol):
                self._scope(member.elements, walk)
            elif isinstance(member, ast.GenerateBlockSymbol):
                if not member.isUninstantiated:
                    self._scope(member, walk)
            elif isinstance(member, ast.GenerateBlockArraySymbol):
                self._scope(member.entries, walk)
            elif self._reads and isinstance(member, ast.ProceduralBlockSymbol | ast.SubroutineSymbol):
                self._data(member, walk)

    def _data(self, block: ast.ProceduralBlockSymbol | ast.SubroutineSymbol, walk: _Walk) -> None:
        """Note the files that a block reads, where their names are constant."""

        def visit(node: object) -> None:
            if isinstance(node, ast.CallExpression) and node.subroutineName in ("$readmemh", "$readmemb") and node.arguments:
                value = node.arguments[0].eval(ast.EvalContext(block))
                name = str(value.convertToStr().value) if value else ""
                if name:
                    where = self._place(node.sourceRange.start)
                    path = find_data(name, self._file(node.sourceRange.start), self._sources)
                    walk.data.setdefault(name, ReadmemFile(name, where, path))

        block.visit(visit)

    def _note_missing(self, symbol: ast.UninstantiatedDefSymbol, walk: _Walk) -> None:
        known = walk.missing.get(symbol.definitionName)
        ports = dict.fromkeys((*(known.ports if known else ()), *filter(None, symbol.portNames)))
        first = known or Missing(symbol.definitionName, self._place(symbol.location), symbol.hierarchicalPath, (), 0)
        walk.missing[symbol.definitionName] = replace(first, ports=tuple(ports), count=first.count + 1)

    # Which files it takes.

    def _closure(self, walk: _Walk) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """(files, files that they include) of the definitions that were met, with the packages that these name."""
        defines: dict[str, Path] = {}  # package -> file
        elements: set[Path] = set()  # files that define something which can be left out
        for package in self._compilation.getPackages():
            if package.location.buffer.id:
                defines[package.name] = self._file(package.location)
        for definition in self._compilation.getDefinitions():
            if isinstance(definition, ast.DefinitionSymbol):
                elements.add(self._file(definition.location))
        elements |= set(defines.values())
        includes = self._includes()
        needed = {self._file(d.location) for d in walk.definitions.values()}
        needed |= {p for p in self._sources.files if p not in elements}  # macros and declarations of the compilation unit
        todo, reached = list(needed), set(needed)
        while todo:
            path = todo.pop()
            found = set(includes.get(path, ()))
            found |= {defines[n] for n in _PACKAGE.findall(_COMMENT.sub(" ", _text(path))) if n in defines}
            todo += found - reached
            reached |= found
        library = [p for p in sorted(reached) if p not in self._sources.files and p in elements]
        files = (*(p for p in self._sources.files if p in reached), *library)
        return files, tuple(sorted(reached - set(files)))

    def _includes(self) -> Mapping[Path, set[Path]]:
        """File -> files that it includes itself."""
        found: dict[Path, set[Path]] = {}
        for buffer in self.manager.getAllBuffers():
            above = self.manager.getIncludedFrom(buffer)
            if above.buffer.id:
                full = self.manager.getFullPath(buffer)
                found.setdefault(self._file(above), set()).add(Path(full).absolute())
        return found

    def _file(self, location: pyslang.SourceLocation) -> Path:
        return Path(self.manager.getFullPath(self.manager.getFullyExpandedLoc(location).buffer)).absolute()

    def _place(self, location: pyslang.SourceLocation) -> str:
        at = self.manager.getFullyExpandedLoc(location)
        if not at.buffer.id or not self.manager.isFileLoc(at):
            return str(self._sources.files[0])
        return f"{self.manager.getFullPath(at.buffer)}:{self.manager.getLineNumber(at)}"


def _leaves(leaf: PortLeaf, type_: ast.Type) -> Iterator[PortLeaf]:
    """The signals of a type that are no structure. leaf: where the type stands; its width and dimensions do not count."""
    kind = type_.canonicalType
    if isinstance(kind, ast.PackedStructType | ast.UnpackedStructType):
        place = leaf.offset + (kind.bitWidth if kind.isIntegral else 0)
        for member in kind:
            if isinstance(member, ast.FieldSymbol):
                place -= member.type.bitWidth if kind.isIntegral else 0
                yield from _leaves(replace(leaf, fields=(*leaf.fields, member.name), offset=place), member.type)
    elif isinstance(kind, ast.FixedSizeUnpackedArrayType):
        yield from _leaves(replace(leaf, count=leaf.count * _size(kind.range)), kind.elementType)
    elif isinstance(kind, ast.PackedArrayType) and _is_structure(kind.elementType):
        size = _size(kind.range)
        strides = (*leaf.strides, (size, kind.elementType.bitWidth))
        yield from _leaves(replace(leaf, count=leaf.count * size, strides=strides), kind.elementType)
    else:
        yield replace(leaf, width=kind.bitWidth if kind.isIntegral else 0, dimensions=tuple(_packed(kind)))


def _is_structure(type_: ast.Type) -> bool:
    kind = type_.canonicalType
    while isinstance(kind, ast.PackedArrayType):
        kind = kind.elementType.canonicalType
    return isinstance(kind, ast.PackedStructType)


def _packed(kind: ast.Type) -> Iterator[int]:
    while isinstance(kind, ast.PackedArrayType):
        yield _size(kind.range)
        kind = kind.elementType.canonicalType
    if not isinstance(kind, ast.ScalarType) and kind.isIntegral:
        yield kind.bitWidth


def _unpacked(type_: ast.Type) -> tuple[tuple[int, ...], ast.Type]:
    """(unpacked dimensions, type of an element)."""
    sizes: list[int] = []
    kind = type_.canonicalType
    while isinstance(kind, ast.FixedSizeUnpackedArrayType):
        sizes.append(_size(kind.range))
        type_ = kind.elementType
        kind = type_.canonicalType
    return tuple(sizes), type_


def _size(bounds: pyslang.ConstantRange) -> int:
    return abs(bounds.left - bounds.right) + 1


def _parameters(body: ast.InstanceBodySymbol, given: Mapping[str, str]) -> Iterator[TopParameter]:
    for p in body.parameters:
        if not p.isLocalParam:
            yield TopParameter(p.name, _value(p), isinstance(p, ast.TypeParameterSymbol), p.name in given)


def _value(p: ast.ParameterSymbolBase) -> str:
    if isinstance(p, ast.TypeParameterSymbol):
        return str(p.targetType.type)
    return str(p.value) if isinstance(p, ast.ParameterSymbol) else ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
