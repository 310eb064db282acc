import { describe, expect, it } from "vitest";
import { coloured, fromBase64, LogLines, plain } from "./log-lines";

const encode = (text: string) => new TextEncoder().encode(text);

describe("LogLines", () => {
  it("joins lines that come in pieces, in the middle of a letter, too", () => {
    const log = new LogLines();
    const bytes = encode("größe\nzwei");
    for (const byte of bytes) log.add(Uint8Array.of(byte));
    expect(log.lines).toEqual(["größe"]);
    expect(log.all()).toEqual(["größe", "zwei"]);
  });

  it("shows the last state of a progress bar and knows the lines of Windows", () => {
    const log = new LogLines();
    log.add(encode("1 %\r50 %\r100 %\nend\r\n"));
    expect(log.all()).toEqual(["100 %", "end"]);
  });

  it("lets the oldest go of very long output, and counts them", () => {
    const log = new LogLines();
    log.add(encode("x\n".repeat(200_010)));
    expect(log.lines.length).toBe(200_000);
    expect(log.dropped).toBe(10);
  });
});

describe("coloured", () => {
  it("keeps markup as text", () => {
    const line = "\u001b[31m<img src=x onerror=alert(1)>\u001b[0m & <b>";
    expect(coloured(line).map((piece) => piece.text)).toEqual(["<img src=x onerror=alert(1)>", " & <b>"]);
    expect(coloured(line)[0]?.style.color).toMatch(/^rgb\(/);
    expect(plain(line)).toBe("<img src=x onerror=alert(1)> & <b>");
  });
});

it("reads base64 as bytes", () => {
  expect([...fromBase64("AP8=")]).toEqual([0, 255]);
});
