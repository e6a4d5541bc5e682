"""Policy by Cedar: reading bundles, asking them, and the bundle that a new installation starts with."""
