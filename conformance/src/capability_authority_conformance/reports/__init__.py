"""What a run has shown: for people, for JUnit's readers, and as JSON."""
