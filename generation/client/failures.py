"""Why no answer came, in one sentence that says what to do."""

import re
import socket
import ssl
from urllib.parse import urlsplit

from generation.client.environment import proxy_for
from generation.errors import CertificateError, ConnectError, ModelTimeoutError, UsageError

_LOGIN = re.compile(r"//[^/@\s]*@")
"""Name and password of a proxy in its address."""


def too_late(host: str, timeout: float) -> ModelTimeoutError:
    """No whole answer in time."""
    return ModelTimeoutError(
        f"{host} gave no whole answer within {timeout:g} s: raise the time-out or ask fewer calls at a time."
    )


def lost(url: str, detail: str, error: BaseException) -> ConnectError:
    """A connection that was not made or that broke; `detail` is what `error` says, without keys."""
    import aiohttp

    host = urlsplit(url).netloc.rpartition("@")[2]
    reason = _LOGIN.sub("//", one_line(detail))[:200] or type(error).__name__
    cause = getattr(error, "os_error", None) or error
    way = _way(url)
    if isinstance(cause, ssl.SSLCertVerificationError):
        why = one_line(getattr(error, "certificate_error", cause).verify_message)
        return CertificateError(
            f"The certificate of {host} is not trusted ({why}): put the file of the authority that signed it into"
            " SSL_CERT_FILE, or correct the address."
        )
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return ConnectError(
            f"No connection to {host}{way}: the proxy answered {error.status} {one_line(error.message)}."
        )
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ClientResponseError):
        return ConnectError(
            f"The answer of {host} broke off or is no HTTP ({reason}): try again later, or look at what is there."
        )
    if isinstance(cause, socket.gaierror):
        asked = "The proxy's name" if way else f"The name {urlsplit(url).hostname}"
        return ConnectError(f"{asked} leads to no address{way} ({reason}): is it spelt right, and this machine online?")
    return ConnectError(f"No connection to {host}{way} ({reason}): is the server running, and the address right?")


def _way(url: str) -> str:
    """The proxy that is in between, without what it is logged in to with."""
    try:
        proxy = proxy_for(url)
    except UsageError:  # a client of the caller's own may speak to it
        return ""
    return f" by way of the proxy {urlsplit(proxy).netloc.rpartition('@')[2]}" if proxy else ""


def one_line(text: str) -> str:
    """A foreign text on one line, control and format characters replaced."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))
