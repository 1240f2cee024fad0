"""What Prefect's console shows and does: steps as tasks, artifacts, end states, deployments, schedules, automations.

With `flows.deployed`, the modules of this folder are the only ones that import Prefect.
"""
