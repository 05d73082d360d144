// A browser starts no worker for a page opened from the disk. There, the search runs in a hidden
// frame instead, which offers what the site uses of a Worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.document.open();
      inner.document.write("<!doctype html><html><head></head><body></body></html>");
      inner.document.close();
      inner.postMessage = undefined;
      inner.self = inner;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...urls) =>
        urls.reduce((before, one) => before.then(() => load(inner, one)), Promise.resolve());
      this.ready = load(inner, url);
    }

    postMessage(data) {
      this.ready.then(() =>
        this.frame.contentWindow.dispatchEvent(
          new this.frame.contentWindow.MessageEvent("message", { data }),
        ),
      );
    }

    set onmessage(handler) {
      this.addEventListener("message", handler);
    }

    terminate() {
      this.frame.remove();
    }
  };

  const load = (inner, url) =>
    new Promise((resolve, reject) => {
      const script = inner.document.createElement("script");
      script.src = new URL(url, location.href);
      script.onload = resolve;
      script.onerror = () => reject(new Error(`cannot load ${url}`));
      inner.document.body.append(script);
    });
}
