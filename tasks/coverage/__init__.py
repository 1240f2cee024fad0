"""Whether what is written says no more than the words it cites: told without a model, by looking."""
