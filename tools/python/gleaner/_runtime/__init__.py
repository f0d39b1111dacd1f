"""The programs of a bundle: kernel, manager and what they share, which travels as it stands here."""
