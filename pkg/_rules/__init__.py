"""What Python values, containers, keywords and errors mean, defined in one place for all backends."""
