"""The names of what a program may ask of its tile, its block and its work item, beside tile indices and loop
variables; and where barriers of rings wait and arrive, of the number that a thread's warpgroup has in its role."""

TILE_NUMBER, TILE_COUNT = "tile", "tiles"
BLOCK_NUMBER, BLOCK_COUNT = "block", "blocks"
ITEM_FIRST, ITEM_SLABS = "item.first", "item.slabs"
LEAVING, JOINING = "leaving", "joining"
WARPGROUP = "warpgroup"
