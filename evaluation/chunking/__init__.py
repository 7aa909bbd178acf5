"""How documents are cut: one module for each family of chunkers, put together by name in `evaluation.chunkers`."""
