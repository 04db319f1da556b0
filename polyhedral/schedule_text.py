"""Schedule trees as isl writes them: an indented text whose values are sets and maps in isl's notation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias, assert_never

from polyhedral.affine import FloorDiv
from polyhedral.isl_lexer import NotationError
from polyhedral.isl_parser import parse, parse_map, parse_members, parse_set
from polyhedral.isl_text import affine_text, system_text
from polyhedral.quotients import function_of
from polyhedral.schedule_tree import (
    Band,
    Context,
    Domain,
    Expansion,
    Extension,
    Filter,
    Leaf,
    Mark,
    OptionRange,
    ScheduleNode,
    Sequence,
    Unordered,
)
from polyhedral.sets import Set
from polyhedral.spaces import Space, UnionMap, UnionSet
from polyhedral.statement import Option

_Value: TypeAlias = "str | list[_Value] | dict[str, _Value]"
_Line: TypeAlias = tuple[int, str]


def parse_schedule(text: str) -> Domain:
    """The schedule tree that `text` says in isl's notation; its root must be a domain. Raises NotationError."""
    lines = _lines(text)
    if not lines:
        raise NotationError("the text of a schedule tree is empty")
    value, rest = _block(lines)
    if rest or not isinstance(value, dict):
        raise NotationError(f"the schedule tree does not go on with {rest[0][1] if rest else value!r}")
    node = _node(value)
    if not isinstance(node, Domain):
        raise NotationError(f"the root of a schedule tree is a domain, not a {type(node).__name__}")
    return node


def _lines(text: str) -> list[_Line]:
    joined = re.sub(r"\\\n\s*", " ", text)
    kept = [line for line in joined.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    found: list[_Line] = []
    for line in kept:
        if found and found[-1][1].count('"') % 2:
            found[-1] = (found[-1][0], found[-1][1] + " " + line.strip())
        else:
            found.append((len(line) - len(line.lstrip()), line.strip()))
    return found


def _block(lines: list[_Line]) -> tuple[_Value, list[_Line]]:
    indent = lines[0][0]
    if lines[0][1].startswith("- "):
        items: list[_Value] = []
        while lines and lines[0][0] == indent and lines[0][1].startswith("- "):
            inner = (indent + 2, lines[0][1][2:].strip())
            value, lines = _block([inner, *lines[1:]])
            items.append(value)
        return items, lines
    found: dict[str, _Value] = {}
    while lines and lines[0][0] == indent and not lines[0][1].startswith("- "):
        key, _, rest = lines[0][1].partition(":")
        lines = lines[1:]
        if rest.strip():
            found[key.strip()] = rest.strip().strip('"')
        elif lines and (lines[0][0] > indent or lines[0][1].startswith("- ")):
            found[key.strip()], lines = _block(lines)
        else:
            raise NotationError(f"nothing follows {key!r} in the schedule tree")
    return found, lines


def _node(value: Mapping[str, _Value]) -> ScheduleNode:
    child = _child(value)
    match next(iter(value)):
        case "domain":
            return Domain(parse_set(_string(value, "domain")), child)
        case "context":
            return Context(_one_set(_string(value, "context")), child)
        case "filter":
            return Filter(parse_set(_string(value, "filter")), child)
        case "mark":
            return Mark(_string(value, "mark"), child)
        case "extension":
            return Extension(parse_map(_string(value, "extension")), child)
        case "contraction" | "expansion":
            return Expansion(parse_map(_string(value, "expansion")), child)
        case "sequence":
            return Sequence(_filters(value["sequence"]))
        case "set":
            return Unordered(_filters(value["set"]))
        case _:
            return _band(value, child)


def _child(value: Mapping[str, _Value]) -> ScheduleNode:
    child = value.get("child")
    if isinstance(child, dict):
        return _node(child)
    inner = {k: v for k, v in value.items() if k in ("sequence", "set") and next(iter(value)) != k}
    return _node(inner) if inner else Leaf()


def _string(value: Mapping[str, _Value], key: str) -> str:
    found = value.get(key)
    if not isinstance(found, str):
        raise NotationError(f"the value of {key!r} in a schedule tree is a text in quotes, not {found!r}")
    return found


def _filters(value: _Value) -> tuple[Filter, ...]:
    nodes = [_node(v) for v in value if isinstance(v, dict)] if isinstance(value, list) else []
    filters = tuple(n for n in nodes if isinstance(n, Filter))
    if not filters or len(filters) < len(nodes):
        raise NotationError(f"the children of a sequence or set are filters, not {value!r}")
    return filters


def _one_set(text: str) -> Set:
    found = parse_set(text)
    if len(found.parts) > 1:
        raise NotationError(f"a context is one set, not {text}")
    return found.parts[0][1] if found.parts else Set.empty(())


def _band(value: Mapping[str, _Value], child: ScheduleNode) -> Band:
    if "schedule" not in value:
        raise NotationError(f"a schedule tree has no node of kind {next(iter(value))!r}")
    options, isolate = band_options(parse(str(value.get("options", "{ }"))))
    flags = re.findall(r"\d", str(value.get("coincident", "")))
    return Band(
        parse_members(_string(value, "schedule")),
        str(value.get("permutable", "0")) == "1",
        tuple(f == "1" for f in flags),
        options,
        isolate,
        child,
    )


def band_options(text: UnionSet | UnionMap) -> tuple[tuple[OptionRange, ...], Set | None]:
    """The options of a band and its isolated part, from isl's `atomic[0]`, `unroll[x]`, `isolate[[] -> [x]] : ...`."""
    if isinstance(text, UnionMap):
        raise NotationError(f"the options of a band are a set, not {text}")
    found: list[OptionRange] = []
    isolate: Set | None = None
    for space, points in text.parts:
        if space.name == "isolate" and space.wrapped is not None:
            isolate = points
        elif space.wrapped is not None and space.wrapped[0].name == "isolate":
            found += _options(space.wrapped[1], points, isolated=True)
        else:
            found += _options(space, points, isolated=False)
    return tuple(found), isolate


MOST_MEMBERS = 64


def _options(space: Space, points: Set, isolated: bool) -> list[OptionRange]:
    if space.name not in {o.value for o in Option} or space.width != 1:
        raise NotationError(f"a band has no option {space.text(points.dims)}")
    dim = points.dims[0]
    members = [m for m in range(MOST_MEMBERS) if not points.substitute({dim: m}).is_empty()]
    return [OptionRange(Option(space.name), m, isolated) for m in members]


def schedule_text(node: ScheduleNode, indent: int = 0) -> str:
    """The tree in isl's notation."""
    return "\n".join(" " * (indent + depth) + line for depth, line in _text(node))


def _text(node: ScheduleNode) -> list[tuple[int, str]]:
    match node:
        case Leaf():
            return []
        case Domain(domain):
            own = [(0, f'domain: "{domain}"')]
        case Context(context):
            own = [(0, f'context: "{context}"')]
        case Filter(only):
            own = [(0, f'filter: "{only}"')]
        case Mark(name):
            own = [(0, f'mark: "{name}"')]
        case Extension(extension):
            own = [(0, f'extension: "{extension}"')]
        case Expansion(expansion):
            own = [(0, f'contraction: "{expansion.inverse()}"'), (0, f'expansion: "{expansion}"')]
        case Band():
            own = _band_text(node)
        case Sequence(children) | Unordered(children):
            found = [(0, "sequence:" if isinstance(node, Sequence) else "set:")]
            for child in children:
                lines = _text(child)
                found += [(0, f"- {lines[0][1]}"), *((d + 2, t) for d, t in lines[1:])]
            return found
        case _:
            assert_never(node)
    below = _text(node.child)
    return own + ([(0, "child:"), *((d + 2, t) for d, t in below)] if below else [])


def _member_text(member: UnionMap) -> str:
    bodies = []
    for space, _, relation in member.parts:
        name = relation.out_dims[0]
        for piece in relation.pieces:
            value = function_of(piece, name)
            if value is None:
                raise ValueError(f"the member {member} has no text in isl's notation: {name} is no one expression")
            text = (
                f"floor(({affine_text(value.affine)})/{value.divisor})"
                if isinstance(value, FloorDiv)
                else affine_text(value)
            )
            where = system_text(piece.project_out(name))
            tuples = f"{space.text(relation.in_dims)} -> [({text})]"
            bodies.append(f"{tuples} : {where}" if where else tuples)
    return f"{{ {'; '.join(bodies)} }}"


def _band_text(band: Band) -> list[tuple[int, str]]:
    members = [_member_text(m) for m in band.members]
    params = sorted({n for m in band.members for _, _, p in m.parts for n in p.params})
    prefix = f"[{', '.join(params)}] -> " if params else ""
    found = [(0, f'schedule: "{prefix}[{", ".join(members)}]"')]
    if band.permutable:
        found.append((0, "permutable: 1"))
    if band.coincident:
        found.append((0, f"coincident: [ {', '.join('1' if c else '0' for c in band.coincident)} ]"))
    own = [
        f"[isolate[] -> {o.option.value}[{o.member}]]" if o.isolated else f"{o.option.value}[{o.member}]"
        for o in band.options
        if o.times is None
    ]
    if band.isolate is not None:
        outer = len(band.isolate.dims) - len(band.members)
        space = Space("isolate", len(band.isolate.dims), (Space("", outer), Space("", len(band.members))))
        whole = str(UnionSet(((space, band.isolate),)))
        own.append(whole[whole.index("{") + 1 : -1].strip())
        prefix = whole[: whole.index("{")]
    else:
        prefix = ""
    return found + ([(0, f'options: "{prefix}{{ {"; ".join(own)} }}"')] if own else [])
