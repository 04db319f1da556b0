"""What each instruction computes, one module per kind of work."""
