"""When the garbage collector runs in a command."""

import gc


def collect_rarely() -> None:
    """Makes the collector run rarely: imports and results make objects that stay, and scanning them takes a tenth of
    a short command's time.
    """
    gc.set_threshold(100_000, 50, 50)
