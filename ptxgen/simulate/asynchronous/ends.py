"""What threads leave behind when they end: operations that nobody has waited for, and a CTA that is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptxgen.simulate.asynchronous.clusters import leave, settle_clusters
from ptxgen.simulate.asynchronous.operations import Operation
from ptxgen.simulate.asynchronous.products import common

if TYPE_CHECKING:
    from ptxgen.simulate.batch import Batch
    from ptxgen.simulate.group import Group

Array: TypeAlias = NDArray[Any]


def ended(batch: Batch, group: Group, lanes: Array) -> None:
    """These lanes of a group have ended."""
    rows = lanes.any(axis=1)
    if batch.engines.under_way:
        _end_groups(batch, group, lanes)
    whole = group.warps[rows & ~batch.present[group.warps].any(axis=1)]
    if len(whole):
        _end_products(batch, whole)
        if batch.engines.under_way:
            _end_copies(batch, whole)
        leave(batch, whole)
    settle_clusters(batch)
    batch.engines.version += 1


def _end_groups(batch: Batch, group: Group, lanes: Array) -> None:
    """Copies out of shared memory: their reads must have been waited for, their writes end by themselves."""
    for operation in list(batch.engines.under_way):
        row = int(np.searchsorted(group.warps, operation.issue.warp))
        if operation.group is None or row == len(group.warps) or group.warps[row] != operation.issue.warp:
            continue
        if lanes[row, operation.issue.lane]:
            if not operation.has_read:
                committed = operation.group < batch.engines.committed.get(operation.issue.owner, 0)
                lacking = "cp.async.bulk.wait_group.read" if committed else "cp.async.bulk.commit_group"
                _leaked(batch, operation, f"still reads shared memory when its thread ends; no {lacking} covers it")
            batch.engines.complete(batch, operation)


def _leaked(batch: Batch, operation: Operation, what: str) -> None:
    batch.journal.fault("async.leaked", operation.issue.site, lambda: what, thread=operation.issue.thread)


def _end_copies(batch: Batch, warps: Array) -> None:
    """Copies into the shared memory of a CTA that has ended."""
    for cta in np.unique(warps // batch.warps_per_cta).tolist():
        if batch.present[cta * batch.warps_per_cta : (cta + 1) * batch.warps_per_cta].any():
            continue
        for operation in list(batch.engines.under_way):
            if any(landing.barrier.cta == cta for landing in operation.landings):
                _leaked(batch, operation, "is under way when the CTA ends that it writes to; nothing has waited for it")
                batch.engines.complete(batch, operation)


def _end_products(batch: Batch, warps: Array) -> None:
    for product in batch.engines.products.pending:
        _, own = common(np.sort(warps), product.warps)
        left = own[product.left[own]]
        if len(left):
            committed = product.ordinals[left[0]] < batch.engines.products.committed[product.warps[left[0]]]
            lacking = "wgmma.wait_group" if committed else "wgmma.commit_group"
            what = f"is under way when its warp ends; no {lacking} covers it"
            thread = batch.first_thread + int(product.warps[left[0]]) * 32
            batch.journal.fault("async.leaked", product.site, lambda what=what: what, thread=thread)  # type: ignore[misc]
            product.left[left] = False
