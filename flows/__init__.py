"""The order of the steps: the night, and the Prefect flows over it."""
