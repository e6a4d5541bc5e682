"""What any implementation of the Capability Authority has to do, and the means to find out whether it does."""
