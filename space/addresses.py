"""Which addresses a page that is open to everybody calls for its visitors: those of the open internet, and no other."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from generation.errors import UsageError

Address = IPv4Address | IPv6Address
_LAST_FOUR_BYTES = (IPv6Network("::/96"), IPv6Network("64:ff9b::/96"))  # IPv4-compatible; NAT64 (RFC 6052)


def admit(host: str, addresses: Sequence[str]) -> None:
    """Raises UsageError unless every address that `host` stands for is public; see `client.wire.Admit`.

    An IPv6 address that carries an IPv4 address is as public as what it carries.
    """
    if not all(_is_public(part) for address in addresses for part in _parts(address)):
        raise UsageError(f"{host} is a private address, which this public page does not call: use a public server.")


def _is_public(address: Address) -> bool:
    return address.is_global and not address.is_multicast


def _parts(text: str) -> Iterator[Address]:
    """The address, and those that it leads on to."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv4Address):
        yield address
        return
    carried = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in _LAST_FOUR_BYTES):
        carried.append(IPv4Address(address.packed[-4:]))
    yield from (found for found in carried if found)
    if not address.ipv4_mapped:  # which is never global itself
        yield address
