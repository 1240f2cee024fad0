"""Settings, defaults, packaged data and the error hierarchy."""
