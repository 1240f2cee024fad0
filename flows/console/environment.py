"""Has Prefect go by the environment as it is now; it reads it when it is imported, and perhaps it was already."""

from __future__ import annotations

from prefect.context import refresh_global_settings_context


def take_up_environment() -> None:
    """Settings from the environment variables of this moment are in force from here on."""
    refresh_global_settings_context()
