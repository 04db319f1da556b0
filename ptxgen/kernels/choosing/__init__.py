"""Which tiling a shape gets, told without running any (see README.md)."""
