"""What happens to every call, outermost first: its answer, its deadline, its proof; and to a stream its opening."""
