"""The JSON that commands and servers print, as typed models; `nightwiki schema COMMAND` prints their JSON Schemas.

Names and meanings stay; a change that readers could notice raises `schema_version`. One module a kind of command, so
that a question pays for no more than its own.
"""
