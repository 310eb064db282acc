import { expect, test } from "vitest";
import { moment } from "../../format";
import { movedText } from "./moved";

const MOVED = {
  read_bytes: 5 * 1024 * 1024,
  written_bytes: 100,
  transferring_s: 2,
  waiting_s: 3,
  whole: true,
  final: true,
  at_s: 1_800_000_000,
};

test("what was moved is said in the end, with its time before, and as the least if a proxy did not tell", () => {
  expect(movedText(MOVED)).toBe("5 MiB read, 100 B written");
  expect(movedText({ ...MOVED, whole: false })).toBe("5 MiB read, 100 B written, at least");
  expect(movedText({ ...MOVED, final: false })).toBe(
    `5 MiB read, 100 B written, as of ${moment(MOVED.at_s)}`,
  );
});
