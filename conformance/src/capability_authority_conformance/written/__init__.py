"""What is written down: suites, procedures, known-failing lists; read strictly, and linted before anything is asked."""
