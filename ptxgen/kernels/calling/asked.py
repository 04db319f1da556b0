"""What a plain call asks for: the product that its arrays and wishes come to, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from attrs import evolve, fields, frozen

from isa.targets import UnknownTarget
from ptxgen.compute import Element, f32, f64, s32
from ptxgen.errors import LaunchError, PlanError, UnsupportedError
from ptxgen.kernels.choosing.choice import Tuned
from ptxgen.kernels.launching.binding import LARGEST_SIZE
from ptxgen.kernels.launching.views import View, element_of, holds
from ptxgen.kernels.products.compute import USUAL_RESULTS, Choice, Grouping, Layout, MatmulSpec, type_faults
from ptxgen.kernels.products.epilogue import Activate, Activation, Bias, Keep, Piece, Residual
from ptxgen.kernels.products.generations import generation_of
from ptxgen.plan.instructions import SUMS

SPOKEN = {"A": "a", "B": "b", "ends": "offsets", "bias": "bias", "R": "residual", "E": "pre_activation", "D": "out"}
SPOKEN_CHOICES = {Choice.INPUT: "a by b,", Choice.ACCUMULATE: "accumulate"}
ELEMENTS = {element.label: element for element in Element}
ACTIVATIONS = {each.value: each for each in Activation}
NAMED = {
    "activation": f"one of {', '.join(ACTIVATIONS)}",
    **dict.fromkeys(("input", "accumulate", "output"), f"the name of a type among {', '.join(ELEMENTS)}"),
    "target": "the name of a target such as 'sm_90a'",
}
NARROW = {Element.BF16, Element.E4M3, Element.E5M2}
TARGETS_ON_CPU = ("sm_70", "sm_75", "sm_80", "sm_89")


@frozen
class Wish:
    """What is asked of a product beside its arrays, element types by the names that PTX gives them."""

    activation: str | None = None
    input: str | None = None
    accumulate: str | None = None
    promote: int | None = None
    output: str | None = None
    target: str | None = None
    tuned: Tuned | None = None


def asked(views: Mapping[str, View], wish: Wish) -> tuple[MatmulSpec, dict[str, View]]:
    """The product that arrays (by the names of its compute) and wishes ask for, and the arrays as they are stored for
    it. LaunchError, in the words of the call, for shapes, types and wishes that do not fit each other."""
    check_wish(wish)
    grouping, batched = _grouping(views), len(views["A"].shape) == 3
    _check_shapes(views)
    turned = {name: _is_turned(SPOKEN[name], views[name]) for name in ("A", "B")}
    layout = Layout("".join("t" if turned[name] else "n" for name in ("A", "B")))
    left, right = (_factor(SPOKEN[name], views[name], wish.input) for name in ("A", "B"))
    epilogue = tuple(_pieces(views, wish))
    others = {
        "layout": layout,
        "epilogue": epilogue,
        "batched": batched,
        "grouped": grouping,
        "promote": _promoted(wish),
    }
    if right is not left:
        others["b_input"] = right
    if wish.accumulate is not None:
        others["accumulate"] = element_named("accumulate", wish.accumulate)
    others["output"] = _output(views.get("D"), wish) or usual_result(left, followed=bool(epilogue))
    spec = MatmulSpec.of(left, **others)
    _check(spec, views)
    return spec, {name: _turned(view) if turned.get(name) else view for name, view in views.items()}


def _grouping(views: Mapping[str, View]) -> Grouping | None:
    """What comes in groups, by the dimensions of the factors, whose count is checked."""
    a, b = (len(views[name].shape) for name in ("A", "B"))
    shapes = f"got shapes {views['A'].shape} and {views['B'].shape}"
    if "ends" not in views:
        if a != b or a not in (2, 3):
            raise LaunchError(f"a and b must both have two dimensions, or three, {shapes}")
        return None
    if a != 2 or b not in (2, 3):
        raise LaunchError(f"a must have two dimensions, and b three or, where sums are in groups, two, {shapes}")
    if element_of(views["ends"]) is not s32 or len(views["ends"].shape) != 1:
        found = f"{views['ends'].dtype}, shape {views['ends'].shape}"
        raise LaunchError(f"offsets must be one end for each group, in s32, got {found}")
    return Grouping.ROWS if b == 3 else Grouping.TERMS


def check_wish(wish: Wish) -> None:
    """LaunchError for a wish of a kind that none is of."""
    for each in fields(Wish):
        value = getattr(wish, each.name)
        if each.name in NAMED and value is not None and not isinstance(value, str):
            raise LaunchError(f"{each.name} must be {NAMED[each.name]} or None, got {value!r}")
    if wish.tuned is not None and not callable(getattr(wish.tuned, "tiling", None)):
        raise LaunchError(f"tuned must be None or what knows tilings, as ptxgen.tune.best(), got {wish.tuned!r}")


def element_named(what: str, wish: str) -> Element:
    """The element type of a name; LaunchError lists the names."""
    found = ELEMENTS.get(wish)
    if found is None:
        raise LaunchError(f"{what} must be one of {', '.join(ELEMENTS)}, got {wish!r}")
    return found


def usual_result(input: Element, *, followed: bool) -> Element:
    """What a product of a type is stored as, f32 where an integer is `followed` by arithmetic."""
    return f32 if input.is_integer and followed else USUAL_RESULTS.get(input, input)


def target_on_cpu(views: Mapping[str, View], spec: MatmulSpec) -> str:
    """The oldest target that multiplies a product's types, and has what is narrow among its arrays, whose conversions
    came with the tensor cores for them."""
    held = {element for view in views.values() if (element := element_of(view)) in NARROW} | ({spec.output} & NARROW)
    for target in TARGETS_ON_CPU[:-1]:
        try:
            for wanted in (spec, *map(MatmulSpec.of, held)):
                check_target(wanted, target)
        except LaunchError:
            continue
        return target
    return TARGETS_ON_CPU[-1]


def check_target(spec: MatmulSpec, target: str) -> None:
    """LaunchError where a target has no tensor cores for a product's types."""
    with planned():
        generation_of(target, spec.input, spec.accumulate, spec.b_input)


@contextmanager
def planned() -> Iterator[None]:
    """What no plan carries out is an error of the call that asks for it."""
    try:
        yield
    except (PlanError, UnsupportedError, UnknownTarget) as error:
        raise LaunchError(f"there is no kernel for this product: {error}") from error


def _check(spec: MatmulSpec, views: Mapping[str, View]) -> None:
    for choice, told in type_faults(spec):
        words = "out" if choice is Choice.OUTPUT and "D" in views else SPOKEN_CHOICES.get(choice, choice.value)
        raise LaunchError(f"{words} {told}")
    curved = [p.function for p in spec.epilogue if isinstance(p, Activate) and p.function is not Activation.RELU]
    read = [piece.element for piece in spec.epilogue if isinstance(piece, (Bias, Residual, Keep))]
    if curved and f64 in (spec.summed, spec.output, *read):
        raise LaunchError(f"activation {curved[0].value}: its exponential is in f32, something here is f64")


def _pieces(views: Mapping[str, View], wish: Wish) -> Iterator[Piece]:
    if "bias" in views:
        yield Bias(element=_element("bias", views["bias"]))
    if "E" in views:
        yield Keep(_element("pre_activation", views["E"]))
    if wish.activation is not None:
        if wish.activation not in ACTIVATIONS:
            known = ", ".join(ACTIVATIONS)
            raise LaunchError(f"activation must be one of {known} or None, got {wish.activation!r}")
        yield Activate(ACTIVATIONS[wish.activation])
    if "R" in views:
        yield Residual(_element("residual", views["R"]))


def _factor(name: str, view: View, wish: str | None) -> Element:
    """The type that an operand is multiplied as: its own, or the one wished, which its elements must be able to be."""
    if wish is not None:
        element = element_named("input", wish)
        if not holds(view.dtype, element):
            raise LaunchError(f"{name} is {view.dtype}, which is not multiplied as {wish}")
    else:
        element = _element(name, view)
    if element is f32:
        raise LaunchError(f"{name} is f32, which tensor cores multiply as tf32, of 11 bits: ask for it (input='tf32')")
    if element not in SUMS:
        raise LaunchError(f"{name} is {element}; tensor cores multiply {', '.join(map(str, SUMS))}")
    return element


def _promoted(wish: Wish) -> int | None:
    every = wish.promote
    if every is not None and (type(every) is not int or every < 1 or every & (every - 1)):
        raise LaunchError(f"promote must be a power of two or None, got {every!r}")
    return every


def _output(view: View | None, wish: Wish) -> Element | None:
    """The type of the result where an array or a name tells it."""
    named = None if wish.output is None else element_named("output", wish.output)
    if view is None:
        return named
    if named is None:
        return _element("out", view)
    if not holds(view.dtype, named):
        raise LaunchError(f"out is {view.dtype}, but output asks for {wish.output}: leave one of the two out")
    return named


def _element(name: str, view: View) -> Element:
    found = element_of(view)
    if found is None:
        known = ", ".join(label for label, element in ELEMENTS.items() if element is not Element.TF32)
        bits = " (for bits, name the type in input=)" if any(holds(view.dtype, each) for each in NARROW) else ""
        raise LaunchError(f"{name} must be of a type among {known}{bits}, got {view.dtype}")
    return found


def _is_turned(name: str, view: View) -> bool:
    """Whether the last dimension but one is the one that lies together."""
    *_, rows, columns = view.shape
    *_, down, across = view.strides
    if across == 1 or columns <= 1 or view.is_empty:
        return False
    if down == 1 or rows <= 1:
        return True
    raise LaunchError(
        f"{name}: neither of the last two dimensions lies together (strides {view.strides}): copy it first"
    )


def _turned(view: View) -> View:
    """The same elements with the last two dimensions exchanged."""
    shape, strides = (*view.shape[:-2], *view.shape[:-3:-1]), (*view.strides[:-2], *view.strides[:-3:-1])
    return evolve(view, shape=shape, strides=strides)


def result_shape(views: Mapping[str, View]) -> tuple[int, ...]:
    """The shape of the product: where sums are in groups, one matrix for each."""
    a, b = views["A"].shape, views["B"].shape
    groups = views["ends"].shape if "ends" in views and len(b) == 2 else ()
    return (*groups, *a[:-1], b[-1])


def _check_shapes(views: Mapping[str, View]) -> None:
    a, b = views["A"].shape, views["B"].shape
    for name, view in views.items():
        if any(extent > LARGEST_SIZE for extent in view.shape):
            raise LaunchError(f"{SPOKEN[name]} has the shape {view.shape}: an extent is at most {LARGEST_SIZE}")
    result = result_shape(views)
    ends = views["ends"].shape if "ends" in views else ()
    ahead = ends if len(b) == 3 and ends else a[:-2]
    bias = (*ends, b[-1])
    wanted = {"B": (*ahead, a[-1], b[-1]), "bias": bias, "R": result, "E": result, "D": result}
    beside = f"a of {a}, b of {b} and offsets of {ends}" if ends else f"a of {a} and b of {b}"
    for name, view in views.items():
        if name in wanted and view.shape != wanted[name]:
            raise LaunchError(f"{SPOKEN[name]} must have the shape {wanted[name]} beside {beside}, got {view.shape}")
