"""The HTTP API and the web page: one server over one data folder."""
