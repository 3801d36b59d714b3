"""`python -m fedconvex …` is `fedconvex …`."""

from fedconvex.cli import main

if __name__ == "__main__":
    main()
