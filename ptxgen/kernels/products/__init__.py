"""The product of two matrices: its statement, and the plans that carry it out (see README.md)."""
