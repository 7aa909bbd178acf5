"""How a server is reached, on real sockets: certificates, names, proxies, connections that a server closes."""

import asyncio
import ssl
import subprocess
from base64 import b64encode
from contextlib import asynccontextmanager

import pytest

from generation import errors
from generation.client.admission import Admission
from generation.client.transport import AiohttpTransport, Key, endpoint
from generation.client.wire import WireTransport
from generation.llm import OpenAIChat, Request
from tests.model_server import Canned, completion
from tests.proxy import Proxy
from tests.test_wire import Script, measured, served

KEY = "sk-secret-1234567890"
HELLO = Request(({"role": "user", "content": "hello"},))
ANSWER = measured(completion(Canned("hi"), "m").encode())


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """A certificate of our own for "models.example" and this machine: its file, and a server's TLS with it."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    names = "subjectAltName=DNS:localhost,DNS:models.example,IP:127.0.0.1,IP:::1"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext {names}"
    try:
        subprocess.run([*command.split(), "-out", certificate, "-keyout", key], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl, which makes the certificate, is not installed")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    return certificate, tls


@asynccontextmanager
async def listening(script, host="127.0.0.1", tls=None):
    server = await asyncio.start_server(script.connected, host, 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def asked(url, key=KEY, **settings):
    async with OpenAIChat("m", url, key, retries=0, timeout=3.0, **settings) as chat:
        return (await chat(HELLO)).text


# Certificates


@pytest.mark.parametrize("way", [WireTransport, AiohttpTransport])
async def test_a_certificate_that_is_not_trusted_is_one_sentence_that_says_what_to_do(way, signed):
    script = Script(ANSWER)
    async with listening(script, tls=signed[1]) as port:
        transport = way(f"https://localhost:{port}/v1", Key(KEY), 3.0)
        with pytest.raises(errors.CertificateError) as caught:
            await transport.post({})
        await transport.aclose()
    assert str(caught.value) == (
        f"The certificate of localhost:{port} is not trusted (self-signed certificate): put the file of the authority"
        " that signed it into SSL_CERT_FILE, or correct the address."
    )
    assert script.requests == []


@pytest.mark.parametrize("way", [WireTransport, AiohttpTransport])
async def test_a_certificate_in_ssl_cert_file_is_trusted(way, signed, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(signed[0]))
    async with listening(Script(measured(b"ok")), tls=signed[1]) as port:
        transport = way(f"https://localhost:{port}/v1", Key(KEY), 3.0)
        assert (await transport.post({})).body == "ok"
        await transport.aclose()


async def test_a_certificate_for_another_name_is_refused(signed, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(signed[0]))
    async with listening(Script(ANSWER), "127.0.0.2", tls=signed[1]) as port:
        with pytest.raises(errors.CertificateError, match="not trusted .*127.0.0.2"):
            await asked(f"https://127.0.0.2:{port}/v1")


async def test_a_certificate_that_is_not_trusted_stops_a_run_at_once(signed):
    async with listening(Script(ANSWER), tls=signed[1]) as port, asyncio.timeout(3):
        chat = OpenAIChat("m", f"https://localhost:{port}/v1", KEY, retries=0)
        with pytest.raises(errors.CircuitError, match="SSL_CERT_FILE"):
            await Admission(chat)(HELLO)
        await chat.aclose()


# Names and addresses


async def test_a_name_that_leads_nowhere_is_named():
    with pytest.raises(errors.ConnectError, match=r"^The name no-such-host\.invalid leads to no address"):
        await asked("http://no-such-host.invalid:8000/v1")


@pytest.mark.parametrize("is_tls", [False, True])
async def test_an_ipv6_address_is_reached(is_tls, signed, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(signed[0]))
    script = Script(ANSWER)
    try:
        async with listening(script, "::1", signed[1] if is_tls else None) as port:
            assert await asked(endpoint(f"http{'s' * is_tls}://[::1]:{port}/v1/")) == "hi"
    except OSError as error:
        pytest.skip(f"this machine has no IPv6 ({error})")
    assert f"\r\nHost: [::1]:{port}\r\n".encode() in script.requests[0]


# Proxies


async def test_an_https_call_passes_the_proxy_without_showing_it_the_key(signed, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(signed[0]))
    script = Script(ANSWER)
    async with listening(script, tls=signed[1]) as port, Proxy(port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        assert await asked("https://models.example/v1") == "hi"
    assert proxy.asked == ["CONNECT models.example:443 HTTP/1.1"]
    assert KEY.encode() in script.requests[0] and KEY.encode() not in proxy.seen
    assert b"authorization" not in proxy.seen.lower()


@pytest.mark.parametrize("scheme", ["http://", ""])
async def test_an_http_call_passes_the_proxy(scheme, monkeypatch):
    script = Script(ANSWER)
    async with listening(script) as port, Proxy(port) as proxy:
        monkeypatch.setenv("http_proxy", f"{scheme}127.0.0.1:{proxy.port}")
        assert await asked("http://models.example/v1") == "hi"
    assert proxy.asked == ["POST http://models.example/v1/chat/completions HTTP/1.1"]


async def test_a_proxy_is_logged_in_to_by_its_address(signed, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(signed[0]))
    login = "Basic " + b64encode(b"ann:pa55word").decode()
    async with listening(Script(ANSWER), tls=signed[1]) as port, Proxy(port, login) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://ann:pa55word@127.0.0.1:{proxy.port}")
        assert await asked("https://models.example/v1") == "hi"
        monkeypatch.setenv("HTTPS_PROXY", f"http://ann:wr0ngword@127.0.0.1:{proxy.port}")
        with pytest.raises(errors.ConnectError, match=r"proxy 127\.0\.0\.1:\d+: the proxy answered 407") as caught:
            await asked("https://models.example/v1")
    assert "wr0ngword" not in str(caught.value)


@pytest.mark.parametrize("around", ["models.invalid", "*", "other.example,.invalid"])
async def test_no_proxy_leads_straight_to_the_server(around, monkeypatch):
    async with Proxy(9) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", around)
        with pytest.raises(errors.ConnectError, match="The name models.invalid leads to no address"):
            await asked("https://models.invalid/v1")
    assert proxy.asked == []


async def test_this_machine_is_not_asked_for_by_way_of_a_proxy(monkeypatch):
    async with listening(Script(ANSWER)) as port, Proxy(port) as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        assert await asked(f"http://localhost:{port}/v1") == "hi"
    assert proxy.asked == []


async def test_a_proxy_that_is_not_there_is_named_without_its_password(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "http://ann:pa55word@127.0.0.1:9")
    with pytest.raises(errors.ConnectError, match=r"models\.example by way of the proxy 127\.0\.0\.1:9") as caught:
        await asked("https://models.example/v1")
    assert "pa55word" not in str(caught.value)


def test_a_proxy_that_cannot_be_spoken_to_is_refused_and_not_gone_around(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    with pytest.raises(errors.UsageError, match=r"socks5 proxy for models\.example.*HTTPS_PROXY"):
        OpenAIChat("m", "https://models.example/v1", KEY)


# Connections that a server closes


class Closing(Script):
    """Answers one request a connection as if it kept it, and closes it when the next one comes, or before."""

    def __init__(self, is_early: bool) -> None:
        super().__init__()
        self.is_early = is_early
        self.cut = 0

    async def connected(self, reader, writer):
        self.connections += 1
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]))
        self.requests.append(head)
        writer.write(ANSWER)
        await writer.drain()
        if not self.is_early:
            self.cut += bool(await reader.read(1))
        writer.close()


@pytest.mark.parametrize("is_early", [True, False], ids=["while it rests", "as the next call goes out"])
async def test_a_kept_connection_that_the_server_closes_costs_no_failure(is_early):
    script = Closing(is_early)
    async with served(script, timeout=3) as transport:
        for _ in range(5):
            assert (await transport.post({})).status == 200
            await asyncio.sleep(0.01)
    assert script.connections == 5 and len(script.requests) == 5
    assert script.cut == (0 if is_early else 4)


async def test_many_connections_that_were_closed_at_once_cost_no_failure():
    script = Closing(False)
    async with served(script, timeout=5) as transport:
        for _ in range(3):
            answers = await asyncio.gather(*(transport.post({}) for _ in range(20)))
            assert [a.status for a in answers] == [200] * 20
    assert len(script.requests) == 60


async def test_a_new_connection_that_breaks_is_a_failure_and_no_request_goes_out_unseen():
    script = Script(None)
    async with served(script, timeout=2) as transport:
        with pytest.raises(errors.ConnectError):
            await transport.post({})
    assert len(script.requests) == 1


class Breaking(Script):
    """Answers the first request of a connection, and breaks off `half` of an answer to the second, after `wait`."""

    def __init__(self, half: bytes, wait: float) -> None:
        super().__init__()
        self.half, self.wait = half, wait

    async def connected(self, reader, writer):
        for answer in (ANSWER, self.half):
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]))
            self.requests.append(head)
            await asyncio.sleep(self.wait if answer is self.half else 0)
            writer.write(answer)
            await writer.drain()
        writer.close()


@pytest.mark.parametrize(("half", "wait"), [(b"HTTP/1.1 200 OK\r\n", 0.0), (b"", 1.2)], ids=["half", "late"])
async def test_a_request_that_the_server_has_worked_on_is_not_sent_again_unseen(half, wait):
    script = Breaking(half, wait)
    async with served(script, timeout=4) as transport:
        await transport.post({})
        with pytest.raises(errors.ConnectError):
            await transport.post({})
    assert len(script.requests) == 2


async def test_half_a_head_and_then_silence_ends_with_the_time_out():
    script = Script(b"HTTP/1.1 200 OK\r\nContent-Le")
    async with served(script, timeout=0.3) as transport:
        started = asyncio.get_running_loop().time()
        with pytest.raises(errors.ModelTimeoutError, match=r"within 0\.3 s"):
            await transport.post({})
        assert asyncio.get_running_loop().time() - started < 30
    assert script.connections == 1
