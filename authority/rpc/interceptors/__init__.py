"""What happens to every call, outermost first: its answer, its deadline, its proof."""
