"""The plain calls: arrays of any library, and what is said of their product (see README.md)."""
