"""The experiments' files, a folder for each paper."""
