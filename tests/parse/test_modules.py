"""Whole modules, by compilers and by hand: read, printed and built again, they are the same program, to ptxas too."""

from pathlib import Path

import pytest

from ptxgen.build import python
from ptxgen.emit import emit
from ptxgen.ir import Function, Instruction, Module, TargetOption, walk
from ptxgen.parse import parse, read
from ptxgen.verify import verify
from tests.parse.cubin import machine_code
from tests.parse.programs import COMPILED, MODULES, WRITTEN

OF_STATEMENTS = {"immediate", "instruction", "label", "name", "operand", "register", "symbol", "target", "type"}


def module_of(path: Path) -> Module:
    return parse(path.read_text(), file=path.name)


def names(paths: list[Path]) -> list[str]:
    return [f"{path.parent.name}/{path.stem}" for path in paths]


def test_there_are_enough_of_them() -> None:
    assert len(COMPILED) + len(WRITTEN) >= 100
    assert len(WRITTEN) >= 60


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_printing_and_reading_give_the_same_module(path: Path) -> None:
    module = module_of(path)
    text = str(emit(module))
    assert parse(text) == module
    assert str(emit(parse(text))) == text


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_the_printed_module_is_the_same_to_ptxas(path: Path, tmp_path: Path) -> None:
    """But for debugging, where ptxas gives `[a+0]` other registers than `[a]`."""
    module = module_of(path)
    folders = tmp_path / "a", tmp_path / "b"
    for folder in folders:
        folder.mkdir()
    made = [
        machine_code(text, folder, module.target.name)
        for text, folder in zip((path.read_text(), str(emit(module))), folders, strict=True)
    ]
    assert any(name.startswith(".text.") for name in made[0]) or not any(map(_has_body, module.items))
    if TargetOption.DEBUG in module.options:
        assert made[0].keys() == made[1].keys()
    else:
        assert made[0] == made[1]


def _has_body(item: object) -> bool:
    return isinstance(item, Function) and item.body is not None


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_the_builder_program_builds_an_equal_module(path: Path) -> None:
    module = module_of(path)
    named: dict[str, object] = {}
    exec(compile(python(module), f"{path.stem}.py", "exec"), named)
    assert named["module"] == module


@pytest.mark.parametrize("path", WRITTEN, ids=names(WRITTEN))
def test_no_statement_that_ptxas_takes_is_called_wrong(path: Path) -> None:
    """Statements one by one: what they do together need not make sense here."""
    assert [str(each) for each in verify(module_of(path)) if each.code.partition(".")[0] in OF_STATEMENTS] == []


@pytest.mark.parametrize("path", WRITTEN, ids=names(WRITTEN))
def test_every_written_module_says_what_it_is_for(path: Path) -> None:
    comment = path.read_text().split("\n")[0]
    assert comment.startswith("// ")
    assert comment.endswith(".")


@pytest.mark.parametrize("path", COMPILED, ids=names(COMPILED))
def test_every_instruction_knows_its_line(path: Path) -> None:
    lines = path.read_text().split("\n")
    for function in module_of(path).items:
        body = getattr(function, "body", None)
        for node in walk(body) if body is not None else ():
            if isinstance(node, Instruction):
                assert node.origin is not None
                assert node.origin.file == path.name
                assert node.form.name.partition(".")[0] in lines[node.origin.line - 1]


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_lenient_reading_finds_nothing_to_leave_out(path: Path) -> None:
    reading = read(path.read_text(), file=path.name)
    assert reading.findings == ()
    assert reading.module == module_of(path)
