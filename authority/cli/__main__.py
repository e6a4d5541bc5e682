"""`python -m authority.cli`."""

from authority.cli import main

if __name__ == "__main__":
    main()
