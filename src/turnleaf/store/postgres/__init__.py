"""Everything of many spaces in one PostgreSQL database."""
