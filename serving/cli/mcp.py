"""`nightwiki mcp`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from config.wiki import model_cache
from serving.cli.group import Example
from serving.cli.serve import needed_token, wiki_folders

PORT = 4211


@click.command(cls=Example, example="nightwiki mcp --print-config")
@click.option("--http", is_flag=True, help="Listen on a port, instead of standard input and output.")
@click.option("--host", default="127.0.0.1", help="With --http: where; another than loopback needs a token.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, help=f"With --http: default {PORT}.")
@click.option("--allow-host", "hosts", metavar="NAME", multiple=True, help="With --http: a name that others ask by.")
@click.option("--allow-writes", is_flag=True, help="Let agents start runs, and promote and discard candidates.")
@click.option("--print-config", is_flag=True, help="Print the entry for the client's settings, and end.")
@click.option("-w", "--wiki", "folders", metavar="DIR", multiple=True, help="The wiki; repeat it to serve several.")
@click.pass_context
def mcp(
    ctx: click.Context,
    http: bool,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    allow_writes: bool,
    print_config: bool,
    folders: tuple[str, ...],
) -> None:
    """Give agents tools to search, read and cite the wiki (Model Context Protocol).

    A client starts this command itself and talks over its standard input and output; with --http it listens at /mcp.
    """
    roots = wiki_folders(ctx, folders)
    if print_config:
        click.echo(json.dumps(_snippet(roots, allow_writes, http, host, port), indent=2, ensure_ascii=False))
        return
    if not http:
        _over_stdio(roots, allow_writes)
        return
    secret = needed_token(host)
    from serving.backend import Backend
    from serving.mcp import PATH
    from serving.mcp.run import http_app
    from serving.mcp.server import make_server
    from serving.rest.guard import rules_for
    from serving.rest.server import address, bind, serve

    backend = Backend(roots, model_cache())
    listening = bind(host, port)
    app = http_app(make_server(backend, allow_writes), rules_for(host, hosts, secret))
    place = f"{address(listening)}{PATH}"
    serve(app, listening, lambda: click.echo(f"Serving {', '.join(backend.names)} on {place}"))
    click.echo("Stopped.")


def _over_stdio(roots: list[Path], allow_writes: bool) -> None:
    import threading

    from serving.mcp.run import nothing_printed, serve_stdio

    with nothing_printed():
        from serving.backend import Backend
        from serving.mcp.server import make_server

        backend = Backend(roots, model_cache())
        server = make_server(backend, allow_writes)
    threading.Thread(target=backend.warm_quietly, name="warm", daemon=True).start()
    serve_stdio(server)


def _snippet(
    roots: list[Path], allow_writes: bool, http: bool, host: str, port: int
) -> dict[str, dict[str, dict[str, object]]]:
    """What the common clients have in their `mcpServers`."""
    from serving.mcp import PATH

    name = f"nightwiki-{roots[0].resolve().name}" if len(roots) == 1 else "nightwiki"
    if http:
        return {"mcpServers": {name: {"type": "http", "url": f"http://{host}:{port}{PATH}"}}}
    wikis = [word for root in roots for word in ("-w", str(root.expanduser().resolve()))]
    arguments = ["-P", "-m", "serving.cli", "mcp", *wikis, *(["--allow-writes"] if allow_writes else [])]
    return {"mcpServers": {name: {"command": sys.executable, "args": arguments}}}
