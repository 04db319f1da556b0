"""The checker that judges proposed synchronisation, whoever proposed it (see README.md)."""
