"""Takes the steps of cases, and judges what is answered."""
