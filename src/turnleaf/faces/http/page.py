"""The page's own files: the page at `/`, and the description of the API at `/docs`."""

from __future__ import annotations

import re
import secrets
from html import escape
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from turnleaf.errors import NotFound
from turnleaf.faces.http.access import FRAMES
from turnleaf.installation import advise_install

router = APIRouter(include_in_schema=False)

FOLDER = Path(__file__).parent / "page"
NONCE = "__NONCE__"
NONCE_BYTES = 16
FRESH = "no-cache"
FOR_EVER = "public, max-age=31536000, immutable"
READS = ("GET", "HEAD")
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""The types of the files that are served; no others are."""

_PART = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_NAME = re.compile(rf"{_PART}(?:/{_PART})*")

OWN = (
    "default-src 'none'; script-src 'self'; style-src 'self'{nonce}; img-src 'self' data:;"
    " connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none';"
    f" form-action 'none'; {FRAMES}"
)
"""What our pages may load and do; styles need the nonce of the response."""

NOT_BUILT = f"""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Turnleaf</title>
<h1>Turnleaf is running, without its page</h1>
<p>The page is built when Turnleaf is installed, and this copy has none. Run <code>make run</code>
in its source folder, or reinstall Turnleaf: {escape(advise_install("server", again=True))}.</p>
<p>The API works: see <a href="/docs">/docs</a> and
<a href="/openapi.json">/openapi.json</a>.</p>
<h1 lang="zh-TW">Turnleaf 正在執行，但沒有網頁</h1>
<p lang="zh-TW">網頁會在安裝時一併建置。請在原始碼資料夾執行 <code>make run</code>，或重新安裝。</p>
</html>
"""


@router.api_route("/", methods=[*READS])
def page() -> Response:
    """Return the page."""
    return html(FOLDER / "index.html")


@router.api_route("/docs", methods=[*READS])
def to_docs() -> Response:
    """Redirect to the folder of the API description."""
    return RedirectResponse("docs/", 308)


@router.api_route("/docs/", methods=[*READS])
def docs() -> Response:
    """Return the description of the API."""
    return html(FOLDER / "docs/index.html")


@router.api_route("/docs/{name:path}", methods=[*READS])
def docs_file(name: str, request: Request) -> Response:
    """Return a file of the description."""
    return file(FOLDER, f"docs/{name}", request, FRESH)


@router.api_route("/assets/{name:path}", methods=[*READS])
def asset(name: str, request: Request) -> Response:
    """Return a file whose name has a hash of its content, so that it never changes."""
    return file(FOLDER, f"assets/{name}", request, FOR_EVER)


@router.api_route("/early.js", methods=[*READS])
@router.api_route("/favicon.svg", methods=[*READS])
def root_file(request: Request) -> Response:
    """Return one of the files beside the page."""
    return file(FOLDER, request.url.path.removeprefix("/"), request, FRESH)


def html(path: Path) -> Response:
    """Return a page with a nonce of its own, or a notice that it was not built."""
    if not path.is_file():
        return HTMLResponse(NOT_BUILT)
    nonce = secrets.token_urlsafe(NONCE_BYTES)
    policy = OWN.format(nonce=f" 'nonce-{nonce}'")
    text = path.read_text("utf-8").replace(NONCE, nonce)
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


def file(folder: Path, name: str, request: Request, keeping: str) -> Response:
    """Return a file of a folder, compressed if the browser accepts that."""
    kind = TYPES.get(Path(name).suffix)
    if kind is None or not _NAME.fullmatch(name) or not (folder / name).is_file():
        message = "there is no such file; the page may have been updated, so reload it"
        raise NotFound(message)
    path, packed = _find_packed(folder / name, request)
    found = path.stat()
    headers = {
        "ETag": f'"{found.st_mtime_ns:x}-{found.st_size:x}{"-gz" if packed else ""}"',
        "Cache-Control": keeping,
        "Vary": "Accept-Encoding",
        **packed,
    }
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(path.read_bytes(), headers=headers, media_type=kind)


def _find_packed(path: Path, request: Request) -> tuple[Path, dict[str, str]]:
    beside = path.with_name(f"{path.name}.gz")
    if "gzip" in request.headers.get("accept-encoding", "") and beside.is_file():
        return beside, {"Content-Encoding": "gzip"}
    return path, {}
