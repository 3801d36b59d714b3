"""Exact instances that attain a lower bound: federations of quadratics that are simulated, or feasible Gram matrices."""
