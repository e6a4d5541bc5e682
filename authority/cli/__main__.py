"""`python -m authority.cli`."""

from authority.cli.app import main

if __name__ == "__main__":
    main()
