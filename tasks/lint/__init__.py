"""What is wrong with a wiki's content: one check a module, a registry of them, and the repairs that are safe."""
