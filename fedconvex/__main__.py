"""`python -m fedconvex …` is `fedconvex …`, which begins here."""

import signal
from types import FrameType


def main() -> None:
    """Run the command line, which Ctrl-C ends from its first imports on."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background, shells let it be ignored
        signal.signal(signal.SIGINT, interrupt)
    from fedconvex.commands.main import main as command_line

    command_line()


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; during an import, in which compiled libraries lose errors, end the process instead."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        frame = frame.f_back
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
