"""Dtypes, promotion, constants and namespace inspection."""
