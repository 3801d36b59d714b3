"""The summaries of the last full runs, one file each."""
