import swaggerUi from "swagger-ui-dist/swagger-ui-bundle.js?url";
import "swagger-ui-dist/swagger-ui.css";
import "./page.css";

// This page shares no module with the others: each would become a file more of theirs, as would what bundling Swagger UI
// takes. So its script is a file as it comes, which defines a global.

interface SwaggerRequest {
  /** Whether it reads the document itself. */
  loadSpec?: boolean;
  headers: Record<string, string>;
}

declare global {
  /** What is used here of it. */
  function SwaggerUIBundle(options: {
    url: string;
    domNode: HTMLElement | null;
    deepLinking: boolean;
    docExpansion: "none";
    defaultModelsExpandDepth: number;
    requestInterceptor: (request: SwaggerRequest) => SwaggerRequest;
    showMutatedRequest: boolean;
    validatorUrl: string | null;
  }): void;
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");

function applyColours(): void {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}

/** Changes by a session need its proof, which the pages keep, and which is another one after each sign-in. */
function withProof(request: SwaggerRequest): SwaggerRequest {
  const proof = kept("zoe-csrf-token");
  if (proof && !request.loadSpec && !request.headers.Authorization) request.headers["X-CSRF-Token"] = proof;
  return request;
}

function kept(key: string): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null; // This browser keeps nothing for pages: a token does it.
  }
}

function show(): void {
  SwaggerUIBundle({
    url: "/api/v1/openapi.json",
    domNode: document.getElementById("reference"),
    deepLinking: true,
    // Each tag is a click away: all operations at once are more than the page draws.
    docExpansion: "none",
    defaultModelsExpandDepth: 0,
    requestInterceptor: withProof,
    // The commands that are shown for copying hold no proof of a session.
    showMutatedRequest: false,
    // Otherwise the document is sent to a service of others, which draws a badge.
    validatorUrl: null,
  });
}

applyColours();
dark.addEventListener("change", applyColours);
const script = document.createElement("script");
script.addEventListener("load", show);
script.src = swaggerUi;
document.head.append(script);
