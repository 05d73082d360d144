"""What Slack is told about the bot when it is set up."""

from __future__ import annotations

from typing import Any

SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "groups:history",
    "groups:read",
    "im:history",
    "mpim:history",
    "mpim:read",
    "users:read",
)
EVENTS = ("app_mention", "message.channels", "message.groups", "message.im", "message.mpim")

MANIFEST: dict[str, Any] = {
    "display_information": {
        "name": "Turnleaf",
        "description": "An assistant with a memory that you can read",
    },
    "features": {
        "app_home": {
            "home_tab_enabled": False,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": False,
        },
        "bot_user": {"display_name": "Turnleaf", "always_online": False},
    },
    "oauth_config": {"scopes": {"bot": list(SCOPES)}},
    "settings": {
        "event_subscriptions": {"bot_events": list(EVENTS)},
        "interactivity": {"is_enabled": True},
        "org_deploy_enabled": False,
        "socket_mode_enabled": True,
        "token_rotation_enabled": False,
    },
}
