"""The house rules of docs/architecture.md as functions over source text.

Each rule takes parsed modules and yields Violations; ``tests/test_architecture.py`` runs them over
geomongo/, and over small strings that break each rule on purpose.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = "geomongo"

# What stands where: a layer's number, and the modules or packages in it.  A module that is not here fails.
L0, L1, NET, L2, L3, L4 = 0, 10, 15, 20, 30, 40
VALUES = """_bson _events _local _names _version checks collation constants driver_info error_rules errors
    event_loggers index_keys monitoring operations read_concern read_preferences results server_api
    server_type typings write_concern"""
PUBLIC = (  # from the bottom to the top; modules in one row may import each other, but not in a circle
    "uri_parser server_description topology_description _handles",
    "client_session",
    "_cursor_base", "_find",
    "cursor command_cursor change_stream",
    "_aggregate _management _writes",
    "collection",
    "database",
    "mongo_client",
    "encryption gridfs",
    "",  # geomongo/__init__.py itself
)
LAYERS: dict[str, int] = {
    **dict.fromkeys(VALUES.split(), L0),
    **dict.fromkeys(("_wire", "_options", "_sdam", "_auth"), L1),
    "_net": NET,
    **dict.fromkeys(("_commands", "_deployment"), L2),
    "_execution": L3,
    **{name: L4 + row for row, names in enumerate(PUBLIC) for name in names.split() or [""]},
}
PURE_EXECUTION = {f"{PACKAGE}._execution.{name}" for name in ("retry", "csot", "transaction")}

# Rule 3: these live in one room.
NET_ONLY = set("gevent greenlet socket ssl dns threading _thread select selectors asyncio concurrent".split())
# Rule 2: and where all is pure, these come in as arguments.
CLOCKS_AND_CHANCE = {"time", "random", "secrets"}
CHANCE_CALLS = {"urandom", "getrandom", "uuid1", "uuid4"}
NOW_CALLS = {"now", "utcnow", "today"}
# Public for all that their names begin with an underscore: of named tuples, and the type variables of bson.
PUBLIC_UNDERSCORES = {"_replace", "_asdict", "_fields", "_make", "_field_defaults"}
PUBLIC_UNDERSCORES |= {"_DocumentType", "_DocumentOut", "_DocumentTypeArg", "_ReadableBuffer"}


@dataclass(frozen=True)
class Violation:
    """One broken rule; its text says where, what, and what to do instead."""

    rule: int
    module: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"rule {self.rule}: {self.module}, line {self.line}: {self.text}"


@dataclass(frozen=True)
class Import:
    """One imported module, and how it is imported."""

    target: str
    name: str | None
    line: int
    in_function: bool
    for_types_only: bool


@dataclass
class Module:
    """One parsed source file."""

    name: str
    tree: ast.Module
    is_package: bool = False
    imports: list[Import] = field(default_factory=list)

    @property
    def part(self) -> str:
        """The name in the table of layers: the module or package right below geomongo."""
        return (self.name.split(".") + [""])[1]

    @property
    def pure(self) -> bool:
        layer = LAYERS.get(self.part, L4)
        return layer < NET or self.part == "_commands" or self.name in PURE_EXECUTION


def parse(sources: dict[str, str], packages: Iterable[str] = ()) -> list[Module]:
    """Modules from their names and texts."""
    packages = set(packages) | {PACKAGE}
    modules = [Module(name, ast.parse(text), name in packages) for name, text in sources.items()]
    known = set(sources) | packages
    for module in modules:
        module.imports = list(_imports(module, known))
    return modules


def parse_tree(root: Path) -> list[Module]:
    """Every module below a package's folder."""
    sources: dict[str, str] = {}
    packages = []
    for path in sorted(root.rglob("*.py")):
        parts = [PACKAGE, *path.relative_to(root).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
            packages.append(".".join(parts))
        sources[".".join(parts)] = path.read_text(encoding="utf-8")
    return parse(sources, packages)


def check(modules: list[Module]) -> list[Violation]:
    """All rules over all modules; what one line breaks several times is said once."""
    found: list[Violation] = []
    for module in modules:
        for rule in (unknown_module, direction, nested, pure, one_room, private, no_pymongo):
            found.extend(rule(module))
    found.extend(cycles(modules))
    return list(dict.fromkeys(found))


def unknown_module(module: Module) -> Iterator[Violation]:
    if module.part not in LAYERS:
        text = f"{module.part} is in no layer: add it to LAYERS here and to docs/architecture.rst"
        yield Violation(1, module.name, 1, text)


def direction(module: Module) -> Iterator[Violation]:
    """Rule 1: imports point down, and packages of one layer do not know each other."""
    own = LAYERS.get(module.part, L4)
    for item in _own_imports(module):
        part = (item.target.split(".") + [""])[1]
        other = LAYERS.get(part, L4)
        if part == module.part or (item.for_types_only and own >= L4 and other >= L4):
            continue
        if other > own:
            yield Violation(1, module.name, item.line, f"imports {item.target}, which is above it")
        elif other == own and L0 < own < L4:
            yield Violation(1, module.name, item.line, f"imports {item.target}, a package of the same layer")


def nested(module: Module) -> Iterator[Violation]:
    """Rule 1: imports stand at the top, also those in disguise; only the package's own names load lazily."""
    for item in module.imports:
        if item.in_function:
            yield Violation(1, module.name, item.line, f"imports {item.target} inside a function")
    for node in ast.walk(module.tree) if module.name != PACKAGE else ():
        if isinstance(node, ast.Call) and _last_name(node.func) in ("import_module", "__import__"):
            yield Violation(1, module.name, node.lineno, "imports a module by a call, not a statement")


def pure(module: Module) -> Iterator[Violation]:
    """Rule 2: no clock and no chance where bytes and values go in and bytes and values come out."""
    if not module.pure:
        return
    for item in module.imports:
        if item.target.split(".")[0] in CLOCKS_AND_CHANCE or item.name in CHANCE_CALLS:
            text = f"pure code imports {item.name or item.target}; take the time or the nonce as an argument"
            yield Violation(2, module.name, item.line, text)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _reads_clock_or_chance(node):
            text = f"pure code calls {ast.unparse(node.func)}(); take its value as an argument"
            yield Violation(2, module.name, node.lineno, text)


def one_room(module: Module) -> Iterator[Violation]:
    """Rule 3: gevent, sockets, TLS, threads and DNS live in _net, and nobody monkey-patches."""
    for item in module.imports:
        if item.target.split(".")[0] in NET_ONLY and module.part != "_net":
            text = f"imports {item.target}; only {PACKAGE}._net may"
            yield Violation(2 if module.pure else 3, module.name, item.line, text)
        if item.target.startswith("gevent") and (item.name or "").startswith("patch_"):
            yield Violation(3, module.name, item.line, f"imports {item.name}: geomongo never monkey-patches")
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("patch_"):
            if "monkey" in ast.unparse(node.value):
                text = f"{ast.unparse(node)}: geomongo never monkey-patches"
                yield Violation(3, module.name, node.lineno, text)


def private(module: Module) -> Iterator[Violation]:
    """Rule 4: what begins with an underscore stays in its module."""
    mine = _defined_here(module.tree)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and node.attr not in mine:
            owner = ast.unparse(node.value)
            if owner not in ("self", "cls", "super()") and not _is_codec(module, owner):
                text = f"{owner}.{node.attr}"
                yield Violation(4, module.name, node.lineno, f"reaches into another module: {text}")
    for item in module.imports:
        if item.name is not None and _is_private(item.name):
            yield Violation(4, module.name, item.line, f"imports the private {item.target}.{item.name}")
        elif item.target.startswith("bson._") and module.part != "_bson":
            yield Violation(4, module.name, item.line, f"imports {item.target}; only {PACKAGE}._bson may")


def no_pymongo(module: Module) -> Iterator[Violation]:
    """Rule 7: of the pymongo distribution, the ``bson`` package is used and nothing else."""
    for item in module.imports:
        if item.target.split(".")[0] in ("pymongo", "gridfs"):
            yield Violation(7, module.name, item.line, f"imports {item.target}; only bson may be used")


def cycles(modules: list[Module]) -> Iterator[Violation]:
    """Rule 1: no circle of imports, found by walking each module's imports depth first."""
    graph = {
        module.name: [item.target for item in _own_imports(module) if not item.for_types_only]
        for module in modules
    }
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> Iterator[Violation]:
        if name in path:
            circle = " -> ".join(path[path.index(name) :] + [name])
            yield Violation(1, name, 1, f"is in a circle of imports: {circle}")
        elif name not in done:
            for target in graph.get(name, ()):
                yield from walk(target, [*path, name])
            done.add(name)

    for name in graph:
        yield from walk(name, [])


def _own_imports(module: Module) -> Iterator[Import]:
    for item in module.imports:
        if item.target.split(".")[0] == PACKAGE and item.target != module.name:
            yield item


def _imports(module: Module, known: set[str]) -> Iterator[Import]:
    """Import statements, with relative ones made absolute and submodules told from names."""
    for node, in_function, types in _statements(module.tree, False, False):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno, in_function, types)
            continue
        base = _absolute(module, node)
        for alias in node.names:
            full = f"{base}.{alias.name}"
            if full in known or (base == "bson" and alias.name.startswith("_")):
                yield Import(full, None, node.lineno, in_function, types)
            else:
                yield Import(base, alias.name, node.lineno, in_function, types)


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.name.split(".")
    keep = len(parts) - node.level + (1 if module.is_package else 0)
    return ".".join(parts[:keep] + ([node.module] if node.module else []))


def _statements(
    node: ast.AST, in_function: bool, types: bool
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    """Import statements below a node, with whether they stand in a function or are for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, in_function, types
        elif isinstance(child, ast.If) and _last_name(child.test) == "TYPE_CHECKING":
            yield from _statements(ast.Module(child.body, []), in_function, True)
            yield from _statements(ast.Module(child.orelse, []), in_function, types)
        else:
            function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from _statements(child, in_function or function, types)


def _reads_clock_or_chance(call: ast.Call) -> bool:
    name = _last_name(call.func)
    if name in CHANCE_CALLS:
        return True
    if name in NOW_CALLS and isinstance(call.func, ast.Attribute):
        return "date" in ast.unparse(call.func.value)
    return name == "ObjectId" and not call.args and not call.keywords


def _defined_here(tree: ast.Module) -> set[str]:
    """Private names that this module itself defines: functions, classes, own attributes, slots."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if ast.unparse(node.value) in ("self", "cls"):
                names.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Assign) and any(_last_name(to) == "__slots__" for to in node.targets):
            constants = (leaf for leaf in ast.walk(node.value) if isinstance(leaf, ast.Constant))
            names.update(str(leaf.value) for leaf in constants)
    return names


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in PUBLIC_UNDERSCORES


def _is_codec(module: Module, owner: str) -> bool:
    return module.part == "_bson" and owner.split(".")[-1].lstrip("_") in ("bson", "cbson")


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
