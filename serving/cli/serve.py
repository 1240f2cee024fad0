"""`nightwiki serve`."""

from __future__ import annotations

from pathlib import Path

import click

from config.errors import NightwikiError
from config.wiki import find_wiki, model_cache
from serving.cli.common import named_wikis
from serving.cli.group import Example

PORT = 4210


@click.command(cls=Example, example="nightwiki serve --port 4210")
@click.option("--host", default="127.0.0.1", help="Address to listen on; another than loopback needs a token.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, help=f"Default {PORT}; 0 takes a free one.")
@click.option("--allow-host", "hosts", metavar="NAME", multiple=True, help="A name by which others ask this machine.")
@click.option("--read-only", is_flag=True, help="No promoting and discarding.")
@click.option("--new-token", is_flag=True, help="Write a new token into a file of yours, and end.")
@click.option("-w", "--wiki", "folders", metavar="DIR", multiple=True, help="The wiki; repeat it to serve several.")
@click.pass_context
def serve(
    ctx: click.Context,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    read_only: bool,
    new_token: bool,
    folders: tuple[str, ...],
) -> None:
    """Answer over HTTP, for programs and agents, until Ctrl-C.

    The token that --host needs is taken from NIGHTWIKI_TOKEN, the keyring (service nightwiki, user token), or a
    file that only you may read, which --new-token writes.
    """
    from serving import token

    if new_token:
        click.echo(f"A new token is in {token.make_token()}")
        return
    secret = needed_token(host)
    from serving.backend import Backend
    from serving.rest.app import Limits, make_app
    from serving.rest.guard import rules_for
    from serving.rest.memory import settle
    from serving.rest.server import address, bind, serve

    backend = Backend(wiki_folders(ctx, folders), model_cache())
    listening = bind(host, port)
    limits = Limits(read_only=read_only, rules=rules_for(host, hosts, secret))
    place = address(listening)

    def ready() -> None:
        click.echo(f"Serving {', '.join(backend.names)} on {place} (described in {place}/openapi.json)")
        for one in backend.health().degraded:
            click.echo(f"{one.what}: {one.reason}. {one.next_step}", err=True)

    serve(make_app(backend, limits, settle), listening, ready)
    click.echo("Stopped.")


def wiki_folders(ctx: click.Context, folders: tuple[str, ...]) -> list[Path]:
    """The folders to serve: those named, also before the command, else the one wiki that any command would take."""
    folders = folders or named_wikis(ctx)
    if len(folders) > 1:
        return [Path(folder) for folder in folders]
    return [find_wiki(folders[0] if folders else None).root]


def needed_token(host: str) -> str:
    """The token for listening on `host`; '' on loopback. Raises NightwikiError when there is none elsewhere."""
    from serving import token
    from serving.rest.guard import is_loopback

    if is_loopback(host):
        return ""
    secret = token.find_token()
    if not secret:
        cause = "listening where others can reach it needs a token, and there is none"
        raise NightwikiError(f"--host {host}", cause, f"Set {token.VARIABLE}, or run: nightwiki serve --new-token")
    return secret
