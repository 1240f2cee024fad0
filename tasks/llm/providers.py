"""Models behind an HTTP interface, through pydantic-ai: Anthropic, OpenAI, Gemini, and whatever speaks like OpenAI.

Only the wire is here. No tool is ever offered to a model, and what the libraries raise becomes one of our few kinds of
failure, in words without keys.
"""

from __future__ import annotations

import contextlib
import importlib.util
import queue
import ssl
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from config.errors import MissingExtraError, ModelError
from config.models import COMPATIBLE, ModelName
from config.secrets import redact
from config.settings import Settings
from tasks.llm import loop
from tasks.llm.ask import Kind
from tasks.llm.backend import Call, CallFailed, Completion
from tasks.llm.keys import Key, find_key, how_to_give
from tasks.llm.prices import is_local
from tasks.llm.web import PackedReply, ReplyTooLarge, make_client, quieten

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_EXTRAS = {"anthropic": "anthropic", "openai": "openai", "google": "google", COMPATIBLE: "openai"}
_PACKAGES = {"anthropic": "anthropic", "openai": "openai", "google": "google.genai", COMPATIBLE: "openai"}
_NO_KEY_NEEDED = "no-key"  # a local server wants none, its client insists on one


class ProviderBackend:
    """One model of one provider."""

    def __init__(self, name: ModelName, settings: Settings) -> None:
        require_extra(name)
        self.name = name
        self._settings = settings
        self._key = key_for(name, settings)
        self._http = make_client(settings, _address(name, settings), settings.endpoint.timeout_seconds)
        self._model = _model(name, settings, self._key, self._http)
        quieten()  # once more: the library has been loaded by now, and may have turned its own log up
        self._native = True  # whether the server holds the model to a schema; unlearnt when it refuses one

    def complete(self, call: Call) -> Completion:
        """The reply to a call. Raises CallFailed."""
        native = self._native and call.schema is not None
        try:
            return self._complete(call, native)
        except CallFailed as failed:
            if not native or failed.kind is not Kind.REFUSED or failed.final:
                raise
            # The server does not take a schema, or not this one: from now on the form is asked for in words alone.
            self._native = False
            failed.otherwise = True
            raise

    def stream(self, call: Call) -> Iterator[str]:
        """The reply's text as it comes. Raises CallFailed, also in the middle."""
        pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        work = loop.submit(self._streamed(call, pieces))
        work.add_done_callback(lambda _: pieces.put(None))
        try:
            while (piece := pieces.get()) is not None:
                yield piece
            self._finished(work)
        finally:
            work.cancel()

    def close(self) -> None:
        """Close the connections."""
        loop.wait_for(self._http.aclose())

    def _complete(self, call: Call, native: bool) -> Completion:
        from pydantic_ai.direct import model_request

        messages, options, form = self._request(call, native)
        work = loop.submit(
            model_request(self._model, messages, model_settings=options, model_request_parameters=form)
        )
        try:
            response = self._finished(work)
        finally:
            work.cancel()
        return self._completion(response)

    def _finished(self, work: Future[Any]) -> Any:
        """The result of work on the loop. What was raised there is told anew, without its context: it may hold keys."""
        try:
            return work.result()
        except Exception as error:
            failed = failure(error, self.name, (self._key.value,), self._settings)
        raise failed

    async def _streamed(self, call: Call, pieces: queue.SimpleQueue[str | None]) -> None:
        from pydantic_ai.direct import model_request_stream

        messages, options, form = self._request(call, False)
        async with model_request_stream(
            self._model, messages, model_settings=options, model_request_parameters=form
        ) as response:
            async with contextlib.aclosing(_texts(response)) as texts:
                async for piece in texts:
                    pieces.put(piece)
            if response.finish_reason == "length":
                raise CallFailed(Kind.TRUNCATED, "the reply was cut off at its greatest length", charged=True)

    def _request(self, call: Call, native: bool) -> tuple[list[ModelMessage], ModelSettings, ModelRequestParameters]:
        from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.settings import ModelSettings

        messages: list[ModelMessage] = [
            ModelRequest(parts=[UserPromptPart(content=call.question)], instructions=call.system)
        ]
        for turn in call.turns:
            messages.append(ModelResponse(parts=[TextPart(content=turn.reply)]))
            messages.append(ModelRequest(parts=[UserPromptPart(content=turn.answer)], instructions=call.system))
        options = ModelSettings(max_tokens=call.max_output_tokens, request_timeout=call.seconds, max_retries=0)
        if self.name.provider == COMPATIBLE:
            options["temperature"] = 0.0
        form = ModelRequestParameters()
        if native and call.schema is not None:
            wanted = OutputObjectDefinition(json_schema=call.schema, name="reply")
            form = ModelRequestParameters(output_mode="native", output_object=wanted, allow_text_output=True)
        return messages, options, form

    def _completion(self, response: ModelResponse) -> Completion:
        if response.finish_reason == "content_filter":
            raise CallFailed(Kind.REFUSED, "the provider's content filter held the reply back", charged=True)
        used = response.usage
        return Completion(
            response.text or "", response.finish_reason == "length", used.input_tokens, used.output_tokens
        )


def require_extra(name: ModelName) -> None:
    """Raise MissingExtraError, which names the extra, when a provider's library is not installed."""
    extra = _EXTRAS[name.provider]
    for package in ("pydantic_ai", _PACKAGES[name.provider].partition(".")[0], _PACKAGES[name.provider]):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(
                name.full, "its library is not installed", f"Install it with: pip install 'nightwiki[{extra}]'"
            )


def key_for(name: ModelName, settings: Settings) -> Key:
    """The key for a model. Raises ModelError when one is needed and none is found."""
    key = find_key(name.provider, _variable(name, settings))
    if key.value or is_local(name, settings):
        return key
    step = how_to_give(name.provider, _variable(name, settings))
    raise ModelError(Kind.REFUSED, "there is no key for it", name.full, step)


def failure(error: BaseException, name: ModelName, keys: tuple[str, ...], settings: Settings) -> CallFailed:
    """What a library raised, as one of our kinds."""
    from pydantic_ai import exceptions as ai

    if isinstance(error, CallFailed):
        return error
    chain = list(_chain(error))
    told = redact(_told(error), keys)
    limit = settings.endpoint.timeout_seconds
    for one in chain:
        if isinstance(one, ReplyTooLarge):
            return CallFailed(Kind.INVALID, f"the reply is larger than {one}", charged=True)
        if isinstance(one, PackedReply):
            return CallFailed(Kind.INVALID, f"the reply came packed ({one}), which was declined", charged=True)
        if isinstance(one, ssl.SSLCertVerificationError):
            return CallFailed(Kind.UNAVAILABLE, f"the server's certificate is not trusted ({one.verify_message})",
                              "Check endpoint.base_url, and the machine's certificates.", final=True)
    wait = _wait(error)
    match error:
        case ai.ModelQuotaExceededError():
            return CallFailed(Kind.BUDGET, f"the provider wants payment first ({told})",
                              "Top up the account, or name another model.", final=True)
        case ai.ModelRateLimitError():
            return CallFailed(Kind.UNAVAILABLE, f"the provider's rate limit is reached ({told})",
                              "Lower endpoint.requests_per_minute or endpoint.concurrent.", passing=True, wait=wait)
        case ai.ModelRequestTimeout() | ai.ModelTimeoutError():
            return CallFailed(Kind.TIMED_OUT, f"there was no whole reply within {limit:g} s",
                              "Raise endpoint.timeout_seconds, or look whether the model hangs.", passing=True,
                              wait=wait, charged=True)
        case ai.ModelConnectionError():
            return CallFailed(Kind.UNAVAILABLE, f"it cannot be reached ({_root(chain, keys)})",
                              "Is the server running, and endpoint.base_url right?", passing=True)
        case ai.ModelContextWindowExceededError():
            return CallFailed(Kind.TRUNCATED, "the question is longer than the model can take")
        case ai.ModelAuthenticationError():
            return CallFailed(Kind.REFUSED, f"the key is not accepted ({told})",
                              how_to_give(name.provider, _variable(name, settings)), final=True)
        case ai.ModelNotFoundError():
            return CallFailed(Kind.REFUSED, f"there is no such model or address ({told})",
                              "Check `model` and endpoint.base_url.", final=True)
        case ai.ModelHTTPError(status_code=code) if code >= 500 or code in (408, 409, 425):
            return CallFailed(Kind.UNAVAILABLE, f"the server failed ({told})", passing=True, wait=wait)
        case ai.ModelServerError() | ai.ModelUnavailableError():
            return CallFailed(Kind.UNAVAILABLE, f"the server failed ({told})", passing=True, wait=wait)
        case ai.ContentFilterError():
            return CallFailed(Kind.REFUSED, "the provider's content filter held the reply back", charged=True)
        case ai.ModelRequestRejectedError() | ai.ModelHTTPError():
            return CallFailed(Kind.REFUSED, f"the provider refused the question ({told})")
        case ai.ModelAPIError() | ai.UnexpectedModelBehavior():
            return CallFailed(Kind.INVALID, f"the answer is not that of a model ({told})", charged=True)
    return CallFailed(Kind.INVALID, f"the answer cannot be understood ({type(error).__name__}: {told})", charged=True)


def _wait(error: BaseException) -> float | None:
    """Seconds that the provider asks to wait, also as a fraction, which the library does not read."""
    from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

    if not isinstance(error, ModelAPIError) or error.retry_after is not None:
        return error.retry_after if isinstance(error, ModelAPIError) else None
    told = (error.headers or {}).get("retry-after", "") if isinstance(error, ModelHTTPError) else ""
    with contextlib.suppress(ValueError):
        seconds = float(told.strip().removesuffix("s"))
        return seconds if 0 <= seconds < float("inf") else None
    return None


def _address(name: ModelName, settings: Settings) -> str:
    return settings.endpoint.base_url.rstrip("/") if name.provider == COMPATIBLE else ""


def _variable(name: ModelName, settings: Settings) -> str:
    """The variable that the settings name for the provider's key, if it is the one they name it for."""
    main = settings.model.partition(":")[0] or name.provider
    return settings.endpoint.key_variable if name.provider == main else ""


def _model(name: ModelName, settings: Settings, key: Key, http: httpx2.AsyncClient) -> Model[Any]:
    address = _address(name, settings) or None
    if name.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(
            name.name, provider=AnthropicProvider(api_key=key.value, base_url=address, http_client=http)
        )
    if name.provider == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(name.name, provider=GoogleProvider(api_key=key.value, base_url=address, http_client=http))
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=address, api_key=key.value or _NO_KEY_NEEDED, http_client=http)
    if name.provider != COMPATIBLE:
        return OpenAIChatModel(name.name, provider=provider)
    plain = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    return OpenAIChatModel(name.name or "default", provider=provider, profile=plain)


async def _texts(response: Any) -> AsyncGenerator[str, None]:
    """The pieces of text of a stream."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    async for event in response:
        if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart) and event.part.content:
            yield event.part.content
        elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
            yield event.delta.content_delta


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _told(error: BaseException) -> str:
    """What the provider said, without the shell that the libraries put around it."""
    from pydantic_ai.exceptions import ModelHTTPError

    if not isinstance(error, ModelHTTPError):
        return _first_line(error)
    body: object = error.body
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    said = body.get("message") if isinstance(body, dict) else body
    words = " ".join(str(said or "").split())[:300]
    return f"{error.status_code}: {words}" if words else f"status {error.status_code}"


def _first_line(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return " ".join(text.split())[:300]


def _root(chain: list[BaseException], keys: tuple[str, ...]) -> str:
    return redact(_first_line(chain[-1]), keys)
