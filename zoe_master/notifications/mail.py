"""Send mail to the server of the site."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import unquote, urlsplit

from zoe_lib.domain.executions.notifications import TargetRefused, mail_address
from zoe_master.notifications.webhook import NotDelivered

_TIMEOUT_S = 20.0
_PORTS = {"smtp": 25, "smtps": 465}
_PERMANENT = range(500, 600)


@dataclass(frozen=True, slots=True)
class NotificationMail:
    """The mail server of `smtp_url`; mail goes to these domains only."""

    url: str = field(repr=False)
    sender: str
    domains: Sequence[str]


def send(server: NotificationMail, to: str, message_id: str, subject: str, text: str) -> None:
    """Send one mail to the address of a `mailto:` URL; NotDelivered if the server refused it.

    `message_id` is the same whenever the same mail is sent again, so that mailboxes can drop duplicates.
    """
    try:
        address = mail_address(to, server.domains)
    except TargetRefused as error:
        raise NotDelivered(str(error)) from None
    try:
        _deliver(server, message(server.sender, address, message_id, subject, text))
    except smtplib.SMTPRecipientsRefused as error:
        code, said = next(iter(error.recipients.values()))
        raise NotDelivered(f"the mail server refuses {address}: {_words(said)}", for_good=code in _PERMANENT) from None
    except smtplib.SMTPResponseException as error:
        raise NotDelivered(f"the mail server answered {error.smtp_code}: {_words(error.smtp_error)}") from None
    except (smtplib.SMTPException, OSError) as error:
        raise NotDelivered(f"the mail server did not take it: {error}") from None


def message(sender: str, address: str, message_id: str, subject: str, text: str) -> EmailMessage:
    """Return a mail. ValueError for a subject of several lines."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, address, subject
    mail["Date"], mail["Message-ID"] = formatdate(), f"<{message_id}@{sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic replies
    mail.set_content(text)
    return mail


def _deliver(server: NotificationMail, mail: EmailMessage) -> None:
    parts = urlsplit(server.url)
    host, port = parts.hostname or "localhost", parts.port or _PORTS[parts.scheme]
    context = ssl.create_default_context()
    if parts.scheme == "smtps":
        client: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=_TIMEOUT_S, context=context)
    else:
        client = smtplib.SMTP(host, port, timeout=_TIMEOUT_S)
    with client:
        client.ehlo()
        if parts.scheme == "smtp" and client.has_extn("starttls"):
            client.starttls(context=context)
            client.ehlo()
        if parts.username:
            client.login(unquote(parts.username), unquote(parts.password or ""))
        client.send_message(mail)


def _words(said: bytes | str) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said
