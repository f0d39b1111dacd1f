// Exists to own the precompiled test header.
