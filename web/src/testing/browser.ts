/** What tests without a browser lack: addresses are of the page's own server. Imported before what makes requests. */
globalThis.Request = class extends Request {
  constructor(input: RequestInfo | URL, init?: RequestInit) {
    super(typeof input === "string" ? new URL(input, "http://zoe.test") : input, init);
  }
};
