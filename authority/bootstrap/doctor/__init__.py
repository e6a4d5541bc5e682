"""What `authority doctor` looks at: each file looks at one thing and says what it found, with the remedy.

Nothing here changes anything, and no part that is away keeps another from being looked at.
"""
