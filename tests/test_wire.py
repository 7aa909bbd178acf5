"""The thin HTTP path, against bytes that servers are known to send."""

import asyncio
import gzip
import ssl
import subprocess
from contextlib import asynccontextmanager

import pytest

from generation import errors
from generation.client import wire
from generation.client.loops import new_loop
from generation.client.transport import AiohttpTransport, Key
from generation.client.wire import WireTransport
from generation.llm import OpenAIChat, Request
from tests.model_server import ModelServer


def measured(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *lines, "", ""])
    return head.encode() + body


class Script:
    """Plays `pieces` to every request, in one go each; `None` closes. Counts connections and keeps the requests."""

    def __init__(self, *pieces: bytes | None) -> None:
        self.pieces = pieces
        self.connections = 0
        self.requests: list[bytes] = []

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(length))
                for piece in self.pieces:
                    if piece is None:
                        return
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0.01)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def served(script: Script, key: str = "", timeout: float = 5.0, tls: ssl.SSLContext | None = None):
    server = await asyncio.start_server(script.connected, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    scheme = "https" if tls else "http"
    transport = WireTransport(f"{scheme}://localhost:{port}/v1", Key(key), timeout)
    try:
        yield transport
    finally:
        await transport.aclose()
        server.close()


async def bodies(script: Script, times: int = 1, **settings) -> list[str]:
    async with served(script, **settings) as transport:
        return [(await transport.post({"n": n})).body for n in range(times)]


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "pieces",
    [
        (measured("é whole".encode()),),
        (measured("é whole".encode())[:20], measured("é whole".encode())[20:40], measured("é whole".encode())[40:]),
        (CHUNKED + b"3\r\n\xc3\xa9 \r\n", b"5\r\nwhole\r\n", b"0\r\n\r\n"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + measured("é whole".encode()),),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", measured("é whole".encode())),
        (b"HTTP/1.1 200 OK\r\n\r\n\xc3\xa9 whole", None),
        (b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n\xc3\xa9 ", b"whole", None),
        (measured(gzip.compress("é whole".encode()), "Content-Encoding: gzip"),),
    ],
    ids=[
        "whole",
        "torn",
        "chunked",
        "after a continue",
        "after hints",
        "until it closes",
        "HTTP/1.0",
        "packed unasked",
    ],
)
async def test_an_answer_is_read_whole_in_every_form_that_http_has(pieces):
    assert await bodies(Script(*pieces), times=2) == ["é whole", "é whole"]


async def test_a_connection_is_kept_and_used_again():
    script = Script(measured(b"ok"))
    assert await bodies(script, times=5) == ["ok"] * 5
    assert script.connections == 1


@pytest.mark.parametrize(
    "pieces",
    [(measured(b"ok", "Connection: close"),), (measured(b"ok") + measured(b"one too many"),)],
    ids=["told to close", "a second answer"],
)
async def test_a_connection_that_cannot_be_trusted_is_not_used_again(pieces):
    script = Script(*pieces)
    assert await bodies(script, times=3) == ["ok"] * 3
    assert script.connections == 3


@pytest.mark.parametrize(
    "pieces",
    [
        (None,),
        (measured(b"whole")[:-2], None),
        (CHUNKED + b"5\r\nwh", None),
        (b"SSH-2.0-OpenSSH_9.6\r\n",),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nxx",),
        (measured(b"no gzip at all", "Content-Encoding: gzip"),),
        (measured(gzip.compress(b"whole")[:-4], "Content-Encoding: gzip"),),
    ],
    ids=["nothing", "too short", "half a chunk", "no HTTP", "an upgrade", "not packed", "packed, in part"],
)
async def test_what_is_no_whole_answer_is_a_connect_error(pieces):
    async with served(Script(*pieces), timeout=2) as transport:
        with pytest.raises(errors.ConnectError):
            await transport.post({})


async def test_an_answer_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(wire, "MOST_BYTES", 10_000)
    async with served(Script(CHUNKED, *[b"3e8\r\n" + b"x" * 1000 + b"\r\n"] * 50)) as transport:
        with pytest.raises(errors.ConnectError, match="larger"):
            await transport.post({})
    bomb = measured(gzip.compress(b"x" * 1_000_000), "Content-Encoding: gzip")
    async with served(Script(bomb)) as transport:
        with pytest.raises(errors.ConnectError, match="unpacked"):
            await transport.post({})


async def test_a_time_out_drops_the_connection_and_its_late_answer():
    script = Script(b"HTTP/1.1 200 OK\r\n", *[b""] * 60, b"Content-Length: 2\r\n\r\nok")
    async with served(script, timeout=0.2) as transport:
        for _ in range(2):
            with pytest.raises(errors.ModelTimeoutError):
                await transport.post({})
        assert script.connections == 2


async def test_a_cancelled_call_does_not_leave_its_answer_to_the_next():
    script = Script(b"", b"", b"", measured(b"ok"))
    async with served(script) as transport:
        call = asyncio.create_task(transport.post({"n": 1}))
        await asyncio.sleep(0.02)
        call.cancel()
        assert (await transport.post({"n": 2})).body == "ok"
        assert script.connections == 2


async def test_the_request_names_host_key_and_length():
    script = Script(measured(b"{}"))
    async with served(script, key="sk-secret-123456") as transport:
        await transport.post({"a": "é"})
        host = transport.host
    head, _, body = script.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v1/chat/completions HTTP/1.1"
    assert f"Host: {host}" in lines and "Authorization: Bearer sk-secret-123456" in lines
    assert "Accept-Encoding: identity" in lines
    assert body == '{"a":"é"}'.encode()


def test_one_transport_serves_one_event_loop_after_the_other():
    with ModelServer(lambda _: "ok") as server:
        transport = WireTransport(server.url, Key(""), 5.0)
        for factory in (new_loop, asyncio.new_event_loop):
            with asyncio.Runner(loop_factory=factory) as runner:
                assert runner.run(transport.post({})).status == 200
        assert len(server.calls) == 2


async def test_tls_is_spoken_and_an_unknown_certificate_is_refused(tmp_path, monkeypatch):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    try:
        subprocess.run([*command.split(), "-out", certificate, "-keyout", key], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl, which makes the certificate, is not installed")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    with pytest.raises(errors.ConnectError, match=r"(?i)certificate"):
        await bodies(Script(measured(b"ok")), tls=tls)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    script = Script(measured(b"ok"))
    assert await bodies(script, times=3, tls=tls) == ["ok"] * 3
    assert script.connections == 1


async def test_a_proxy_that_the_environment_names_is_used(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    assert isinstance(OpenAIChat("m", "http://models.example/v1", "key")._transport, AiohttpTransport)
    direct = OpenAIChat("m", "http://127.0.0.1:9/v1", retries=0)
    assert isinstance(direct._transport, WireTransport)
    with pytest.raises(errors.ConnectError, match="127.0.0.1:9"):
        await direct(Request(({"role": "user", "content": "x"},)))
