"""The parts of `craqan audit`: cases with a known verdict, the figures, and the tables."""
