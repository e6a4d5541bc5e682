"""One file per verb: each tells its story top to bottom and reaches the world only through `ports`."""
