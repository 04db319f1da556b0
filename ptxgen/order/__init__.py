"""What must happen before what: ops, requirements, and the atoms that order them (see README.md)."""
