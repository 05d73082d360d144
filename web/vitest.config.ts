import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    setupFiles: ["tests/browser.ts"],
    env: { TZ: "Asia/Taipei" },
    // One process, since a thread has no time zone of its own, which loads each module once.
    pool: "forks",
    isolate: false,
    fileParallelism: false,
  },
});
