"""`python -m generation` is the `craqan` command."""

from generation.running.interrupts import guarded


def main() -> None:
    """The command, guarded from before its modules are read, which takes most of its first second."""
    guarded(_command)


def _command() -> None:
    from generation.cli import main as command

    command()


if __name__ == "__main__":
    main()
