"""The long-running service, `nightwiki up`: its server, schedules and watchers, and how the system starts it."""
