import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// For `make dev`, or `npm run dev` beside `make serve`: the API, as if of the same origin, so the host stays the page's.
const API = process.env.ZOE_URL ?? "http://127.0.0.1:5100";

const page = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const version = /^version = "(.+)"$/m.exec(readFileSync(page("../pyproject.toml"), "utf8"))?.[1];

export default defineConfig({
  define: { __CLIENT_WHEEL__: JSON.stringify(`zoe_client-${version}-py3-none-any.whl`) },
  plugins: [react()],
  // rjsf names it in a helper for tests; it would bring a validator that builds code at run time.
  resolve: { alias: { "@rjsf/validator-ajv8": page("src/pages/catalogue/validator.ts") } },
  build: {
    outDir: "../zoe_api/static",
    emptyOutDir: true,
    // The policy of the pages lets in nothing but files of their own, not even as data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: [page("index.html"), page("api-docs.html")],
      // Its list of all decompressors compiles one when it is loaded, which the policy forbids; we take others by name.
      treeshake: { moduleSideEffects: [{ test: /hyparquet-compressors/, sideEffects: false }] },
    },
  },
  server: {
    proxy: { "/api": { target: API, ws: true }, "/docs": { target: API } },
  },
});
