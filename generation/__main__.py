"""`python -m generation` is the `craqan` command."""

from generation.cli import main

main()
