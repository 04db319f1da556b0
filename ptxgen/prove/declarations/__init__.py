"""Whether what a tile program declares agrees with what it does (see README.md)."""

from __future__ import annotations

from ptxgen.errors import Finding
from ptxgen.prove.declarations.maps import map_faults
from ptxgen.prove.declarations.products import product_faults
from ptxgen.prove.declarations.sizes import size_faults
from ptxgen.prove.declarations.slabs import slab_faults
from ptxgen.prove.declarations.vectors import vector_faults
from ptxgen.prove.declarations.workspaces import workspace_faults
from ptxgen.tile import Program


def contradictions(program: Program) -> tuple[Finding, ...]:
    """Where a program contradicts itself, synchronisation apart, each on its line of the text: sizes that are told,
    warps and tiles of products, what tensor maps and vectors need, workspaces, and slabs that are shared."""
    return (
        *size_faults(program), *product_faults(program), *map_faults(program), *vector_faults(program),
        *workspace_faults(program), *slab_faults(program),
    )  # fmt: skip


__all__ = ["contradictions"]
