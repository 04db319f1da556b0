"""From a plan to a kernel, and to a launch of it with arrays by name (see README.md)."""
