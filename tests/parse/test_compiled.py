"""Modules that a compiler wrote: read, printed and built again, they are the same program to ptxas."""

from pathlib import Path

import pytest

from ptxgen.build import python
from ptxgen.emit import emit
from ptxgen.ir import Instruction, Module, walk
from ptxgen.parse import parse, read
from ptxgen.verify import verify
from tests.parse.cubin import machine_code
from tests.parse.programs import COMPILED


def module_of(path: Path) -> Module:
    return parse(path.read_text(), file=path.name)


def names(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


def test_there_are_enough_of_them() -> None:
    assert len(COMPILED) >= 15


@pytest.mark.parametrize("path", COMPILED, ids=names(COMPILED))
def test_printing_and_reading_give_the_same_module(path: Path) -> None:
    module = module_of(path)
    text = str(emit(module))
    assert parse(text) == module
    assert str(emit(parse(text))) == text


@pytest.mark.parametrize("path", COMPILED, ids=names(COMPILED))
def test_the_printed_module_is_the_same_to_ptxas(path: Path, tmp_path: Path) -> None:
    module = module_of(path)
    folders = tmp_path / "a", tmp_path / "b"
    for folder in folders:
        folder.mkdir()
    made = [
        machine_code(text, folder, module.target.name)
        for text, folder in zip((path.read_text(), str(emit(module))), folders, strict=True)
    ]
    assert any(name.startswith(".text.") for name in made[0])
    assert made[0] == made[1]


@pytest.mark.parametrize("path", COMPILED, ids=names(COMPILED))
def test_the_builder_program_builds_an_equal_module(path: Path) -> None:
    module = module_of(path)
    named: dict[str, object] = {}
    exec(compile(python(module), f"{path.stem}.py", "exec"), named)
    assert named["module"] == module


@pytest.mark.parametrize("path", COMPILED, ids=names(COMPILED))
def test_nothing_in_them_is_called_wrong(path: Path) -> None:
    assert [str(finding) for finding in verify(module_of(path))] == []


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


@pytest.mark.parametrize("path", COMPILED, ids=names(COMPILED))
def test_lenient_reading_finds_nothing_to_leave_out(path: Path) -> None:
    reading = read(path.read_text(), file=path.name)
    assert reading.findings == ()
    assert reading.module == module_of(path)
