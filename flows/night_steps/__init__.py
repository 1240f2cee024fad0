"""The steps of a night, in the order in which `flows.night` takes them."""
