"""Exact instances that attain a lower bound: simulated federations of quadratics, or feasible Gram matrices."""
