import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type ProxyOptions } from "vite";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = resolve(HERE, "../src/turnleaf/faces/http/page");
const FIRST_CHUNK_LIMIT = 150_000;
const WORTH_PACKING = 1_000;

/** Puts the files of the API's description page beside ours. */
function apiDescription(): Plugin {
  return {
    name: "api-description",
    apply: "build",
    closeBundle() {
      const from = join(HERE, "node_modules/swagger-ui-dist");
      const to = join(OUT, "docs");
      mkdirSync(to, { recursive: true });
      for (const name of ["swagger-ui.css", "swagger-ui-bundle.js", "LICENSE", "NOTICE"]) {
        copyFileSync(join(from, name), join(to, name));
      }
    },
  };
}

/** Packs what is worth it, so that the server need not. */
function packed(): Plugin {
  return {
    name: "packed",
    apply: "build",
    closeBundle() {
      for (const name of readdirSync(OUT, { recursive: true, encoding: "utf-8" })) {
        if (!/\.(js|css)$/.test(name)) continue;
        const small = gzipSync(readFileSync(join(OUT, name)), { level: 9 });
        if (small.length > WORTH_PACKING) writeFileSync(join(OUT, `${name}.gz`), small);
      }
    },
  };
}

/** Prints what the browser loads first, and refuses to build a page that has become heavy. */
function firstChunk(): Plugin {
  return {
    name: "first-chunk",
    apply: "build",
    closeBundle() {
      const html = readFileSync(join(OUT, "index.html"), "utf-8");
      const names = [...html.matchAll(/(?:src|href)="\.\/([^"]+\.js)"/g)].map((match) => match[1]!);
      const sizes = names.map((name) => gzipSync(readFileSync(join(OUT, name))).length);
      const total = sizes.reduce((sum, size) => sum + size, 0);
      console.log(`first chunk: ${(total / 1000).toFixed(1)} kB gzip of ${FIRST_CHUNK_LIMIT / 1000}`);
      if (total > FIRST_CHUNK_LIMIT) throw new Error("the first chunk is too large: load more of it later");
    },
  };
}

/** `turnleaf serve`, for `npm run dev`; it refuses what does not come from its own page. */
const running: ProxyOptions = {
  target: "http://127.0.0.1:8793",
  changeOrigin: true,
  configure: (proxy) => proxy.on("proxyReq", (request) => request.removeHeader("origin")),
};

export default defineConfig({
  base: "./",
  plugins: [react(), apiDescription(), packed(), firstChunk()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    license: { fileName: "licenses.md" },
    chunkSizeWarningLimit: 700, // the editor, which comes when it is needed
    cssTarget: ["chrome123", "firefox120", "safari17.5"], // the first that know light-dark()
  },
  server: { proxy: { "/api": running } },
});
