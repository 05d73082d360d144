/** Return the nonce that allows a style element made by the editor (`EditorView.cspNonce.of(nonce())`). */
export function readNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
}
