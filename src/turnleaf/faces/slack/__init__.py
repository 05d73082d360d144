"""The bot in Slack."""
