"""The MCP door: the tools by which agents search, read and cite the wikis of `serving.backend`."""

PATH = "/mcp"
"""Where it is found over HTTP."""
