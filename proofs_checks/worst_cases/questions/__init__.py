"""The question posed: function class, sampling, symbolic rounds, and the quadratic forms of metric and hypotheses."""
