"""The proof asked of files and settings: who reads, a reader without a model, and `craqan prove`."""
