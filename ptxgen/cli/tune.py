"""`ptxgen tune`: the fastest plan of a product on this device, and the model that guesses it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager

from ptxgen.cli.pools import gpus, makers
from ptxgen.cli.progress import progress
from ptxgen.cli.tuning import TuneOptions
from ptxgen.cli.unusable import Unusable
from ptxgen.kernels.calling.call import target_of
from ptxgen.kernels.choosing.choice import chosen
from ptxgen.kernels.choosing.cost import explain
from ptxgen.kernels.choosing.menu import Sizes
from ptxgen.kernels.choosing.processors import (
    FITTED,
    FITTED_OF_WARPS,
    PROCESSORS,
    Processor,
    processor_for,
    processor_named,
    processor_of,
)
from ptxgen.kernels.products.compute import MatmulSpec
from ptxgen.runtime import described
from ptxgen.tune.calibration import Measurement, by_kind, fit, measure, read_measurements, written
from ptxgen.tune.gate import Refusal
from ptxgen.tune.keeping import Kept
from ptxgen.tune.on_device import OnGpu
from ptxgen.tune.tilings import plain
from ptxgen.tune.tuner import Trial, Tuner, Tuning
from ptxgen.tune.versions import driver_here

LACKING = 3
ENDED = (
    "a process that makes or measures kernels ended by itself, perhaps for want of memory: take fewer --processes; "
    "what was measured before is kept"
)


def run_tune(options: TuneOptions) -> int:
    """Carries out the command and returns its exit status; Unusable or a PtxgenError where it cannot be."""
    if options.fit is not None:
        return _fit(options)
    if options.explain:
        return _explain(options)
    try:
        return _calibrate(options) if options.calibrate else _tune(options)
    except BrokenExecutor:
        print(f"ptxgen: {ENDED}", file=sys.stderr)
        return LACKING


def spec_of(options: TuneOptions) -> MatmulSpec:
    """The product that the options ask for; Unusable where there is none."""
    batched = any(sizes.batches > 1 for sizes in options.shapes)
    return options.types.spec(options.layout, options.epilogue, batched=batched)


def row_for(options: TuneOptions) -> Processor:
    """The row named, or the device's; Unusable where there is none."""
    known = ", ".join(row.name for row in PROCESSORS)
    if options.device_name is not None:
        named = processor_named(options.device_name)
        if named is None:
            raise Unusable(f"--device: there are rows for {known}, not for {options.device_name}")
        return named
    if options.explain or options.fit:
        return processor_for(90) or PROCESSORS[0]
    here = described()
    found = processor_of(here.name, here.multiprocessors)
    if found is None:
        what = f"{here.name} with {here.multiprocessors} multiprocessors"
        raise Unusable(f"there is no row of the cost model for {what}; name a like one of {known} by --device")
    return found


def _explain(options: TuneOptions) -> int:
    spec, row = spec_of(options), row_for(options)
    for target in options.targets or ("sm_90a",):
        for sizes in options.shapes:
            print(explain(chosen(spec, target, sizes, row), sizes))
    return 0


def _fit(options: TuneOptions) -> int:
    assert options.fit is not None
    try:
        measured = read_measurements(options.fit)
    except (OSError, ValueError) as error:
        raise Unusable(f"{options.fit} holds no measurements: {error}") from None
    if not measured:
        raise Unusable(f"{options.fit} holds no measurements")
    found = fit(spec_of(options), measured, row_for(options))
    print(
        f"{len(measured)} measurements; half within a factor of {found.median:.3f}, nine in ten {found.nine_in_ten:.3f}"
    )
    print(", ".join(f"{name}={getattr(found.processor, name):.4g}" for name in (*FITTED, *FITTED_OF_WARPS)))
    for name, count, middle in by_kind(found):
        print(f"  {middle:.3f} in the middle of {count} with {name}")
    worst = sorted(found.residuals, key=lambda pair: -abs(pair[1] - 1))[:10]
    for each, factor in worst:
        sizes = each.sizes
        print(
            f"  {factor:.2f} of {each.microseconds:.1f} us: {each.target} {sizes.m}x{sizes.n}x{sizes.k} {each.tiling}"
        )
    return 0


def _calibrate(options: TuneOptions) -> int:
    spec, row = spec_of(options), row_for(options)
    lines: list[str] = []
    with noted(options, lines), makers(options.processes) as pool:
        for target in options.targets or (target_of(0),):
            for found in measure(spec, target, options.shapes, row, pool, lambda line: print(line, file=sys.stderr)):
                lines.append(written(found))
                print(lines[-1], flush=True)
    return 0


def _tune(options: TuneOptions) -> int:
    spec, row = spec_of(options), row_for(options)
    lines, good, kept = list[str](), True, Kept(described().name, driver_here())
    with noted(options, lines), makers(options.processes) as made_by, gpus() as measured_by:
        for target in options.targets or (target_of(0),):
            found: list[Tuning] = []
            measurer = OnGpu(row, deadline=options.deadline)
            try:
                with progress(len(options.shapes), sys.stderr) as tell:
                    tuner = Tuner(row, measurer, made_by, measured_by, kept, options.candidates, tell)
                    for each in tuner.tune(spec, target, options.shapes):
                        found.append(each)
            finally:
                for each in sorted(found, key=lambda tuning: options.shapes.index(tuning.sizes)):
                    print("\n".join(told(each, target)), flush=True)
                    good &= each.best is not None
                    lines += [trial_line(target, each.sizes, trial) for trial in each.trials]
    return 0 if good else 1


@contextmanager
def noted(options: TuneOptions, lines: list[str]) -> Iterator[None]:
    """What is measured within, so far as it got, in the file that the options name; Unusable, before anything is
    measured, where that cannot be written."""
    if options.out is None:
        yield
        return
    try:
        options.out.open("a", encoding="utf-8").close()
    except OSError as error:
        raise Unusable(f"--out: {options.out} cannot be written: {error.strerror or error}") from None
    try:
        yield
    finally:
        options.out.write_text("\n".join([*lines, ""]), encoding="utf-8")


def told(found: Tuning, target: str) -> Iterator[str]:
    """What was found for a shape, in lines: the best, the model's pick beside it, and what was refused."""
    sizes, best = found.sizes, found.best
    flops = 2 * sizes.m * sizes.n * sizes.k * sizes.batches
    yield f"{sizes.m} x {sizes.n} x {sizes.k} on {target}, {len(found.trials)} candidates"
    if best is None or best.microseconds is None:
        yield "  none is good"
    else:
        rate = flops / best.microseconds / 1e6
        yield f"  best   {best.microseconds:9.2f} us, {rate:.0f} TFLOP/s: {best.tiling}"
        pick = found.pick
        if pick.microseconds is not None:
            share = best.microseconds / pick.microseconds
            yield f"  model  {pick.microseconds:9.2f} us, {share:.3f} of the best: {pick.tiling}"
    for trial in found.trials:
        if isinstance(trial.verdict, Refusal):
            yield f"  refused at {trial.verdict}: {trial.tiling}"


def trial_line(target: str, sizes: Sizes, trial: Trial) -> str:
    """A candidate as a line of JSON: a measurement, or its refusal."""
    if trial.microseconds is not None:
        return written(Measurement(target, sizes, trial.tiling, trial.microseconds))
    return json.dumps({"refused": str(trial.verdict), "tiling": plain(trial.tiling)})
