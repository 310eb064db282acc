"""Settings of notifications: webhooks and mail."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Self

from pydantic import Field, SecretStr, field_validator, model_validator

from zoe_lib.settings.file_settings import FileSettings


class NotificationSettings(FileSettings):
    """Allowed targets of notifications, and the mail server."""

    webhook_networks: list[str] = Field(
        default=[],
        description="Networks of the site that webhooks may reach, such as `10.1.0.0/16`, also without TLS; other "
        "targets must be public and speak HTTPS.",
    )
    smtp_url: SecretStr | None = Field(
        default=None,
        description="Mail server: smtp://HOST:25 or smtps://HOST:465, with USER:PASSWORD@ before HOST if it "
        "requires them; smtp:// uses STARTTLS if the server offers it.",
    )
    mail_from: str = Field(default="zoe@localhost", max_length=320, description="Sender of mail.")
    mail_domains: list[str] = Field(
        default=[], description="Domains that mail goes to, such as `example.org`; none: no mail is sent."
    )
    notification_retry_s: float = Field(
        default=3 * 86400.0, gt=0, description="How long to try a target that does not answer, before it is stopped."
    )
    notification_targets_max: int = Field(
        default=20, gt=0, description="Maximum targets of notifications of a user in a tenant, and of a tenant."
    )

    @field_validator("webhook_networks")
    @classmethod
    def _check_webhook_networks(cls, networks: list[str]) -> list[str]:
        for network in networks:
            ip_network(network)
        return networks

    @field_validator("smtp_url")
    @classmethod
    def _check_smtp_url(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not url.get_secret_value().startswith(("smtp://", "smtps://")):
            raise ValueError("write smtp://HOST:PORT or smtps://HOST:PORT")
        return url

    @model_validator(mode="after")
    def _check_mail(self) -> Self:
        if self.mail_domains and self.smtp_url is None:
            raise ValueError("mail_domains need smtp_url, the server that takes the mail")
        return self
