"""`fedconvex bounds` run in this process, common arguments, and FedProx's Theorem 4 in 50 digits."""

import mpmath
from typer.testing import CliRunner

from fedconvex.commands import main as cli

OTHERS = ["--L", "1", "--L-minus", "0", "--B", "1.2", "--gamma", "0"]
GIVEN = [*OTHERS, "--K", "10"]


def rho(mu, L=1, L_minus=0, B="1.2", gamma=0, K=10):
    """Theorem 4 of the FedProx paper, written down again, with 50 digits."""
    with mpmath.workdps(50):
        mu, L, lm, B, g, K = (mpmath.mpf(v) for v in (mu, L, L_minus, B, gamma, K))
        bar, root = mu - lm, mpmath.sqrt(K)
        return (
            1 / mu - g * B / mu - B * (1 + g) * mpmath.sqrt(2) / (bar * root) - L * B * (1 + g) / (bar * mu)
            - L * (1 + g) ** 2 * B**2 / (2 * bar**2)
            - L * B**2 * (1 + g) ** 2 * (2 * mpmath.sqrt(2 * K) + 2) / (bar**2 * K)
        )  # fmt: skip


def invoke(*arguments):
    """What the command printed on standard output; it must succeed."""
    result = CliRunner().invoke(cli.app, ["bounds", *map(str, arguments)])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout
