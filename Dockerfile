# syntax=docker/dockerfile:1
# Debian, because some of what the search needs is not made for Alpine.
FROM python:3.13-slim AS build

WORKDIR /source
COPY . .
RUN python -m venv /opt/turnleaf
RUN /opt/turnleaf/bin/pip install --no-cache-dir ".[embeddings,mcp,postgres,server,tokens]"

FROM python:3.13-slim

COPY --from=build /opt/turnleaf /opt/turnleaf
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data turnleaf \
  && install --directory --mode 0700 --owner turnleaf --group turnleaf /data

ENV PATH=/opt/turnleaf/bin:$PATH
ENV PYTHONUNBUFFERED=1
ENV HOME=/data
ENV TURNLEAF_DATA_DIR=/data

USER 10001:10001
VOLUME /data
EXPOSE 8793

# Without curl, and past any proxy that the environment names.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "from http.client import HTTPConnection as C; c = C('127.0.0.1', 8793, timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]

# In a container everybody is elsewhere, so there is always a token: from this file, which is a secret.
CMD ["turnleaf", "serve", "--host", "0.0.0.0", "--port", "8793", "--token-file", "/run/secrets/turnleaf_token", "--log-format", "json"]
