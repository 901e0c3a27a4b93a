"""What a study asks for: configuration read, checked and resolved."""
