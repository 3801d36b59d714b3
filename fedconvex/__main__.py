"""`python -m fedconvex …` is `fedconvex …`."""

from fedconvex.commands.main import main

if __name__ == "__main__":
    main()
