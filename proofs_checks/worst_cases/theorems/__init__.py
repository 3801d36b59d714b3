"""From worst cases at many parameter values to a formula with a proof for all parameters in a domain."""
