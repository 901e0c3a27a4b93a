"""What the public losses of `warlab.war` share."""
