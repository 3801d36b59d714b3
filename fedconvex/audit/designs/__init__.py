"""The parameters that a recommendation designs for the data, on the quadratic model at the minimiser."""
