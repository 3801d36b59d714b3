"""Federated Learning Based on Dynamic Regularization (FedDyn): its formulas, transcribed from the text for mpmath.

The transcription shares nothing with the calculators it is compared with. Every function is the right-hand side as
printed, also where the printed formula is loose or unclear; the comments say where. Distances, moves and gradients are
(expectations of) squared norms. Vectors may be numbers or anything that adds and scales entrywise.

One module per part of the paper; each says of its statements the right side, the left side where that is a formula,
and the page, and has the constants of its proofs.
"""

from . import algorithm, convex, nonconvex, one_gradient, strongly_convex
from .algorithm import rates as rates

PARTS = (algorithm, convex, strongly_convex, nonconvex, one_gradient)

RIGHT = {name: function for part in PARTS for name, function in part.RIGHT.items()}
LEFT = {name: function for part in PARTS for name, function in part.LEFT.items()}
CONSTANTS = {name: function for part in PARTS for name, function in part.CONSTANTS.items()}
PAGE = {name: page for part in PARTS for name, page in part.PAGE.items()}
