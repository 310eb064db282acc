import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";
import { ofReading } from "./api/outage";
import { askAgainAfter, passes } from "./api/problem";
import { SessionProvider } from "./api/session";
import { App } from "./app";
import { sayDone } from "./components/announced";
import { applyTheme } from "./theme";
import "./styles/base.css";
import "./styles/parts.css";

applyTheme();

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: ofReading }),
  mutationCache: new MutationCache({ onSuccess: sayDone }),
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // What was refused stays refused; what did not answer may answer soon, and no event tells when.
      retry: (failures, error) => failures < 2 && passes(error),
      refetchInterval: ({ state }) => askAgainAfter(state.error),
    },
  },
});

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <SessionProvider>
        <BrowserRouter>
          <App />
        </BrowserRouter>
      </SessionProvider>
    </QueryClientProvider>
  </StrictMode>,
);
