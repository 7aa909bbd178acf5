"""What the environment says of the way to a server: proxies, trusted certificates, how many connections."""

import ssl
import urllib.request
from ipaddress import ip_address
from urllib.parse import urlsplit

from generation.errors import UsageError

_OTHER_FILES = 100
"""That a run has open beside its connections: journal, rows, processes for the checks."""


def allow_connections(count: int) -> None:
    """Let this process hold `count` connections at a time; raises UsageError where the system does not."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    if hard != resource.RLIM_INFINITY and hard < wanted:
        most = f"at most {hard - _OTHER_FILES}" if hard > _OTHER_FILES else "fewer"
        raise UsageError(
            f"{count} calls at a time need {wanted} open files, and this system lets a process have {hard}: ask {most}"
            " at a time (--concurrency), or raise `ulimit -n`."
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_for(url: str) -> str | None:
    """The proxy for `url` by HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, as curl reads them; None is straight on.

    One that is given without a scheme is spoken to by HTTP. Raises UsageError for a scheme that aiohttp cannot speak,
    so that no call goes another way than the one that was asked for.
    """
    parts = urlsplit(url)
    if is_loopback(parts.hostname or "") or urllib.request.proxy_bypass(parts.netloc):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    scheme, mark, _ = proxy.partition("://")
    if not mark:
        return f"http://{proxy}"
    if scheme.lower() not in ("http", "https"):
        raise UsageError(
            f"The environment names a {scheme} proxy for {parts.hostname}, and only http and https proxies are spoken"
            f" to: set {parts.scheme.upper()}_PROXY to one, or put the host into NO_PROXY."
        )
    return proxy


def trusted() -> ssl.SSLContext:
    """TLS by the system's certificates, or by those in SSL_CERT_FILE and SSL_CERT_DIR."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
