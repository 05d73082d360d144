import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { I18nProvider } from "./i18n";
import "./styles/index.css";
import { takeTokenFromAddress } from "./token";

takeTokenFromAddress();
addEventListener("hashchange", takeTokenFromAddress);

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <I18nProvider>
      <App />
    </I18nProvider>
  </StrictMode>,
);
