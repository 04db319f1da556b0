"""What a name means: forms, operands, words, sections, and near misses. The facts are the manual's."""

import pytest

from isa.explaining import explain
from isa.explanation import Explanation, Subject, UnknownName
from isa.forms import continuations, families, resolve
from isa.operands import OperandKind, Role
from isa.targets import UnknownTarget


def lines(explanation: Explanation) -> list[str]:
    return [line.strip() for line in str(explanation).splitlines()]


def test_the_beginning_of_an_instruction_tells_its_forms():
    told = explain("mma.sync")
    assert told.subject is Subject.INSTRUCTION
    assert told.section == "Warp Level Matrix Multiply-Accumulate Instructions: mma"
    assert str(told.availability) == "PTX 6.4 on sm_70 and later"
    assert told.following == ("aligned",)
    volta, typed = told.forms[:2]
    assert volta.spelling == "mma.sync.aligned.m8n8k4.<alayout>.<blayout>.<dtype>.f16.f16.<ctype> d, a, b, c"
    assert dict(volta.choices) == dict.fromkeys(("alayout", "blayout"), ("row", "col")) | dict.fromkeys(
        ("dtype", "ctype"), ("f16", "f32")
    )
    assert "m16n8k16" in dict(typed.choices)["shape"]


def test_words_narrow_what_is_left():
    (typed,) = explain("mma.sync.aligned.m16n8k16.row.col.f32.bf16").forms
    assert dict(typed.choices) == {}, "bf16 leaves one combination"
    assert typed.spelling == "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 d, a, b, c"
    wide = explain("ld.global.v8").forms[0]
    assert dict(wide.choices)["type"] == ("b32", "u32", "s32", "f32")
    assert str(wide.availability).startswith("PTX 8.8 on sm_100")


def test_tables_say_what_goes_together():
    (typed,) = explain("mma.sync.aligned.m16n8k16").forms
    (table,) = typed.tables
    assert table.slots == ("satfinite", "dtype", "atype", "btype", "ctype")
    rows = {cells: str(since) for cells, since in table.rows}
    assert rows["-", "f32", "bf16", "bf16", "f32"] == "PTX 7.0 on sm_80 and later"
    assert rows["-", "f64", "f64", "f64", "f64"] == "PTX 7.8 on sm_90 and later"
    assert "tf32" not in str(rows.keys())


def test_operands_tell_role_kind_type_and_domain():
    form = explain("cp.async.cg").forms[0]
    by_name = {each.name: each for each in form.operands}
    assert (by_name["destination"].role, by_name["destination"].kind) == (Role.READ, OperandKind.ADDRESS)
    assert by_name["bytes"].notes == ("one of 16",)
    assert "may be left out" in by_name["source_bytes"].notes
    assert by_name["policy"].notes == ("with <L2::cache_hint>",)
    (mad,) = explain("mad.wide.s32").forms
    assert [each.type for each in mad.operands] == [".s64", ".s32", ".s32", ".s64"]
    (load,) = explain("ld.shared").forms
    assert load.operands[0].type == "<type>"
    assert "as many as <vec> says elements" in load.operands[0].notes


def test_words_that_need_more_are_dated():
    (load,) = explain("ld.shared").forms
    assert {word: str(since) for word, since in load.dated} == {".b128": "PTX 8.3 on sm_70 and later"}


def test_a_whole_name_is_printed_in_a_few_lines():
    assert lines(explain("mad.lo.u32")) == [
        "mad.lo.u32: product plus c",
        "manual  Integer Arithmetic Instructions: mad",
        "exists  PTX 1.0",
        "next    (end)",
        "",
        "mad.lo.u32 d, a, b, c",
        "exists  PTX 1.0",
        "d       written: register of .u32",
        "a       read: register or immediate of .u32",
        "b       read: register or immediate of .u32",
        "c       read: register or immediate of .u32",
    ]


def test_the_beginning_of_opcodes_lists_them():
    told = explain("mbarrier")
    assert told.forms == ()
    assert ("mbarrier.init", "make a barrier that awaits so many arrivals a phase") in told.longer
    assert str(told.availability) == "PTX 7.0 on sm_80 and later"


@pytest.mark.parametrize("opcode", ["add", "cvt", "ld", "mma", "tex", "atom", "setp", "tcgen05.mma"])
def test_the_forms_hold_every_name_that_is_legal(opcode: str):
    """Walks to names through `continuations`; each must be one of those that some form spells."""
    words = tuple(opcode.split("."))
    while (further := continuations(words)) != ("",):
        words = (*words, next(word for word in reversed(further) if word))
    name = ".".join(words)
    assert resolve(name)
    for count in range(1, len(words) + 1):
        told = explain(".".join(words[:count]))
        assert told.forms or told.longer
        if count < len(words) and told.forms and not told.longer:
            assert words[count] in told.following
            assert any(words[count] in (*sum((c for _, c in f.choices), ()), f.spelling) or
                       f".{words[count]}" in f.spelling for f in told.forms)  # fmt: skip


def test_every_family_is_explained_in_bounds():
    for family in families()[::7]:
        told = str(explain(family.opcode))
        assert told.startswith(family.opcode)
        assert max(map(len, told.splitlines())) < 400


def test_a_target_leaves_what_it_has():
    everywhere, volta = explain("cvt.rn"), explain("cvt.rn", target="sm_70")
    assert 0 < len(volta.forms) < len(everywhere.forms)
    assert not any(".bf16" in form.spelling for form in volta.forms)
    assert explain("wgmma.fence", target="sm_80").forms == ()
    with pytest.raises(UnknownTarget):
        explain("add", target="sm_71")


def test_special_registers_that_depend_on_a_word_are_told_so():
    said = [each.notes for form in explain("cvt").forms for each in form.operands if each.name == "a"]
    assert said[0] == ("may be wider", "or a special register where <atype> is an integer")
    assert not any("special" in note for notes in said[1:] for note in notes)


def test_special_registers():
    assert explain("%tid.x").about == "a value of type .u32, each thread has its own"
    assert [name for name, _ in explain("%tid").longer] == ["%tid.x", "%tid.y", "%tid.z", "%tid.w"]
    assert explain("%clock64").about.endswith("two reads by one thread may differ")
    assert explain("%clusterid.x").section == "Special Registers: %clusterid"
    assert str(explain("%clusterid.x").availability) == "PTX 7.8 on sm_90 and later"


@pytest.mark.parametrize(
    "name, subject, section, words",
    [
        (".reqntid", Subject.DIRECTIVE, "Performance-Tuning Directives: .reqntid", ".reqntid x, y, z"),
        (".explicitcluster", Subject.DIRECTIVE, "Cluster Dimension Directives: .explicitcluster", "PTX 7.8 on sm_90"),
        (".loc", Subject.DIRECTIVE, "Debugging Directives: .loc", "file, line and column"),
        (".shared", Subject.SPACE, "State Spaces: .shared", "memory of a CTA"),
        (".shared::cluster", Subject.SPACE, "State Spaces: .shared::cluster", "PTX 7.8 on sm_90"),
        (".f16x2", Subject.TYPE, "Packed Data Types", "2 lanes of 16"),
        (".e4m3", Subject.TYPE, "Alternate Floating-Point Data Formats", "no register has it"),
        (".u32", Subject.TYPE, "Fundamental Types", "takes registers of .b32 .u32 .s32"),
        (".satfinite", Subject.MODIFIER, "Instruction Set", "cvt"),
    ],
)
def test_words_with_a_dot(name: str, subject: Subject, section: str, words: str):
    told = explain(name)
    assert (told.name, told.subject, told.section) == (name, subject, section)
    assert words in str(told)


@pytest.mark.parametrize(
    "name, whole", [("tid.x", "%tid.x"), ("reqntid", ".reqntid"), ("shared", ".shared"), ("bf16x2", ".bf16x2")]
)
def test_the_first_character_may_be_left_out(name: str, whole: str):
    assert explain(name).name == whole


def test_an_instruction_comes_before_a_word_of_its_name():
    assert explain("ret").subject is Subject.INSTRUCTION


@pytest.mark.parametrize(
    "name, reason, close",
    [
        ("mmma", "no instruction begins with 'mmma'", "mma"),
        ("ld.shard", "'shard' cannot stand behind ld", "ld.shared"),
        ("cp.async.bulk.tensr", "'tensr' cannot stand behind cp.async.bulk", "cp.async.bulk.tensor"),
        ("%tidx", "no special register is called %tidx", "%tid.x"),
        (".reqtid", "no directive, state space, type or modifier is called .reqtid", ".reqntid"),
        ("mma.sync.aligned.m16n8k17", "'m16n8k17' cannot stand behind mma.sync.aligned", "mma.sync.aligned.m16n8k16"),
    ],
)
def test_a_near_miss_suggests_names(name: str, reason: str, close: str):
    with pytest.raises(UnknownName) as caught:
        explain(name)
    assert caught.value.reason.startswith(reason)
    assert close in caught.value.close
    assert f"perhaps: {', '.join(caught.value.close)}" in str(caught.value)


def test_a_far_miss_tells_what_may_stand_there():
    with pytest.raises(UnknownName, match=r"'zzz' cannot stand behind mma\.sync; possible: aligned"):
        explain("mma.sync.zzz")
