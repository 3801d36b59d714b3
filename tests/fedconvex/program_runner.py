"""Programs that run in processes of their own."""

import os
import subprocess
import sys


def ran(program: str, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program's end, with these words and these changes of the environment."""
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def printed(program: str, *words: object, **environment: str) -> str:
    """Standard output of a program that ends well."""
    done = ran(program, *words, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
