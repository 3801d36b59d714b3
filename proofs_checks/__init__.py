"""Whether the promises of `fedconvex.theory` hold: one module per paper, named as there, and the engines that check."""
