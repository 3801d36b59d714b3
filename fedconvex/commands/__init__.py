"""The command line `fedconvex`, one module for each command; `main` lists them.

A command checks its arguments, calls the package and prints. It imports what it needs in its function, so that `--help`
stays fast; no other part of the package imports a command. `errors` turns exceptions into messages and exit statuses,
`output_files` and `terminal` hold what commands share.
"""
