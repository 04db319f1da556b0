"""Rules that propose synchronisation for requirements (see README.md)."""
