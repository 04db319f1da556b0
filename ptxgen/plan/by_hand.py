"""Words for an op that is written by hand: how its instructions happen."""

from __future__ import annotations

from enum import Enum


class Issued(Enum):
    """Who issues one instance: each lane by itself, or all lanes of a warp together."""

    LANE = "each lane"
    WARP = "each warp"


class Completes(Enum):
    """When an instance is complete: as soon as it is issued, or when the group is that the lane commits its `cp.async`
    to. The commit and the wait are derived; the code has neither."""

    AT_ISSUE = "at issue"
    LANE_GROUP = "in a group of cp.async"
