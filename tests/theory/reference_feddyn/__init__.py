"""Federated Learning Based on Dynamic Regularization (FedDyn): its formulas, transcribed from the text for mpmath.

The transcription shares nothing with the calculators it is compared with. Every function is the right-hand side as
printed, also where the printed formula is loose or unclear; the comments say where. Distances, moves and gradients are
(expectations of) squared norms. Vectors may be numbers or anything that adds and scales entrywise.

One module per part of the paper. Functions have the names of the statements, a left side's ends in _left, or those of
the calculators of the constants in the proofs.
"""

from .algorithm import *  # noqa: F403
from .convex import *  # noqa: F403
from .nonconvex import *  # noqa: F403
from .one_gradient import *  # noqa: F403
from .strongly_convex import *  # noqa: F403

PAGES = {
    4: "equation1 equation2 equation3",
    5: "theorem1",
    28: "equation4 equation5 equation6 equation7 equation8 equation9 theorem2",
    29: "lemma1 lemma2 lemma3",
    30: "lemma4 lemma5 lemma6 lemma7 equation10",
    32: "theorem3 lemma8 equation11",
    33: "theorem4 lemma9 equation12 equation13",
    34: "lemma10 lemma11 lemma12",
    35: "equation14",  # the display begins on page 34, its number and last line are on page 35
    37: "theorem5 lemma13 equation15 equation16",
    38: "lemma14 lemma15 lemma16 equation17 equation18",
    39: "lemma17 lemma18",
    40: "lemma19 lemma20",
    41: "lemma21 equation19 equation20",
}
